"""Lowering of programs to steps on a device: launches with their kernels and arguments."""
