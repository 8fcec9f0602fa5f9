"""The source of an adjoint: a forward sweep, a reverse sweep, and the tape between them."""
