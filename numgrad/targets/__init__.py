"""Where kernels run: one package for each sort of device, and what they share."""
