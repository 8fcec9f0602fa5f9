"""Backward and forward passes over a graph."""
