"""The sizes of the problems of a report."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes of a run.

    Attributes
    ----------
    every : int
        Of the scenarios of a chapter each so many-th is compared.
    elements : int
        Of large arrays.
    long : int
        Elements of an array of bytes; more than 2^31 need long indices.
    edges : tuple of int
        Sizes of matrices in products: around those of tiles.
    positions : int
        Of index arrays.
    rounds, streams : int
        How often work on several streams is repeated, and on how many.
    copied : int
        Bytes that a copy for comparison has, as have the operands of other kernels.
    repeats, inner : int
        How often a time is taken, and of how many calls in a row where a call is short.
    warm : int
        Calls before a time is taken.
    calls : int
        In a row, where the host's time is taken.
    ring, steps : int
        Variables of Lorenz-96, of which there are as many cotangents, and Runge-Kutta steps.
    width : int
        Of a perceptron, and its cotangents.
    options : int
        Of Black-Scholes.
    looped : int
        Cotangents that a loop of single passes takes, in whose time one pass is found.
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
"""Tiny: whether the report runs, in the simulator too."""
