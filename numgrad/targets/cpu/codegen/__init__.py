"""LLVM code of loops around scalar functions and core functions."""
