"""The report of a GPU: ``python -m numgrad.testing.cuda`` says whether numgrad is right and how fast
it is on the machine at hand."""
