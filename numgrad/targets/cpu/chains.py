"""Chains: operators one after the other on a block of vectors that stays in registers.

A chain does what a fused kernel does, but nothing is compiled for it: its operators have forms (see
`vectors`), and here it becomes a list of their addresses. The block in registers is the result of
the last form. What is needed by others than the next form is stored: in an output, or in a block of
the chain's own, which is used again when nobody needs it any more.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from numgrad._specs import FusedSpec

from . import vectors
from .words import CHAIN_HEAD, CHAIN_OWN


class Chain:
    """A chain as the machine calls it.

    Attributes
    ----------
    address, rows_address : int
        Of the kernel that runs all chains; it has no entry for rows.
    core : tuple of int
        What that kernel gets in place of the sizes of core dimensions: the address of the words.
    over : tuple of frozenset
        For each output, the inputs that are read no more when it is written, block by block.
    words : ndarray of int64
        See `chain_loop`.
    """

    __slots__ = ("address", "core", "name", "over", "words")

    rows_address = 0

    def __init__(self, spec: FusedSpec) -> None:
        frame = vectors.frame(spec.out_dtypes[0])
        self.name = spec.name
        self.address = frame.run
        assembly = _Assembly(spec, frame)
        self.over = tuple(assembly.over[value] for value in spec.outputs)
        self.words = np.array(assembly.words(), np.int64)
        self.core = (self.words.__array_interface__["data"][0],)


def chain(spec: FusedSpec) -> Chain | None:
    """Return the chain of a spec; None if it needs more operands or memory than chains have."""
    nops = len(spec.in_dtypes) + len(spec.outputs)
    moving = nops - sum(spec.scalars)
    if nops > vectors.MOST_OPERANDS or moving > vectors.MOST_MOVING:
        return None
    made = Chain(spec)
    return made if made.words[CHAIN_OWN] <= vectors.MOST_OWN else None


class _Assembly:
    """The forms of a chain in order.

    A place is where a value is in the table, in bytes; 0 where it is in registers alone.
    """

    def __init__(self, spec: FusedSpec, frame: vectors.Frame) -> None:
        self.spec, self.frame = spec, frame
        nin, nout = len(spec.in_dtypes), len(spec.outputs)
        self.places = [8 * (1 + k) for k in range(nin)] + [0] * len(spec.steps)
        self.letters = ["n" if number else "m" for number in spec.scalars]
        self.letters += "m" * len(spec.steps)
        self.outputs = {value: 8 * (1 + nin + k) for k, value in enumerate(spec.outputs)}
        self.first_own = 8 * (1 + nin + nout)
        self.own = 0
        self.free: list[int] = []
        self.left = _readers(spec)
        self.code: list[int] = []
        self.over: dict[int, frozenset[int]] = {}
        held, order = -1, [*_order(spec), -1]
        for value, following in pairwise(order):
            step, args = spec.steps[value - nin]
            self._append(vectors.forms(step), args, held)
            self._release(args)
            self._store(value, following)
            held = value
        self.code.append(frame.forms["done"])

    def _append(self, forms: vectors.Addresses, args: Sequence[int], held: int) -> None:
        """Append a step; the registers hold the value ``held``."""
        letters = ""
        operands = []
        for arg in args:
            if arg == held and "r" not in letters:
                letters += "r"
            else:
                letters += self.letters[arg]
                operands.append(self.places[arg])
        if letters not in forms:
            self.code += (self.frame.forms[letters[0]], operands.pop(0))
            letters = "r" + letters[1:]
        self.code.append(forms[letters])
        self.code += operands

    def _release(self, args: Sequence[int]) -> None:
        """Note that a step has read its operands, and which blocks nobody needs any more."""
        for arg in args:
            self.left[arg] -= 1
            if not self.left[arg] and self.places[arg] >= self.first_own:
                self.free.append(self.places[arg])

    def _store(self, value: int, following: int) -> None:
        """Store the value in registers unless the following step alone reads it, and once."""
        place = self.outputs.get(value, 0)
        nin = len(self.spec.in_dtypes)
        if place:
            self.over[value] = frozenset(k for k in range(nin) if not self.left[k])
        else:
            if self.left[value] == 1 and value in self.spec.steps[following - nin][1]:
                return
            if self.free:
                place = self.free.pop()
            else:
                place = self.first_own + 8 * self.own
                self.own += 1
        self.places[value] = place
        self.code += (self.frame.forms["store"], place)

    def words(self) -> list[int]:
        """Return the words of the chain."""
        nin, nops = len(self.spec.in_dtypes), self.first_own // 8 - 1
        itemsize = self.spec.out_dtypes[0].itemsize
        moving = [k for k in range(nops) if self.letters[k] == "m" or k >= nin]
        head = [nin, nops, len(moving), self.own, self.frame.nbytes, itemsize]
        assert len(head) == CHAIN_HEAD
        return [*head, *moving, *self.code]


def _order(spec: FusedSpec) -> list[int]:
    """Return the values that steps compute in an order in which many a step is followed by one that
    reads its result.

    Steps whose result one other step reads form paths with it. A path is computed when its last
    value is needed, or when its first step can read what has just been computed.
    """
    nin = len(spec.in_dtypes)
    paths, path_of = _paths(spec)
    needed = [
        {path_of[arg] for v in path for arg in spec.steps[v - nin][1] if arg >= nin} - {n}
        for n, path in enumerate(paths)
    ]
    begins: dict[int, list[int]] = {}
    for n, path in enumerate(paths):
        for arg in spec.steps[path[0] - nin][1]:
            begins.setdefault(arg, []).append(n)
    order: list[int] = []
    done: set[int] = set()
    stack = [path_of[output] for output in reversed(spec.outputs)]
    while stack:
        path = stack[-1]
        if path in done:
            stack.pop()
            continue
        missing = needed[path] - done
        if missing:
            stack += sorted(missing, reverse=True)
            continue
        stack.pop()
        done.add(path)
        order += paths[path]
        ready = [n for n in begins.get(order[-1], ()) if n not in done and needed[n] <= done]
        stack += ready[:1]
    return order


def _readers(spec: FusedSpec) -> Counter[int]:
    """Return how often each value is read by steps that the outputs are made of."""
    nin = len(spec.in_dtypes)
    readers = Counter(spec.outputs)
    for value, (_, args) in reversed([*enumerate(spec.steps, nin)]):
        if readers[value]:
            readers.update(args)
    readers.subtract(spec.outputs)
    return readers


def _paths(spec: FusedSpec) -> tuple[list[list[int]], dict[int, int]]:
    """Return the paths, and which one each value belongs to; none has what nobody needs."""
    nin = len(spec.in_dtypes)
    readers = _readers(spec)
    paths: list[list[int]] = []
    path_of: dict[int, int] = {}
    for value, (_, args) in enumerate(spec.steps, nin):
        if not readers[value] and value not in spec.outputs:
            continue
        alone = [arg for arg in args if arg >= nin and readers[arg] == 1]
        if alone:
            path_of[value] = path = path_of[max(alone)]
            paths[path].append(value)
        else:
            path_of[value] = len(paths)
            paths.append([value])
    return paths, path_of
