"""Loops on devices: where the values of a loop are, and arrays there."""
