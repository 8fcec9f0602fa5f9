"""Kernels: what an operator computes, compiled for given dtypes."""
