"""Reductions along axes, and cumulative ones."""
