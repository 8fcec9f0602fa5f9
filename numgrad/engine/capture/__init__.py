"""Capturing: a function is run once, and all that it does is kept as expressions."""
