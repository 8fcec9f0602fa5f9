"""Derivatives of one node: rules, tangents, and what a rule may read."""
