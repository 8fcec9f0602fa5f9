"""Roots, minima and least squares."""
