"""Lowering: expressions become programs, which targets make executable."""
