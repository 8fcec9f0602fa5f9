"""Elementwise operators: a scalar function for the value, one for each partial derivative."""
