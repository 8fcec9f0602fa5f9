"""Special functions under the names of `scipy.special`."""
