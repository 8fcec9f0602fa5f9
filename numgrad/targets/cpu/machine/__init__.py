"""The machine: compiled loops that run an encoded program, on one thread or on many."""
