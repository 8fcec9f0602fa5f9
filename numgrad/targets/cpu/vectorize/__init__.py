"""Elementwise kernels written for whole vectors, as text of LLVM code."""
