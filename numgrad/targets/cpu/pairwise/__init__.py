"""Pairwise summation in kernels: sums and extrema by halves, see `numgrad.ir.pairwise`."""
