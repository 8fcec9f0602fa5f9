"""Small local arrays as numbers: which arrays of a kernel can be replaced by numbers, one for each
element.

An array can be replaced if all its indices are known, perhaps after loops of a few steps are
written step by step, and if the only operations on it are loads and stores. The length of a slice
such as ``x[0:3]`` of an argument is taken to be 3: the program checks this, and has it among its
requirements.

"""

import math
from collections.abc import Sequence
from typing import Any

from ..builder.promotion import folded
from ..ssa.copying import Constants, Copier
from ..ssa.ir import INTEGER, Op, Program, Region, Value, depth
from ..ssa.partials import SCALARS
from .elements import Elements, place_of
from .simplify import remove_dead

_MOST = 16  # elements: a matrix of four by four, and as many registers as a processor has
_GROWTH = 400  # operations that the steps of loops are written out to
_ROUNDS = 3  # arrays of integers that are indices of others
Lengths = dict[Value, tuple[Value, int, int]]  # of slices: an argument, an axis, a length
_DTYPES = ("float64", "float32", "int64", "int32", "bool")


def numbers_for_arrays(program: Program) -> None:
    """Replace the small arrays of a program by numbers."""
    for _ in range(_ROUNDS):
        remove_dead(program)
        if not _settle(program):
            return


def _settle(program: Program) -> bool:
    """Replace small arrays by numbers; return whether there were any."""
    found = Candidates(program)
    if not found.arrays:
        return False
    lengths = {value: length for value, (_, _, length) in found.assumed.items()}
    Copier(program, folded, found.loops, lengths).run()
    _require(program, found)
    settled = [array for array in Candidates(program).arrays if _is_settled(program, array)]
    Elements(program, settled).run()
    return bool(settled)


def _require(program: Program, found: "Candidates") -> None:
    """Have the program check that arguments are as long as slices say."""
    least: dict[tuple[Value, int], int] = {}
    for array, axis, length in found.assumed.values():
        least[array, axis] = max(length, least.get((array, axis), 0))
    ops, program.body.ops = program.body.ops, []
    constants = Constants(program)
    for (array, axis), length in least.items():
        program.requires.append((program.parameters.index(array), axis, length))
        bound = constants.of(length)
        there = _appended(program.body, "shape", [array], axis=axis)
        smaller = _appended(program.body, "min", [there, bound], spelled="min")
        message = f"axis {axis} of {array.hint} is shorter than {length}"
        program.body.ops.append(Op("check", [smaller, bound], program.body, message=message))
    program.body.ops += ops


def _appended(region: Region, name: str, args: list[Value], **info: Any) -> Value:
    made = Op(name, args, region, **info)
    made.results.append(Value(INTEGER, region, made, "n"))
    region.ops.append(made)
    return made.result


def _is_settled(program: Program, array: Value) -> bool:
    """Whether all indices of an array are known and within its bounds."""
    extents = [extent.constant for extent in array.op.info["extents"]]  # type: ignore[union-attr]
    if not all(isinstance(extent, int) for extent in extents):
        return False
    uses = [op for op in program.body.walk() if op.name in ("load", "store", "accum")]
    return all(place_of(op) is not None for op in uses if op.array is array)


class Candidates:
    """The arrays that may be replaced by numbers.

    Parameters
    ----------
    program : Program

    Attributes
    ----------
    arrays : list of Value
    loops : set of Op
        Those that have to be written step by step for it.
    assumed : dict
        Lengths of slices that are known if an axis of an argument is long enough: the argument,
        the axis and the length.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._uses: dict[Value, list[Op]] = {}
        self._kept = {value for value in program.results if value.type.is_array}
        for op in program.body.walk():
            self._note(op)
        self.arrays: list[Value] = []
        self.loops: set[Op] = set()
        self.assumed: Lengths = {}
        for array in sorted(self._uses, key=lambda array: -depth(array.region)):
            self._consider(array)

    def _note(self, op: Op) -> None:
        if op.name in ("alloc", "copy"):
            self._uses.setdefault(op.result, [])
        for arg in op.args:
            if arg.type.is_array and op.name in ("load", "store", "accum", "copy"):
                self._uses.setdefault(arg, []).append(op)
            elif arg.type.is_array:
                self._kept.add(arg)
        for region in op.regions:
            self._kept.update(value for value in region.ends() if value.type.is_array)

    def _consider(self, array: Value) -> None:
        """Take an array if it may be replaced by numbers."""
        if not self._is_local(array):
            return
        assumed, loops = dict(self.assumed), set(self.loops)
        assert array.op is not None
        lengths = [self._number(extent, assumed) for extent in array.op.info["extents"]]
        if None in lengths or math.prod(n for n in lengths if n is not None) > _MOST:
            return
        indices = [i for op in self._uses[array] if op.name != "copy" for i in op.index]
        if not all(self._is_static(index, loops, assumed) for index in indices):
            return
        if self._growth(self.program.body.ops, loops, assumed) <= _GROWTH:
            self.arrays.append(array)
            self.assumed, self.loops = assumed, loops

    def _is_local(self, array: Value) -> bool:
        """Whether the only operations on an array are loads, stores and copies, of numbers that fit
        its dtype."""
        op = array.op
        if op is None or op.name not in ("alloc", "copy") or array in self._kept:
            return False
        if array.type.dtype not in _DTYPES or not array.type.ndim:
            return False
        return all(self._is_plain(use, array) for use in self._uses[array])

    def _is_plain(self, op: Op, array: Value) -> bool:
        if not op.region.is_within(array.region):
            return False
        around = [r.owner for r in op.region.ancestors() if r.is_within(array.region) and r.owner]
        inner = [owner for owner in around if owner is not array.region.owner]
        if any(owner.info.get("is_parallel") for owner in inner):
            return False
        return op.name not in ("store", "accum") or _fits(op.stored, array.type.dtype, op.name)

    def _growth(self, ops: Sequence[Op], loops: set[Op], known: Lengths, factor: int = 0) -> int:
        """Return the number of operations when the given loops are written step by step."""
        found = 0
        for op in ops:
            steps = [self._number(bound, known) for bound in op.bounds] if op in loops else []
            for region in op.regions:
                if op not in loops:
                    found += self._growth(region.ops, loops, known, factor)
                for step in range(*steps) if None not in steps and any(steps[2:]) else ():  # type: ignore[arg-type]
                    assert region.index is not None
                    inner = {**known, region.index: (region.index, 0, step)}
                    found += self._growth(region.ops, loops, inner, 1)
                    if found > _GROWTH:
                        return found
        return found + factor * len(ops)

    def _number(self, value: Value, assumed: Lengths) -> int | None:
        """Return the value of an integer; slices are taken to be as long as they say, which is
        added to ``assumed``."""
        if value.constant is not None or value in assumed:
            return assumed[value][2] if value in assumed else value.constant
        op = value.op
        if op is None or op.name not in SCALARS:
            return None
        if (slice_ := self._length_of_slice(op)) is not None:
            assumed[value] = slice_
            return slice_[2]
        numbers = [self._number(arg, assumed) for arg in op.args]
        if None in numbers:
            return None
        return folded(op.name, [_Known(number) for number in numbers])  # type: ignore[arg-type]

    def _length_of_slice(self, op: Op) -> tuple[Value, int, int] | None:
        """Return the argument, the axis and the end of a slice that begins at a known place."""
        if op.name != "min" or op.args[0].constant is None or op.args[1].op is None:
            return None
        shape, least = op.args[1].op, op.args[0].constant
        if shape.name != "shape" or shape.args[0] not in self.program.parameters:
            return None
        return shape.args[0], shape.info["axis"], least

    def _is_static(self, value: Value, loops: set[Op], assumed: Lengths) -> bool:
        """Whether an integer is known once the loops around it are written step by step; these
        loops are added to ``loops``."""
        if self._number(value, dict(assumed)) is not None:
            return self._number(value, assumed) is not None
        if value.op is not None:
            is_integer = value.op.name in SCALARS and value.type.dtype == "int64"
            return is_integer and all(self._is_static(a, loops, assumed) for a in value.op.args)
        owner = value.region.owner
        if owner is None or value is not value.region.index or not _is_counted(owner):
            return False
        if owner in loops:
            return True
        loops.add(owner)
        return all(self._is_static(bound, loops, assumed) for bound in owner.bounds)


class _Known:
    """A number as a value."""

    def __init__(self, constant: int | None) -> None:
        self.constant = constant


def _fits(value: Value, dtype: str, name: str) -> bool:
    """Whether a store of a value in an array of a dtype can become a conversion of the number, with
    the same result."""
    if dtype in ("float64", "float32"):
        return not value.type.is_complex
    return value.type.dtype == dtype if name == "store" else dtype == value.type.dtype == "int64"


def _is_counted(loop: Op) -> bool:
    is_simple = loop.is_for and loop.body.go_on is None
    return is_simple and not loop.info.get("is_parallel")
