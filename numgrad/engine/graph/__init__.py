"""The recorded graph: values, nodes, kinds of nodes, and what they refer to."""
