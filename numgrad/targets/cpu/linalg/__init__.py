"""Kernels of products of matrices and factorizations: by BLAS and LAPACK, or written in LLVM."""
