"""Fourier transforms, convolutions, interpolation, differences and polynomials."""
