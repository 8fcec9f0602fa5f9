"""The front end: from the source of a kernel to structured SSA."""
