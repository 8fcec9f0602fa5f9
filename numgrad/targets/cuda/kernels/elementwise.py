"""Kernels around scalar functions: each thread walks over elements by the size of the grid."""

import dis
import math
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ....ir.kernel_spec import ElementwiseSpec, FusedSpec, LoopSpec, real_dtype
from ...binding import plain_of
from ..compile.kernel import Function, Kernel, Parameter, Pointer, Word

_AHEAD = 16
"""The bytes that a thread reads before it uses the first of these elements."""


ROWS = 4
"""The elements along one axis that a thread takes in a loop by rows, so that it works out indices,
and reads what all of them share, once."""

_LINES = 64
"""The most lines of a body that are written out for each row. Longer ones wait for arithmetic
rather than for memory."""


class ElementWalk(NamedTuple):
    """How the threads of a kernel walk over its elements.

    Attributes
    ----------
    axes : int
        The number of axes of the loop; 0 if all operands are contiguous and have one shape.
    is_wide : bool
        Whether the number of elements needs more than 31 bits, so that indices have 64.
    strides : tuple of tuple
        For each operand and axis the stride in elements if it is 0 or 1, which the kernel need not
        be given, and None for any other. Empty if no stride is known.
    is_narrow : bool
        Whether all strides, and the places of all elements, are numbers of 31 bits and not
        negative.
    rows : int or None
        The axis along which a thread takes `ROWS` elements at a time. The sizes that the kernel is
        given are then those of a loop over groups of so many elements, and a last parameter,
        ``rows``, is the size of the axis.
    rings : tuple of tuple
        For each operand and axis whether the operand begins within the axis, and goes on from the
        first element after the last one; never along ``rows``. Empty if none does.
    """

    axes: int
    is_wide: bool
    strides: tuple[tuple[int | None, ...], ...] = ()
    is_narrow: bool = False
    rows: int | None = None
    rings: tuple[tuple[bool, ...], ...] = ()

    def along(self, number: int) -> tuple[int | None, ...]:
        """Return what is known of the strides of an operand."""
        return self.strides[number] if self.strides else (None,) * self.axes

    def begins_within(self, number: int) -> list[int]:
        """Return the axes within which an operand begins."""
        rings = self.rings[number] if self.rings else ()
        return [axis for axis, is_ring in enumerate(rings) if is_ring]


def elementwise(spec: ElementwiseSpec | FusedSpec | LoopSpec, walk: ElementWalk) -> Kernel:
    """Return the kernel around a scalar function, or around all functions of a fused spec."""
    nin = len(spec.in_dtypes)
    dtypes = (*spec.in_dtypes, *spec.out_dtypes)
    names = [f"x{k}" for k in range(nin)] + [f"out{k}" for k in range(len(spec.out_dtypes))]
    scope: dict[str, Any] = {"index_type": index_type(walk)}
    body = _steps(spec, scope)
    results = spec.outputs if isinstance(spec, FusedSpec) else _numbers(spec)
    values = [f"v{number}" for number in results]
    parameters, listed = signature(names, dtypes, walk)
    if walk.rows is not None:
        text = loop([*listed, "rows"], walk, _by_rows(spec, walk, names, body, values))
        return Kernel(spec.name, text, (*parameters, parameters[0]), scope)
    places = [place(name, walk, number) for number, name in enumerate(names)]
    outs = places[nin:]
    loads = [f"x{k}[{at}]" for k, at in enumerate(places[:nin])]
    lines = [*_values(loads, spec.in_dtypes), *body, *_stored(outs, values)]
    ahead = _AHEAD // max(sum(dtype.itemsize for dtype in spec.in_dtypes), 1)
    before: Sequence[str] = ()
    if ahead > 1 and _only_calls_math(spec):
        scope |= {f"dtype{k}": storage_dtype(dtype) for k, dtype in enumerate(spec.in_dtypes)}
        scope["int64"] = np.int64
        reads = [f"ahead{k}[turn] = {load}" for k, load in enumerate(loads)]
        reads += [f"at{k}[turn] = {out}" for k, out in enumerate(outs)]
        uses = _values([f"ahead{k}[turn]" for k in range(nin)], spec.in_dtypes)
        uses += [*body, *_stored([f"at{k}[turn]" for k in range(len(outs))], values)]
        before = _ahead(walk, ahead, nin, reads, uses)
    return Kernel(spec.name, loop(listed, walk, lines, before), parameters, scope)


def _by_rows(
    spec: Any, walk: ElementWalk, names: Sequence[str], body: Sequence[str], values: Sequence[str]
) -> list[str]:
    """Return the lines in which a thread computes `ROWS` elements that follow along an axis.

    What all of them share is read once. The other elements are read before the first one is used
    where memory is what a thread waits for.
    """
    nin, axis = len(spec.in_dtypes), walk.rows
    assert axis is not None
    known = [walk.along(k)[axis] for k in range(len(names))]
    moves = [f"{names[k]}_{axis}" if one is None else one for k, one in enumerate(known)]
    shared, own = [[k for k in range(nin) if (known[k] == 0) == still] for still in (True, False)]
    tests = [" != 0" if dtype.kind == "b" else "" for dtype in spec.in_dtypes]
    reads = [f"x{k}[p{k}]{test}" for k, test in enumerate(tests)]

    def moved(k: int, turn: int) -> str:
        if not turn or moves[k] == 0:
            return f"p{k}"
        step = f"p{k} + {turn}" if moves[k] == 1 else f"p{k} + {turn} * {moves[k]}"
        return f"index_type({step})" if walk.is_narrow else step

    def stored(turn: int) -> list[str]:
        return _stored([moved(nin + k, turn) for k in range(len(values))], values)

    single = [
        *[f"v{k} = {reads[k]}" for k in own], *body, *stored(0),
        *[f"p{k} = {moved(k, 1)}" for k in range(len(names)) if moves[k] != 0],
        "row = index_type(row + 1)",
    ]  # fmt: skip
    lines = [
        f"row = index_type(i{axis} * {ROWS})",
        *[f"p{k} = {place(name, walk, k, 'row')}" for k, name in enumerate(names)],
        *[f"v{k} = {reads[k]}" for k in shared],
        f"last = index_type(row + {ROWS})",
    ]
    rest = ["last = rows if rows < last else last"]
    rest += ["while row < last:", *("    " + line for line in single)]
    if len(body) <= _LINES and _only_calls_math(spec):
        ahead = [
            f"v{k}_{turn} = x{k}[{moved(k, turn)}]{tests[k]}" for turn in range(ROWS) for k in own
        ]
        for turn in range(ROWS):
            ahead += [*[f"v{k} = v{k}_{turn}" for k in own], *body, *stored(turn)]
        lines += ["if last <= rows:", *("    " + line for line in ahead), "else:"]
        rest = ["    " + line for line in rest]
    return [*lines, *rest]


def known_strides(strides: Sequence[int]) -> tuple[int | None, ...]:
    """Return each stride in elements if it is 0 or 1, and None for any other."""
    return tuple([stride if stride in (0, 1) else None for stride in strides])


def index_type(walk: ElementWalk) -> Any:
    """Return the dtype of the indices in a kernel: 32 bits unless the walk is wide."""
    return np.int64 if walk.is_wide else np.uint32


def storage_dtype(dtype: np.dtype) -> np.dtype:
    """Return the dtype in which kernels keep elements in memory: uint8 for booleans."""
    return np.dtype(np.uint8) if dtype.kind == "b" else dtype


def _values(elements: Sequence[str], dtypes: Sequence[np.dtype]) -> list[str]:
    return [
        f"v{k} = {element}" + (" != 0" if dtype.kind == "b" else "")
        for k, (element, dtype) in enumerate(zip(elements, dtypes, strict=True))
    ]


def _only_calls_math(spec: Any) -> bool:
    """Whether the scalar functions of a spec use no global names but ``math`` and numbers.

    Such functions are short, so that their kernels wait for memory alone and gain by reading ahead.
    """
    steps = [step for step, _ in spec.steps] if isinstance(spec, FusedSpec) else [spec]
    functions: list[Any] = [plain_of(step.function) for step in steps]
    named = [f.__globals__.get(name) for f in functions for name in _global_names(f.__code__)]
    return all(value is math or isinstance(value, int | float) for value in named)


@lru_cache(1024)
def _global_names(code: CodeType) -> list[str]:
    return [i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"]


def _stored(places: Sequence[str], values: Sequence[str]) -> list[str]:
    pairs = enumerate(zip(places, values, strict=True))
    return [f"out{k}[{place}] = {value}" for k, (place, value) in pairs]


def _ahead(
    walk: ElementWalk, ahead: int, nin: int, reads: Sequence[str], uses: Sequence[str]
) -> list[str]:
    """Return the lines of a loop in which a thread reads several elements before it uses the first.

    Several reads are then under way at once, which keeps the memory busy. The compiler unrolls the
    inner loops and keeps these elements in registers. ``ahead`` is their number; ``reads`` and
    ``uses`` are the lines that read and use one element.
    """
    return [
        *[f"ahead{k} = cuda.local.array({ahead}, dtype{k})" for k in range(nin)],
        *[f"at{k} = cuda.local.array({ahead}, int64)" for k in range(len(reads) - nin)],
        f"while index_type(i + {ahead - 1} * step) < n:",
        f"    for turn in range({ahead}):",
        *("        " + line for line in (*reads, *_onwards(walk))),
        f"    for turn in range({ahead}):",
        *("        " + line for line in uses),
    ]


def _numbers(spec: Any) -> Sequence[int]:
    nin = len(spec.in_dtypes)
    return range(nin, nin + len(spec.out_dtypes))


def _steps(spec: Any, scope: dict[str, Any]) -> list[str]:
    """Return the lines that compute the values of all steps, and add their functions to ``scope``.
    """
    nin = len(spec.in_dtypes)
    steps = spec.steps if isinstance(spec, FusedSpec) else ((spec, tuple(range(nin))),)
    lines = []
    for number, (step, arguments) in enumerate(steps):
        scope[f"f{number}"] = function_of(step)
        given = ", ".join(f"v{a}" for a in arguments)
        values = [f"v{nin + number + k}" for k in range(len(step.out_dtypes))]
        lines.append(f"{', '.join(values)} = f{number}({given})")
        if isinstance(spec, FusedSpec):  # round to the dtype, as storing the value would
            scope[f"t{number}"] = step.out_dtypes[0].type
            lines.append(f"{values[0]} = t{number}({values[0]})")
    return lines


def function_of(spec: Any) -> Function:
    """Return the scalar function of a spec as kernels call it, with the dtype of its literals."""
    if isinstance(spec, LoopSpec):
        return Function(spec.function)
    is_complex = any(d.kind == "c" for d in spec.in_dtypes)
    return Function(spec.function, real_dtype(spec.in_dtypes, spec.out_dtypes), is_complex)


# Texts --------------------------------------------------------------------------------------------


def signature(
    names: Sequence[str], dtypes: Sequence[np.dtype], walk: ElementWalk
) -> tuple[tuple[Parameter, ...], list[str]]:
    """Return the parameters of a kernel that walks over elements, and their names, in two lists.

    The first is the number of elements; then come the sizes of the axes, and each operand with its
    strides.
    """
    bits = 64 if walk.is_wide else 32
    parameters: list[Parameter] = [Word(bits)] * (1 + walk.axes)
    listed = ["n", *(f"n{axis}" for axis in range(walk.axes))]
    for number, (name, dtype) in enumerate(zip(names, dtypes, strict=True)):
        given = unknown(name, walk, number)
        parameters += [Pointer(dtype), *[Word(32 if walk.is_narrow else 64)] * len(given)]
        listed += [name, *given]
    return tuple(parameters), listed


def unknown(name: str, walk: ElementWalk, number: int) -> list[str]:
    """Return the names of the strides that a kernel is given for an operand, and of the elements
    with which the operand begins along axes."""
    known = walk.along(number)
    strides = [f"{name}_{axis}" for axis in range(walk.axes) if known[axis] is None]
    return [*strides, *[f"{name}_first{axis}" for axis in walk.begins_within(number)]]


def place(name: str, walk: ElementWalk, number: int = 0, row: str = "") -> str:
    """Return the expression, as text, for the index of the current element in an operand.

    ``number`` is that of the operand. In a loop by rows ``row`` is the name of the index along the
    axis of the rows.
    """
    if not walk.axes:
        return "i"
    terms = []
    for axis, known in enumerate(walk.along(number)):
        index = row if row and axis == walk.rows else f"i{axis}"
        if axis in walk.begins_within(number):
            later = f"i{axis} + {name}_first{axis}"
            index = f"index_type({later} - n{axis} if {later} >= n{axis} else {later})"
        if known != 0:
            terms.append(index if known == 1 else f"{index} * {name}_{axis}")
    text = " + ".join(terms) or "0"
    return f"index_type({text})" if walk.is_narrow else text


def loop(
    listed: Sequence[str], walk: ElementWalk, body: Sequence[str], before: Sequence[str] = ()
) -> str:
    """Return the text of a kernel that runs the lines ``body`` for each element.

    The last axis varies fastest. From one element to its next, a thread advances by the number of
    all threads: this number is split into indices once, which are added to the indices of the
    element. ``before`` has lines in front of the loop, which may do some of the elements.
    """
    return "\n".join([
        f"def kernel({', '.join(listed)}):",
        "    i = index_type(cuda.gridsize(1))",
        *("    " + line for line in indices(walk)),
        "    step = i",
        *(f"    step{axis} = i{axis}" for axis in range(walk.axes)),
        "    i = index_type(cuda.grid(1))",
        *("    " + line for line in (*indices(walk), *before)),
        "    while i < n:",
        *("        " + line for line in (*body, *_onwards(walk))),
    ])  # fmt: skip


def _onwards(walk: ElementWalk) -> list[str]:
    """Return the lines that advance a thread's indices by its step, axis by axis with a carry."""
    lines = ["i = index_type(i + step)"]
    for axis in range(walk.axes - 1, 0, -1):
        carry = f" + carry{axis + 1}" if axis + 1 < walk.axes else ""
        lines += [
            f"i{axis} = index_type(i{axis} + step{axis}{carry})",
            f"carry{axis} = index_type(1 if i{axis} >= n{axis} else 0)",
            f"i{axis} = index_type(i{axis} - n{axis} if i{axis} >= n{axis} else i{axis})",
        ]
    if walk.axes:
        carry = " + carry1" if walk.axes > 1 else ""
        lines.append(f"i0 = index_type(i0 + step0{carry})")
    return lines


def indices(walk: ElementWalk) -> list[str]:
    """Return the lines that compute an element's index along each axis from its number ``i``."""
    lines, rest = [], "i"
    for axis in range(walk.axes - 1, 0, -1):
        lines += [
            f"i{axis} = index_type({rest} % n{axis})",
            f"rest{axis} = index_type({rest} // n{axis})",
        ]
        rest = f"rest{axis}"
    if walk.axes:
        lines.append(f"i0 = {rest}")
    return lines
