"""Calls whose results may not depend on what the process has done before.

numgrad keeps what it has learned: plans of operations and of passes, programs of captured
functions, rules by kind. Each is found again by a key, and a key that leaves something out gives
the result of another call. Such a fault needs no rare call but two calls in one process that differ
in little. So few programs are called many times, each call a small variation of an earlier one, and
the judge is a process that has called nothing yet.
"""
