"""Chains: operators one after the other on vectors that stay in registers.

A chain does what a fused kernel does, without a compiler: `links` are the instructions of its
operators, `registers` says where values are, and `assembler` makes code of that, in the time in
which a program is scheduled.
"""

from collections import deque
from collections.abc import Sequence
from weakref import WeakValueDictionary

import numpy as np

from numgrad._settings import settings
from numgrad._specs import FusedSpec

from . import assembler, routines
from .links import Links
from .registers import Allocation, Place
from .words import CHAIN_HEAD

MOST_NUMBERS, MOST_SLOTS, MOST_MOVING = 256, 256, 64
"""Vectors of one number, blocks of memory of its own, and operands in memory that a chain may
have."""


class Chain:
    """A chain as the machine calls it.

    Attributes
    ----------
    address, rows_address : int
        Of the kernel that runs all chains; it has no entry for rows.
    core : tuple of int
        What that kernel gets in place of the sizes of core dimensions: the address of the words.
    over : tuple of frozenset
        For each output, the inputs that are read no more when it is written, vector by vector.
    words : ndarray of int64
        See `chain_loop`.
    """

    __slots__ = ("__weakref__", "address", "code", "core", "name", "over", "words")

    rows_address = 0

    def __init__(
        self, spec: FusedSpec, links: Links, allocation: Allocation, moving: Sequence[int]
    ) -> None:
        self.name = spec.name
        self.address = routines.address_of("chain_loop", "run")
        self.over = tuple(allocation.over[k] for k in range(len(spec.outputs)))
        given = [k for k, number in enumerate(spec.scalars) if number]
        count = len(given) + len(links.constants)
        text = assembler.assembly(allocation, links.dtype, count, moving)
        self.code = assembler.Code(text)
        itemsize = links.dtype.itemsize
        head = [
            len(spec.in_dtypes), len(moving), len(given), len(links.constants), allocation.slots,
            assembler.step_bytes(), itemsize, self.code.address,
        ]  # fmt: skip
        assert len(head) == CHAIN_HEAD
        constants = [int.from_bytes(bits, "little") for bits in links.constants]
        words = np.array([*head, *moving, *given, *constants], np.uint64)
        self.words = words.view(np.int64)
        self.core = (self.words.__array_interface__["data"][0],)


_chains: WeakValueDictionary[tuple, Chain] = WeakValueDictionary()
# The first pass of a graph keeps no plan. What it has made is there for the second.
_recent: deque[Chain] = deque(maxlen=64)


def chain(spec: FusedSpec) -> Chain | None:
    """Return the chain of a spec; None if it needs more operands or memory than chains have."""
    identity = (settings.math, spec.identity)
    made = _chains.get(identity) or _made(spec)
    if made is None:
        return None
    _recent.append(made)
    return _chains.setdefault(identity, made)


def _made(spec: FusedSpec) -> Chain | None:
    nin, nops = len(spec.in_dtypes), len(spec.in_dtypes) + len(spec.outputs)
    moving = [k for k in range(nops) if k >= nin or not spec.scalars[k]]
    links = Links(spec)
    numbers = nops - len(moving) + len(links.constants)
    if len(moving) > MOST_MOVING or numbers > MOST_NUMBERS:
        return None
    allocation = Allocation(links, homes(spec, links), assembler.registers())
    if allocation.slots > MOST_SLOTS:
        return None
    return Chain(spec, links, allocation, moving)


def homes(spec: FusedSpec, links: Links) -> dict[int, Place]:
    """Return where in memory the inputs and constants are."""
    homes: dict[int, Place] = {}
    numbers = 0
    for k, number in enumerate(spec.scalars):
        homes[k] = ("number", numbers) if number else ("operand", k)
        numbers += number
    for n, value in enumerate(links.constants.values(), numbers):
        homes[value] = ("number", n)
    return homes
