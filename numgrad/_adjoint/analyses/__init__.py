"""Analyses of a kernel: repeated operations, values with derivatives, overwritten arrays, and what
the tape keeps."""
