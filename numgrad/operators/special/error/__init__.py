"""The error function, the normal distribution, and other integrals."""
