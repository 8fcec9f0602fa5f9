"""Loops on devices: where the values of a loop are, arrays there, and loops inside of kernels."""
