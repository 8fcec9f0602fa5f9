"""Fourier transforms and convolutions."""
