"""Benchmarks for asv; each file is about one promise."""
