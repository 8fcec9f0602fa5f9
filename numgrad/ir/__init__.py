"""What the engine and the targets share: programs, the functions of kernels, and what a target
offers.
"""
