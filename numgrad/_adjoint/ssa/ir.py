"""Structured SSA: values that are assigned once, in regions that are nested as loops and ifs are.

Numbers are values; arrays are memory that loads and stores name by an array value. A loop carries
values: each has a parameter in the body (its *phi*), an initial value, a value that an iteration
yields, and a result.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .conventions import CONVENTIONS


class Type(NamedTuple):
    """The type of a value: the name of a dtype, the number of axes (None for a number), and
    whether it is an array that stands for a list."""

    dtype: str
    ndim: int | None = None
    is_list: bool = False

    @property
    def is_array(self) -> bool:
        return self.ndim is not None

    @property
    def is_real(self) -> bool:
        """Whether numbers of this type may have derivatives: floats and complex numbers."""
        return np.dtype(self.dtype).kind in "fc"

    @property
    def is_complex(self) -> bool:
        return np.dtype(self.dtype).kind == "c"


INTEGER = Type("int64")
BOOLEAN = Type("bool")
FLOAT = Type("float64")


class Value:
    """A value: the result of an operation, or a parameter of a region.

    Attributes
    ----------
    type : Type
    hint : str
        The user's name for it, or an empty string.
    op : Op or None
        What computes it; None for parameters of regions.
    region : Region
        Where it is defined.
    constant : int, float, bool, complex or None
        The number that it is known to be.
    """

    __slots__ = ("constant", "hint", "op", "region", "type")

    def __init__(
        self,
        type: Type,  # noqa: A002
        region: "Region",
        op: "Op | None" = None,
        hint: str = "",
    ) -> None:
        self.type, self.region, self.op, self.hint = type, region, op, hint
        self.constant: Any = None

    @property
    def is_phi(self) -> bool:
        owner = self.region.owner
        return self.op is None and owner is not None and self in self.region.phis


class Op:
    """An operation: its name, arguments, results, nested regions, and further information.

    Attributes
    ----------
    name : str
        A scalar operation, or one of ``load``, ``store``, ``accum``, ``shape``, ``alloc``,
        ``view``, ``if``, ``loop``, ``given``, ``check``, ``raise``. What a function of NumPy makes
        is ``given``; it has no derivative in the program.
    info : dict
        What is not a value, such as the axis of ``shape``.
    line : int
        The line of the file.
    """

    def __init__(
        self, name: str, args: list[Value], region: "Region", line: int = 0, **info: Any
    ) -> None:
        self.name, self.args, self.region, self.line = name, list(args), region, line
        self.info = info
        self.results: list[Value] = []
        self.regions: list[Region] = []

    @property
    def result(self) -> Value:
        return self.results[0]

    # The arguments of a load, a store or an accumulation.
    @property
    def array(self) -> Value:
        return self.args[0]

    @property
    def index(self) -> list[Value]:
        return self.args[1:] if self.name == "load" else self.args[1:-1]

    @property
    def stored(self) -> Value:
        return self.args[-1]

    @property
    def computed_from(self) -> list[Value]:
        """What the results are computed from: the slope of a number has no part in its value."""
        return self.args[:1] if self.name == "slope" else self.args

    # The parts of a loop.
    @property
    def is_for(self) -> bool:
        return self.info.get("kind") == "for"

    @property
    def bounds(self) -> list[Value]:
        """The start, the end and the step of a ``for``."""
        return self.args[:3] if self.is_for else []

    @property
    def inits(self) -> list[Value]:
        return self.args[3:] if self.is_for else self.args

    @property
    def body(self) -> "Region":
        return self.regions[0]


class Region:
    """Operations in order, with parameters and yields.

    Attributes
    ----------
    index : Value or None
        The variable of a ``for`` loop.
    phis : list of Value
        The values that a loop carries.
    yields : list of Value
    go_on : Value or None
        Whether a loop goes on after an iteration (None: as its range says).
    """

    def __init__(self, owner: Op | None) -> None:
        self.owner = owner
        self.ops: list[Op] = []
        self.index: Value | None = None
        self.phis: list[Value] = []
        self.yields: list[Value] = []
        self.go_on: Value | None = None

    @property
    def parent(self) -> "Region | None":
        return self.owner.region if self.owner else None

    @property
    def is_loop(self) -> bool:
        return self.owner is not None and self.owner.name == "loop"

    def ancestors(self) -> "Iterator[Region]":
        """Yield this region, the region around it, and so on."""
        region: Region | None = self
        while region is not None:
            yield region
            region = region.parent

    def is_within(self, other: "Region") -> bool:
        return any(region is other for region in self.ancestors())

    def walk(self) -> Iterator[Op]:
        """Yield all operations, each before the operations of its regions."""
        for op in self.ops:
            yield op
            for region in op.regions:
                yield from region.walk()

    def ends(self) -> list[Value]:
        """Return the values that the region gives to its owner."""
        return self.yields + ([self.go_on] if self.go_on is not None else [])


class Program:
    """A kernel for arguments of certain types, as structured SSA.

    Attributes
    ----------
    name, file : str
    body : Region
    parameters : list of Value
    results : list
        The values that are returned.
    written : list of int
        The positions of the parameters whose elements may be written.
    structure : str
        ``"none"``, ``"one"`` or ``"tuple"``.
    lines : dict
        The text of the user's lines, by number.
    namespace : dict
        What names in the generated source stand for.
    classes : Classes
        Which arrays may share memory.
    """

    def __init__(self, name: str, file: str = "") -> None:
        self.name, self.file = name, file
        self.body = Region(None)
        self.parameters: list[Value] = []
        self.results: list[Value] = []
        self.written: list[int] = []
        self.structure = "none"
        self.lines: dict[int, str] = {}
        self.namespace: dict[str, Any] = dict(CONVENTIONS)
        self.global_arrays: dict[Value, str] = {}
        self.carried: dict[Any, dict[Any, Any]] = {}  # what is known of loops while they are read
        self.read_later: set[Any] = set()  # arrays that loops make and that are read after them
        self.by_value: list[tuple[set[int], Value, str]] = []  # arrays that must not be written
        self.copied: dict[int, tuple[Value, set[int]]] = {}  # the arrays that buffers stand for
        self.requires: list[tuple[int, int, int]] = []  # parameters, axes, least lengths
        self.room: Value | None = None  # the length of all arrays of lists that grow
        self.of_arrays: dict[Value, Type] = {}  # the types of the arrays that lists hold
        self.storages: set[Value] = set()  # vectors for arrays whose lengths change
        self.untyped: set[Value] = set()  # arrays of lists to which nothing is appended so far
        self.site: Any = None  # the loops around what is read
        self.calls = 0
        self.is_parallel = False  # whether iterations of prange run in parallel
        self.is_exact = True  # recomputing gives the same bits


def depth(region: Region) -> int:
    """Return the number of loops around the operations of a region."""
    return sum(r.is_loop for r in region.ancestors())


def free_values(op: Op) -> list[Value]:
    """Return the values that an operation and its regions use but do not define, in order."""
    found: dict[Value, None] = dict.fromkeys(op.args)
    for region in op.regions:
        inner = [v for o in region.ops for v in free_values(o)] + region.ends()
        for value in inner:
            if not value.region.is_within(region):
                found[value] = None
    return list(found)


class Classes:
    """Classes of arrays that may share memory; one array value stands for all arrays of a class."""

    def __init__(self, body: Region) -> None:
        self._parent: dict[Value, Value] = {}
        for op in body.walk():
            if op.name == "view":
                self._unite(op.result, op.args[0])
            elif op.name == "loop":
                phis = zip(op.body.phis, op.inits, op.body.yields, op.results, strict=True)
                for phi, *others in phis:
                    for other in others if phi.type.is_array else ():
                        self._unite(phi, other)

    def of(self, array: Value) -> Value:
        """Return the array that stands for the class of an array."""
        while array in self._parent:
            array = self._parent[array]
        return array

    def _unite(self, one: Value, other: Value) -> None:
        first, second = self.of(one), self.of(other)
        if first is not second:
            self._parent[first] = second
