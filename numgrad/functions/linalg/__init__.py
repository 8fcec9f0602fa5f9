"""Linear algebra under the names of `numpy.linalg` and `scipy.linalg`."""
