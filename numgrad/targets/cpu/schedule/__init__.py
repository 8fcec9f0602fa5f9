"""Scheduling and encoding: a program is cut into segments, placed in memory, and made code."""
