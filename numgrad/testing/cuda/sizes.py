"""The sizes of the problems that a report on a GPU runs."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes of the problems in one report.

    Attributes
    ----------
    every : int
        With ``n`` every ``n``-th scenario of a chapter is compared.
    elements : int
        The elements of large arrays.
    long : int
        The elements of an array of bytes; more than 2^31 need indices of 64 bits.
    edges : tuple of int
        The sizes of matrices in products, chosen around those of tiles.
    positions : int
        The length of index arrays.
    rounds, streams : int
        How often work on several streams is repeated, and on how many streams.
    copied : int
        The bytes of a copy with which the speed of other kernels is compared, and of each of their
        operands.
    repeats, inner : int
        How often a time is measured, and over how many calls in a row if a call is short.
    warm : int
        The calls before a time is measured.
    calls : int
        The calls in a row over which the host's time is measured.
    ring, steps : int
        The variables of Lorenz-96, of which there are as many cotangents, and the Runge-Kutta
        steps.
    width : int
        The width of a perceptron, and the number of its cotangents.
    options : int
        The number of options in Black-Scholes.
    looped : int
        The number of single passes in a loop from which the time of one pass is found.
    """

    every: int
    elements: int
    long: int
    edges: tuple[int, ...]
    positions: int
    rounds: int
    streams: int
    copied: int
    repeats: int
    inner: int
    warm: int
    calls: int
    ring: int
    steps: int
    width: int
    options: int
    looped: int


FULL = Sizes(
    every=1, elements=10_000_000, long=2**31 + 5,
    edges=(0, 1, 15, 16, 17, 31, 33, 63, 65, 127, 129, 257), positions=1_000_000,
    rounds=50, streams=4, copied=10**9, repeats=15, inner=10, warm=3, calls=2000,
    ring=4096, steps=10, width=1024, options=10**8, looped=8,
)  # fmt: skip

QUICK = Sizes(
    every=1000, elements=20, long=7, edges=(0, 3), positions=4, rounds=1, streams=2, copied=96,
    repeats=1, inner=1, warm=1, calls=2, ring=4, steps=1, width=2, options=6, looped=2,
)  # fmt: skip
"""Tiny sizes, which only show whether the report can be made, in the simulator too."""
