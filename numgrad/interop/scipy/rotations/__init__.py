"""Rotations in three dimensions, as `scipy.spatial.transform` has them, with derivatives."""
