"""Steps of a program on a device: launches, streams, and calls of functions on the host."""
