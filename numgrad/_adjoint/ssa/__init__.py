"""Structured SSA: values, operations and regions, and the table of scalar functions."""
