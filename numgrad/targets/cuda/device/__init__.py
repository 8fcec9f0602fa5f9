"""A GPU and its memory, by way of `cuda.core`."""
