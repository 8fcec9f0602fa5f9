"""The report of a GPU: ``python -m numgrad.testing.cuda`` says whether numgrad is right on the
machine at hand, and how fast it is there."""
