"""Containers of arrays: which classes are containers, and how their leaves are found."""
