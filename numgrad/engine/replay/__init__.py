"""Passes that are met again: the structure of a graph, and the plan that an earlier pass left."""
