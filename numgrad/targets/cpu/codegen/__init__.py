"""LLVM code of kernels: loops around scalar functions and core functions."""
