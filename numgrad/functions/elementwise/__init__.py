"""Universal functions of NumPy, and what they take beside their operands."""
