"""Solutions as functions of parameters, by the implicit function theorem."""
