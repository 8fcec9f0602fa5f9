"""Initial value problems and integrals."""
