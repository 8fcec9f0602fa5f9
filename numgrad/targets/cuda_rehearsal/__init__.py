"""A stand-in for a GPU that is not there: kernels are compiled and kept; the processor computes.
"""
