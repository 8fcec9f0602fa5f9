"""Jacobians and Hessians of functions, some rows or columns at a time."""
