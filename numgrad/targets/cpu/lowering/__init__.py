"""How the CPU runs a program: its segments, places for its buffers, tiles of rows, its code."""
