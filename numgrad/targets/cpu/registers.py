"""Registers of a chain: where each value is, so that few are stored and loaded again.

A chain has no branches, so it is known of each value when it is read next. Where a register is
needed, the value gives way that is needed last (Belady); it is stored if it has no place in memory
yet, at most once. Instructions take one operand from memory where it is not worth a register.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .links import Link, Links

_COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor"})
_NEVER = 1 << 60

Place = tuple[str, int]
"""Where a value is: in a ``"register"``, or, in memory, an ``"operand"``, a ``"number"`` or a
``"slot"``; and the number of that."""


class Do(NamedTuple):
    """One step of the code.

    Attributes
    ----------
    name : str
        ``"load"`` and ``"store"``, ``"call"``, or the name of an instruction.
    target : Place
        Where the result goes.
    sources : tuple of Place
        Of an instruction, all but the last are registers.
    address : int
        Of the function that is called.
    """

    name: str
    target: Place
    sources: tuple[Place, ...]
    address: int = 0


class Allocation:
    """The code of a chain.

    Attributes
    ----------
    code : list of Do
    slots : int
        Blocks of memory of its own.
    over : dict
        For each output, the inputs that are read no more when it is written.
    """

    def __init__(self, links: Links, homes: dict[int, Place], registers: int) -> None:
        self.links, self._home = links, dict(homes)
        self.code: list[Do] = []
        self.slots = 0
        self.over: dict[int, frozenset[int]] = {}
        self._free = [*range(registers)]
        self._free_slots: list[int] = []
        self._register: dict[int, int] = {}
        self._uses = _uses(links)
        for value, link in links.made.items():
            if link.name == "call":
                self._call(value, link)
            else:
                self._operate(value, link)
            self._write(value)
        for value in dict.fromkeys(v for v in links.outputs if v not in links.made):
            self._load(value, ())
            self._uses[value].pop()
            self._write(value)

    def _operate(self, value: int, link: Link) -> None:
        *others, last = link.args
        if link.name in _COMMUTATIVE and self._is_better(last, others[0]):
            others, last = [last], others[0]
        for other in others:
            if other not in self._register:
                self._load(other, link.args)
        sources: list[Place] = [("register", self._register[other]) for other in others]
        sources.append(self._source(last, others))
        self._read(link.args)
        self.code.append(Do(link.name, ("register", self._take(value)), tuple(sources)))
        self._forget(link.args)

    def _call(self, value: int, link: Link) -> None:
        """Call a function, which may change all registers."""
        for other in self._register:
            self._keep(other)
        sources = tuple(self._home[arg] for arg in link.args)
        self._read(link.args)
        self._free += self._register.values()
        self._register.clear()
        self._forget(link.args)
        target = self._home[value] = self._slot()
        self.code.append(Do("call", target, sources, link.address))

    def _write(self, value: int) -> None:
        """Store a value in the outputs that it is; one that nobody reads is forgotten."""
        outputs = [k for k, output in enumerate(self.links.outputs) if output == value]
        if outputs and value not in self._register:
            self._load(value, ())
        for k in outputs:
            source = ("register", self._register[value])
            self.code.append(Do("store", ("operand", self.links.nin + k), (source,)))
            self.over[k] = frozenset(n for n in range(self.links.nin) if not self._uses.get(n))
        self._drop(value)
        self._forget([value])

    def _is_better(self, value: int, other: int) -> bool:
        """Whether a value is in a register and another is not, or needed sooner after this."""
        places = [v in self._register for v in (value, other)]
        return places[0] > places[1] or (
            places == [False, False] and self._next(value, 1) < self._next(other, 1)
        )

    def _source(self, value: int, others: Sequence[int]) -> Place:
        """Return where an instruction reads a value: in memory, unless a register is worth it."""
        if value not in self._register:
            again = self._next(value, 1)
            if again == _NEVER or not (self._free or again < self._next(self._last(others))):
                return self._home[value]
            self._load(value, others)
        return "register", self._register[value]

    def _load(self, value: int, others: Sequence[int]) -> None:
        home = self._home[value]
        self.code.append(Do("load", ("register", self._take(value, others)), (home,)))

    def _take(self, value: int, others: Iterable[int] = ()) -> int:
        """Give a register to a value, but none of those that others are in."""
        if not self._free:
            last = self._last(others)
            self._keep(last)
            self._free.append(self._register.pop(last))
        self._register[value] = register = self._free.pop()
        return register

    def _last(self, others: Iterable[int]) -> int:
        """Return the value in a register that is needed last."""
        return max((v for v in self._register if v not in others), key=self._next)

    def _keep(self, value: int) -> None:
        """Store a value that is only in a register."""
        if value not in self._home:
            home = self._home[value] = self._slot()
            self.code.append(Do("store", home, (("register", self._register[value]),)))

    def _slot(self) -> Place:
        if self._free_slots:
            return "slot", self._free_slots.pop()
        self.slots += 1
        return "slot", self.slots - 1

    def _next(self, value: int, later: int = 0) -> int:
        """Return when a value is read next, or ``later`` times after that."""
        uses = self._uses[value]
        return uses[-1 - later] if len(uses) > later else _NEVER

    def _read(self, values: Iterable[int]) -> None:
        """Note that values have been read; registers of those that nobody reads again are free."""
        for value in values:
            self._uses[value].pop()
        for value in set(values):
            self._drop(value)

    def _drop(self, value: int) -> None:
        if not self._uses[value] and value in self._register:
            self._free.append(self._register.pop(value))

    def _forget(self, values: Iterable[int]) -> None:
        """Free the slots of values that nobody reads again."""
        for value in set(values):
            kind, number = self._home.get(value, ("", 0))
            if kind == "slot" and not self._uses[value]:
                self._free_slots.append(number)
                del self._home[value]


def _uses(links: Links) -> dict[int, list[int]]:
    """Return when each value is read, the first time last."""
    uses: dict[int, list[int]] = {value: [] for value in (*links.made, *links.outputs)}
    for when, link in enumerate(links.made.values()):
        for arg in link.args:
            uses.setdefault(arg, []).append(when)
    for value in dict.fromkeys(v for v in links.outputs if v not in links.made):
        uses[value].append(len(links.made))
    for list_ in uses.values():
        list_.reverse()
    return uses
