"""Steps of a program on a device: launches, streams, and what the host does in between."""
