"""Python's and NumPy's objects as compiled code reads and makes them."""
