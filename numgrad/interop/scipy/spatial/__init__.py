"""Distances between points, and values between the elements of an image."""
