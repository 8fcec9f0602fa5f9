"""Products of matrices and factorizations: BLAS, LAPACK, and products by code of our own."""
