"""Solutions as functions of parameters: the implicit function theorem, and what it reads."""
