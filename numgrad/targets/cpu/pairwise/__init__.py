"""Pairwise summation in kernels: sums and extrema by halves, see `numgrad._declare.halving`."""
