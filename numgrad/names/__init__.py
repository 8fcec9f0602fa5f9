"""Names that NumPy and other libraries have for what numgrad offers."""
