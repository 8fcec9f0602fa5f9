"""Changing the shape, joining, splitting, padding, selecting."""
