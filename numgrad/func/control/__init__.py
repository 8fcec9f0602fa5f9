"""Control flow in captured functions."""
