"""Structured SSA is built: scalar operations, memory, loops over arrays, products and systems."""
