"""Operators that move elements: views, indexing, joining, sorting."""
