"""Memory of a simulated or hosted device, as libraries that are pretended see it."""

import ctypes

import numpy as np


def numbers(address, dtype, *shape):
    """Return the elements at an address, by columns."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    bytes_ = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return np.frombuffer(bytes_, dtype).reshape(shape, order="F")


def resolved(pointers, stream):
    """Return the addresses of pointers, and the number of a stream."""
    blocks = [(getattr(block, "address", None), block, offset) for block, offset in pointers]
    addresses = [
        offset + (block.data.ctypes.data if address is None else address)
        for address, block, offset in blocks
    ]
    return addresses, 7
