"""numgrad beside other systems and beside adjoints written by hand.

``python -m asv_benchmarks.peers`` from the root of the repository.
"""
