"""Reductions by halves in kernels: pairwise sums and extrema, see `numgrad._declare.halving`."""
