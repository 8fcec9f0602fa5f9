"""Programs: expressions lowered to a flat list of instructions over buffers.

An `Instruction` is a kernel with its operands, its loop and its core dimensions. A `Program` is a
value: it can be printed, verified, drawn and compared; ``engine.schedule`` assigns memory and
``targets`` run it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .graph import Expr, Shape, Value
from .record import runtime


class Buffer:
    """A block of memory: an array from outside, or one that the schedule places.

    ``nbytes`` is the size of one row where ``rows`` is true, else of the whole.
    """

    __slots__ = ("array", "index", "nbytes", "row_stride", "rows")

    def __init__(
        self,
        index: int,
        nbytes: int,
        rows: bool,
        array: np.ndarray | None = None,
        row_stride: int = 0,
    ):
        self.index = index
        self.nbytes = nbytes
        self.rows = rows
        self.array = array
        self.row_stride = row_stride


class Operand:
    """A strided view of a buffer; shape and strides leave out the row axis."""

    __slots__ = ("_whole", "buffer", "dtype", "offset", "shape", "strides")

    def __init__(
        self,
        buffer: Buffer,
        offset: int,
        shape: Shape,
        strides: Shape,
        dtype: np.dtype,
        whole: bool | None = None,
    ):
        self.buffer = buffer
        self.offset = offset
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self._whole = whole

    def view(self, function: Callable[[np.ndarray], np.ndarray]) -> "Operand":
        """Return the operand that a NumPy view function makes of this one; no element is read.

        Raises
        ------
        ValueError
            When NumPy cannot make the result a view (``reshape(copy=False)``).
        """
        dummy = as_strided(np.empty(1, self.dtype), self.shape, self.strides)
        result = function(dummy)
        offset = 0
        if result.size:
            offset = result.__array_interface__["data"][0] - dummy.__array_interface__["data"][0]
        return Operand(self.buffer, self.offset + offset, result.shape, result.strides, self.dtype)

    def is_contiguous(self, ncore: int | None = None) -> bool:
        """Whether the last ``ncore`` axes (all of them by default) are C-contiguous, as without
        elements they are."""
        first = 0 if ncore is None else len(self.shape) - ncore
        if 0 in self.shape[first:]:
            return True
        step = self.dtype.itemsize
        for size, stride in zip(self.shape[first:][::-1], self.strides[first:][::-1], strict=True):
            if size != 1 and stride != step:
                return False
            step *= size
        return True

    @property
    def whole(self) -> bool:
        """Whether this is all of its buffer, in order."""
        if self._whole is None:
            size = prod(self.shape) * self.dtype.itemsize
            self._whole = self.offset == 0 and size == self.buffer.nbytes and self.is_contiguous()
        return self._whole


@dataclass(slots=True)
class Instruction:
    """One kernel over a loop; ``strides[k]`` are operand k's byte strides along the loop, rows
    left out."""

    kernel: Any
    inputs: list[Operand]
    outputs: list[Operand]
    loop: Shape
    core: Shape
    strides: list[Shape]
    core_strides: Shape
    rows: bool
    elementwise: bool
    name: str
    work: int
    error: Callable[[str], Exception] | None = None
    replay: Callable[..., Exception] | None = None
    site: Any = None


@dataclass(slots=True)
class Program:
    """Instructions in order, the buffers they use, and the operands that are the results."""

    instructions: list[Instruction]
    buffers: list[Buffer]
    results: list[Operand]
    batch: int | None
    uses_blas: bool = False

    def __str__(self) -> str:
        from .listing import listing

        return listing(self)


@dataclass
class Builder:
    """What operators lower themselves with: new buffers and instructions."""

    target: Any
    batch: int | None = None
    instructions: list[Instruction] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    uses_blas: bool = False
    site: Any = None
    _constants: dict[int, Operand] = field(default_factory=dict)

    def new(self, shape: Shape, dtype: np.dtype, rows: bool) -> Operand:
        """Return an undefined C-contiguous operand in a buffer of its own."""
        strides = _contiguous_strides(shape, dtype.itemsize)
        nbytes = prod(shape) * dtype.itemsize
        buffer = Buffer(len(self.buffers), nbytes, rows, None, nbytes if rows else 0)
        self.buffers.append(buffer)
        return Operand(buffer, 0, shape, strides, dtype, whole=True)

    def constant(self, array: np.ndarray, rows: bool = False) -> Operand:
        """Return an operand for an array from outside; with ``rows`` its first axis is the
        batch."""
        known = self._constants.get(id(array))
        if known is not None:
            return known
        shape, strides = (
            (array.shape[1:], array.strides[1:]) if rows else (array.shape, array.strides)
        )
        buffer = Buffer(
            len(self.buffers), array.nbytes, rows, array, array.strides[0] if rows else 0
        )
        self.buffers.append(buffer)
        operand = self._constants[id(array)] = Operand(buffer, 0, shape, strides, array.dtype)
        return operand

    def emit(
        self,
        spec: Any,
        inputs: Sequence[Operand],
        outputs: Sequence[Operand],
        ncore: Sequence[int] | None = None,
        core: Shape = (),
        loop: Shape | None = None,
        name: str = "",
        error: Callable[[str], Exception] | None = None,
        replay: Callable[..., Exception] | None = None,
    ) -> None:
        """Append an instruction.

        Parameters
        ----------
        spec
            The kernel's spec, or a kernel.
        ncore
            The number of core axes of each operand; none by default.
        core
            The sizes of the core dimensions in the kernel's order.
        loop
            The loop shape; by default the leading axes of the first output.
        error
            Makes the exception for a kernel that fails, from the words that say where.
        replay
            Makes a better one, ``replay(target, inputs, where)``, from the inputs in the row that
            failed.
        """
        operands = [*inputs, *outputs]
        if loop is None:
            shape = outputs[0].shape
            loop = shape if not ncore else shape[: len(shape) - ncore[len(inputs)]]
        if 0 in loop:
            return
        core_strides: Shape = ()
        if not ncore:
            strides = [_loop_strides(o, 0, loop) for o in operands]
        else:
            pairs = list(zip(operands, ncore, strict=True))
            strides = [_loop_strides(o, n, loop) for o, n in pairs]
            core_strides = tuple(s for o, n in pairs for s in o.strides[len(o.strides) - n :])
        rows = any([o.buffer.rows for o in outputs])  # noqa: C419  a list is faster
        kernel = spec if hasattr(spec, "address") else self.target.kernel(spec)
        work = prod(loop) * max(1, prod(core))
        self.instructions.append(
            Instruction(
                kernel, list(inputs), list(outputs), loop, core, strides, core_strides, rows,
                not core,
                name or kernel.name, work, error, replay, self.site,
            )
        )  # fmt: skip

    def copy(self, source: Operand, destination: Operand) -> None:
        """Append a copy with broadcasting."""
        self.emit(runtime.roles["copy_spec"](source.dtype), [source], [destination], name="copy")

    def contiguous(self, operand: Operand, ncore: int | None = None) -> Operand:
        """Return the operand itself if its last ``ncore`` axes are C-contiguous, else a copy."""
        if operand.is_contiguous(ncore):
            return operand
        result = self.new(operand.shape, operand.dtype, operand.buffer.rows)
        self.copy(operand, result)
        return result


def _contiguous_strides(shape: Shape, itemsize: int) -> Shape:
    strides = []
    for size in reversed(shape):
        strides.append(itemsize)
        itemsize *= max(size, 1)
    return tuple(reversed(strides))


def _loop_strides(operand: Operand, ncore: int, loop: Shape) -> Shape:
    """Return the strides along the loop: 0 for axes that the operand lacks or has with size 1."""
    nloop = len(operand.shape) - ncore
    own, strides = operand.shape[:nloop], operand.strides[:nloop]
    if 1 in own:
        strides = tuple([0 if size == 1 else s for size, s in zip(own, strides, strict=True)])
    return strides if nloop == len(loop) else (0,) * (len(loop) - nloop) + strides


def pending_exprs(values: Iterable[Value]) -> list[Expr]:
    """Return the expressions that must be computed for ``values``, in order of creation."""
    seen: set[Expr] = set()
    stack = [v.expr for v in values if v.array is None and v.expr is not None]
    while stack:
        expr = stack.pop()
        if expr in seen:
            continue
        seen.add(expr)
        for value in expr.inputs:
            if (
                value.array is None
                and value.expr is not None
                and value.expr.results[value.expr_slot] is None
            ):
                stack.append(value.expr)
    return sorted(seen, key=lambda expr: expr.number)


def lower(values: Sequence[Value], target: Any, batch: int | None = None) -> Program:
    """Lower the expressions of ``values`` to a program whose results are those values, one buffer
    each."""
    builder = Builder(target, batch)
    known: dict[tuple[Expr, int], Operand] = {}

    def operand(value: Value) -> Operand:
        array = value.array
        if array is None and value.expr is not None:
            array = value.expr.results[value.expr_slot]
        if array is None:
            assert value.expr is not None
            return known[value.expr, value.expr_slot]
        return builder.constant(array, value.rows)

    for expr in pending_exprs(values):
        builder.site = expr.site
        outputs = expr.operator.lower(
            builder, [operand(v) for v in expr.inputs], expr.specs, expr.static
        )
        for slot, output in enumerate(outputs):
            known[expr, slot] = output
    results = _own_buffers(builder, [operand(value) for value in values])
    return Program(builder.instructions, builder.buffers, results, batch, builder.uses_blas)


def _own_buffers(builder: Builder, operands: Sequence[Operand]) -> list[Operand]:
    """Give each result a buffer of its own, so that results alias neither each other nor anything
    else."""
    claimed: set[int] = set()
    results = []
    for operand in operands:
        if operand.buffer.array is not None or not operand.whole or operand.buffer.index in claimed:
            copy = builder.new(operand.shape, operand.dtype, operand.buffer.rows)
            builder.copy(operand, copy)
            operand = copy
        claimed.add(operand.buffer.index)
        results.append(operand)
    return results


def force(values: Sequence[Value], batch: int | None = None) -> None:
    """Compute the values that are not computed yet, as one program."""
    todo: dict[tuple[Expr, int], Value] = {}
    for value in values:
        if value.array is None:
            if value.view is not None:
                value.view.refresh(value)
            assert value.expr is not None
            if value.expr.results[value.expr_slot] is None:
                todo.setdefault((value.expr, value.expr_slot), value)
    if todo:
        from .schedule import execute

        program = lower(list(todo.values()), runtime.target, batch)
        for (expr, slot), array in zip(todo, execute(program, runtime.target), strict=True):
            expr.results[slot] = array
    for value in values:
        if value.array is None:
            assert value.expr is not None
            value.array = value.expr.results[value.expr_slot]
            value.expr = None
