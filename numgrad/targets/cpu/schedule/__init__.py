"""From a program to what the machine runs: segments, buffers, tiles, code."""
