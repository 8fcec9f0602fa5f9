"""Names of NumPy and other libraries for functions of numgrad."""
