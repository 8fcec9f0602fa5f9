"""Folding: the long graph of a loop of Python becomes one loop operator."""

from .fold import folded

__all__ = ["folded"]
