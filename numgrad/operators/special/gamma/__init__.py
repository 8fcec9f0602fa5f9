"""Gamma and beta functions, and their incomplete integrals."""
