"""What makes a tensor an array of NumPy: operators, methods, protocols."""
