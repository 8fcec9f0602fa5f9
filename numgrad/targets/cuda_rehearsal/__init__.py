"""A stand-in for a GPU that is not there: its kernels are compiled and kept, and never launched."""
