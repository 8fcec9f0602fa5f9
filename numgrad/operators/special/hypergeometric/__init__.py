"""Hypergeometric functions, orthogonal polynomials, and Lambert's function."""
