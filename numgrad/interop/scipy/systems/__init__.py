"""Sparse systems and eigenvalue problems."""
