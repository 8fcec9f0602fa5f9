"""Short ordinary programs, each in the several ways that people write it, beside other libraries.

The workloads of `asv_benchmarks.peers` are few and known by heart. These are many, and what counts
is the distribution of the ratios and its worst end: ``python -m asv_benchmarks.corpus``.
"""
