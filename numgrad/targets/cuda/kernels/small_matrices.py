"""Kernels that factorize many small matrices, and solve systems of these, in shared memory.

A team of threads has a matrix for itself, a block of threads as many teams as there is room for.
The methods are those of LAPACK: Gaussian elimination that exchanges rows for the largest pivot,
Cholesky's factorization, and substitution, column by column. A kernel sets the flag of its program
where LAPACK would fail.
"""

import math
from collections.abc import Iterator
from textwrap import indent
from typing import Any, NamedTuple

import numpy as np

from ..compile.kernel import Function, Kernel, Parameter, Pointer, Word
from .elementwise import ElementWalk, index_type, indices, place, signature

MOST = 32
"""The largest matrices, which have as many rows and columns."""

_SHARED = MOST * (MOST + 1) * 16
"""The bytes of shared memory for matrices, and those for right-hand sides: one of the largest."""

_KERNEL = """
def kernel({listed}):
{arrays}
    thread = int64(cuda.threadIdx.x)
    team, lane = thread // lanes, thread % lanes
    own, items = team * size * apart, int64(n) * chunks
    begin = int64(cuda.blockIdx.x) * group
    while begin < items:
        item = begin + team
        is_busy = team < group and item < items
        i, first = index_type(item // chunks), item % chunks * size
        width = min(size, columns - first)
{indices}
{body}
        begin += int64(cuda.gridDim.x) * group
"""
"""``size`` is the number of rows of a matrix, and ``apart`` the distance of its rows in shared
memory; it is odd, so that threads that read one column access different banks. ``columns`` is the
number of right-hand sides, of which an item has at most ``size``, the ``chunks``."""

_LOADED = """
if is_busy:
    e = lane
    while e < size * {width}:
        r, c = e // {width}, e % {width}
        {to}[own + r * apart + c] = {x}[{begin} + r * {x}_row + ({first}c) * {x}_column]
        e += lanes
"""

_STORED = """
if is_busy:
    e = lane
    while e < size * {width}:
        r, c = e // {width}, e % {width}
        out[{begin} + r * out_row + ({first}c) * out_column] = {value}
        e += lanes
cuda.syncthreads()
"""

_LU = """
k = int64(0)
while k < size:
    pivot = k
    if is_busy:
        r, largest = k + 1, measure(matrix[own + k * apart + k])
        while r < size:
            other = measure(matrix[own + r * apart + k])
            if other > largest:
                pivot, largest = r, other
            r += 1
    cuda.syncthreads()
    if is_busy:
        if lane == 0:
            pivots[{pivots} + k * pivots_row] = pivot + 1
        c = lane
        while c < size and pivot != k:
            upper, lower = own + k * apart + c, own + pivot * apart + c
            kept = matrix[upper]
            matrix[upper] = matrix[lower]
            matrix[lower] = kept
            c += lanes
    cuda.syncthreads()
    if is_busy:
        top, r = matrix[own + k * apart + k], k + 1 + lane
        while r < size:
            factor = matrix[own + r * apart + k]
            if top != zero:
                factor = factor / top
            matrix[own + r * apart + k] = factor
            c = k + 1
            while c < size:
                matrix[own + r * apart + c] -= factor * matrix[own + k * apart + c]
                c += 1
            r += lanes
    cuda.syncthreads()
    k += 1
"""

_CHOLESKY = """
k = int64(0)
while k < size:
    top = zero
    if is_busy:
        top = matrix[own + k * apart + k]
    cuda.syncthreads()
    if is_busy:
        if not top.real > zero.real:
            flag[{flag}] = 1
        length = root(top.real)
        if lane == 0:
            matrix[own + k * apart + k] = length
        r = k + 1 + lane
        while r < size:
            matrix[own + r * apart + k] = matrix[own + r * apart + k] / length
            r += lanes
    cuda.syncthreads()
    if is_busy:
        r = k + 1 + lane
        while r < size:
            below, c = matrix[own + r * apart + k], k + 1
            while c <= r:
                matrix[own + r * apart + c] -= below * matrix[own + c * apart + k]{conjugate}
                c += 1
            r += lanes
    cuda.syncthreads()
    k += 1
"""

_REGULAR = """
if is_busy and lane == 0:
    k = int64(0)
    while k < size:
        if matrix[own + k * apart + k] == zero:
            flag[{flag}] = 1
        k += 1
"""

_EXCHANGED = """
if is_busy:
    c = lane
    while c < width:
        k = int64(0)
        while k < size:
            at = {at}
            upper = own + at * apart + c
            lower = own + (pivots[{pivots} + at * pivots_row] - 1) * apart + c
            kept = right[upper]
            right[upper] = right[lower]
            right[lower] = kept
            k += 1
        c += lanes
cuda.syncthreads()
"""

_DIVIDED = """
    if is_busy:
        c = lane
        while c < width:
            right[own + at * apart + c] = right[own + at * apart + c] / {diagonal}
            c += lanes
    cuda.syncthreads()
"""

_SUBSTITUTED = """
k = int64(0)
while k < size:
    at = {at}
{divided}
    if is_busy:
        e = lane
        while e < (size - 1 - k) * width:
            r, c = {first} + e // width, e % width
            right[own + r * apart + c] -= {element} * right[own + at * apart + c]
            e += lanes
    cuda.syncthreads()
    k += 1
"""


class Form(NamedTuple):
    """What a kernel does with its matrices; the fields are those of a `LibrarySpec`."""

    name: str
    dtype: np.dtype
    lower: bool
    adjoint: bool

    @property
    def operands(self) -> tuple[tuple[str, int, np.dtype], ...]:
        """The name of each operand, the number of its core dimensions, and its dtype."""
        dtype, pivots = self.dtype, ("pivots", 1, np.dtype(np.int32))
        matrix, right, out = ("a", 2, dtype), ("b", 2, dtype), ("out", 2, dtype)
        return {
            "lu_factor": (matrix, out, pivots),
            "lu_solve": (matrix, pivots, right, out),
            "solve_triangular": (matrix, right, out),
            "cholesky": (matrix, out),
        }[self.name]

    @property
    def solves(self) -> bool:
        """Whether the kernel solves systems."""
        return self.name in ("lu_solve", "solve_triangular")

    @property
    def may_fail(self) -> bool:
        """Whether there are matrices for which LAPACK fails."""
        return self.name != "lu_factor"


def small_matrices(form: Form, walk: ElementWalk, threads: int) -> Kernel:
    """Return the kernel for matrices of at most `MOST` rows, of whatever size.

    The parameters are those of `signature`; then the distances of elements along the core
    dimensions of each operand, the numbers `WORDS`, and the flag if the kernel may fail.
    """
    names = [name for name, _, _ in form.operands]
    parameters, listed = signature(names, [dtype for _, _, dtype in form.operands], walk)
    for name, ndim, _ in form.operands:
        listed += [f"{name}_row", f"{name}_column"][:ndim]
        parameters = (*parameters, *[Word()] * ndim)
    flags: tuple[Parameter, ...] = (Pointer(np.dtype(np.int64)),) if form.may_fail else ()
    arrays = ["matrix", "right"] if form.solves else ["matrix"]
    text = _KERNEL.format(
        listed=", ".join([*listed, *WORDS, *(["flag"] if form.may_fail else [])]),
        arrays="\n".join(f"    {array} = cuda.shared.array(SIZE, dtype)" for array in arrays),
        indices=_indented(indices(walk), 8),
        body=_indented("\n".join(_body(form, walk)).splitlines(), 8),
    )  # fmt: skip
    scope = {
        "SIZE": room(form.dtype), "dtype": form.dtype, "zero": form.dtype.type(0),
        "int64": np.int64, "index_type": index_type(walk),
        "measure": Function(_size_of_parts if form.dtype.kind == "c" else _size, form.dtype),
        "root": Function(_root, np.finfo(form.dtype).dtype),
    }  # fmt: skip
    parameters = (*parameters, *[Word()] * len(WORDS), *flags)
    return Kernel(form.name, text, parameters, scope, threads, multiply_adds=True)


WORDS = ("size", "columns", "chunks", "apart", "lanes", "group")
"""The names of the numbers that the kernels get; see the text of the kernels."""


def room(dtype: np.dtype) -> int:
    """Return the number of elements in shared memory for the matrices of a block of threads."""
    return _SHARED // dtype.itemsize


def _body(form: Form, walk: ElementWalk) -> Iterator[str]:
    """Yield the texts of what a team of threads does with one matrix."""
    places = {name: place(name, walk) for name, *_ in form.operands} | {"flag": "0"}
    conjugate = ".conjugate()" if form.dtype.kind == "c" else ""
    whole = {"width": "size", "first": ""}
    yield _LOADED.format(to="matrix", x="a", begin=places["a"], **whole)
    if not form.solves:
        yield "cuda.syncthreads()"
        is_lu = form.name == "lu_factor"
        yield (_LU if is_lu else _CHOLESKY).format(**places, conjugate=conjugate)
        element = "matrix[own + r * apart + c]"
        value = element if is_lu else f"{element} if c <= r else zero"
        yield _STORED.format(begin=places["out"], value=value, **whole)
        return
    some = {"width": "width", "first": "first + "}
    yield _LOADED.format(to="right", x="b", begin=places["b"], **some)
    yield "cuda.syncthreads()"
    yield _REGULAR.format(**places)
    conjugate = conjugate if form.adjoint else ""
    if form.name == "solve_triangular":
        yield _substituted(form.lower, form.adjoint, False, conjugate)
    else:
        yield from _solved_by_lu(form.adjoint, conjugate, places)
    yield _STORED.format(begin=places["out"], value="right[own + r * apart + c]", **some)


def _solved_by_lu(adjoint: bool, conjugate: str, places: dict[str, str]) -> Iterator[str]:
    """Yield the texts that solve systems with the factors of Gaussian elimination."""
    if adjoint:
        yield _substituted(False, True, False, conjugate)
        yield _substituted(True, True, True, conjugate)
        yield _EXCHANGED.format(at="size - 1 - k", **places)
    else:
        yield _EXCHANGED.format(at="k", **places)
        yield _substituted(True, False, True, conjugate)
        yield _substituted(False, False, False, conjugate)


def _substituted(lower: bool, adjoint: bool, is_unit: bool, conjugate: str) -> str:
    """Return the text that solves systems with a triangle, or with its adjoint.

    With ``is_unit`` the diagonal is taken to be ones.
    """
    is_forward = lower != adjoint
    of = "matrix[own + {} * apart + {}]" + conjugate
    divided = _DIVIDED.format(diagonal=of.format("at", "at")).strip("\n")
    return _SUBSTITUTED.format(
        at="k" if is_forward else "size - 1 - k", divided="" if is_unit else divided,
        first="at + 1" if is_forward else "0",
        element=of.format("at", "r") if adjoint else of.format("r", "at"),
    )  # fmt: skip


def _indented(lines: Any, spaces: int) -> str:
    return indent("\n".join(lines), " " * spaces)


def _size(x):
    return abs(x)


def _size_of_parts(x):
    return abs(x.real) + abs(x.imag)


def _root(x):
    return math.sqrt(x)
