"""Where kernels run: one package per kind of device, each with the same file stems."""
