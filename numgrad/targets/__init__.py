"""Targets, which compile kernels and run programs: a package for each sort of device."""
