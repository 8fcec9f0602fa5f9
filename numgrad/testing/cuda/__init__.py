"""A report on the GPU of this machine: whether numgrad is right there, and how fast.

``python -m numgrad.testing.cuda`` makes the report.
"""
