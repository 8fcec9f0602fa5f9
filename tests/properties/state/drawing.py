"""Calls in an order in which a key that leaves something out is found."""

from collections.abc import Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

from .answers import Case

Axes = Mapping[str, Sequence[Any]]
"""What can be chosen, by name; the first choice is the usual one, and one listed twice is drawn
twice as often."""


def session(rng: Random, name: str, axes: Axes, only: Sequence[str] = ()) -> list[Case]:
    """Return calls of one program that differ on one to three axes, or on those in ``only`` if
    it has any; axes with many choices are drawn more often.

    Calls are repeated, as what is learned is used from the second or third call on; at times often
    enough for the ways that are taken after a hundred.
    """
    usual = {axis: choices[0] for axis, choices in axes.items()}
    if rng.random() < 0.6:
        for axis in rng.sample(sorted(axes), rng.choice([1, 1, 2, 3])):
            usual[axis] = rng.choice(axes[axis])
    weights = list(map(len, axes.values()))
    drawn = [axis for axis in only if axis in axes]
    drawn = drawn or rng.choices(list(axes), weights, k=rng.randint(1, 3))
    varied = {axis: _some(rng, axes[axis]) for axis in dict.fromkeys(drawn)}
    choices = [dict(zip(varied, values, strict=True)) for values in product(*varied.values())]
    few = rng.sample(choices, min(len(choices), 12))
    return _repeated(rng, [(name, tuple({**usual, **chosen}.items())) for chosen in few])


def _some(rng: Random, choices: Sequence[Any]) -> list[Any]:
    different = list({repr(choice): choice for choice in choices}.values())
    return rng.sample(different, min(len(different), rng.choice([2, 3, 5])))


def _repeated(rng: Random, cases: list[Case]) -> list[Case]:
    calls: list[Case] = []
    for _ in range(rng.choice([2, 3])):
        rng.shuffle(cases)
        for case in cases:
            calls += [case] * rng.choice([1, 2, 3, 4, 5])
    if len(cases) <= 4 and rng.random() < 0.2:
        often = cases * 120
        rng.shuffle(often)
        calls += often + cases * 4
    return calls
