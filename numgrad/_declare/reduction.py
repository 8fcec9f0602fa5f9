"""Reductions: operators with a kernel over one contiguous axis, applied to any axes."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .._errors import DtypeError
from ..engine.graph.runtime import runtime
from ..engine.record import apply
from ..engine.record.parallel_launch import is_many, launch_parallel
from ..ir.dtypes import FLOATING
from ..ir.kernel_spec import LoopSpec
from ..ir.memory_order import standing_in
from .kernel import failure_of, is_contiguous
from .operands import constant
from .operator import Computation, Operator, Specs
from .reduction_layout import Arrangement, arrangement, computation, order_of

# The most blocks of a reduction that one thread reduces alone.
MANY_BLOCKS = 4


class Blocks(NamedTuple):
    """Blocks of elements, or of rows of a matrix, that a reduction may reduce independently.

    Attributes
    ----------
    size : int
        The size of each block but the last.
    join : callable
        A core function that reduces the results of the blocks, in order. It must give the bits of
        the reduction of all elements at once.
    """

    size: int
    join: Callable[..., Any]


def reduction(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Declare a reduction from a core function ``(x, out)`` that reduces ``x`` to ``out[0]``.

    Parameters
    ----------
    numpy : callable, optional
        The NumPy function ``(array, axis=)`` for integers and booleans.
    integers : callable, optional
        The core function for integers and booleans in programs, where ``function`` takes floating
        numbers alone.
    integer_columns : callable, optional
        The function in place of ``columns`` for integers and booleans.
    columns : callable, optional
        A core function ``(x, out)`` that reduces the first axis of a matrix, with the bits of
        ``function`` for each column.
    groups : callable, optional
        A core function ``(x, out)`` that reduces the first two axes of an array, of which the last
        axis alone is contiguous, with the bits of ``function`` for each column.
    matrix : callable, optional
        A core function ``(x, out)`` that reduces the elements of a matrix of any strides, in C
        order, with the bits of ``function``.
    blocks, column_blocks : Blocks, optional
        The blocks of elements, and those of rows, that can be reduced independently.
    result : dtype, optional
        The dtype of the result where it differs from the argument's.
    complex : bool
        Whether complex arguments are allowed. Default true.
    empty : bool
        Whether the reduction of no elements is defined, as the sum 0. Default true.
    exact : bool
        Whether no result is rounded, so that the NumPy function has the bits of the kernel and is
        called for every dtype outside of programs. Default false.
    """
    if function is None:
        return functools.partial(reduction, **options)
    return Reduction(function, **options)


class Reduction(Operator):
    """An operator that reduces the axes ``axes`` (negative numbers, ascending) of its input."""

    gives_scalars = True

    def __init__(
        self,
        function: Callable[..., Any],
        numpy: Callable[..., Any] | None = None,
        integers: Callable[..., Any] | None = None,
        integer_columns: Callable[..., Any] | None = None,
        columns: Callable[..., Any] | None = None,
        groups: Callable[..., Any] | None = None,
        matrix: Callable[..., Any] | None = None,
        blocks: Blocks | None = None,
        column_blocks: Blocks | None = None,
        result: Any = None,
        complex: bool = True,
        empty: bool = True,
        exact: bool = False,
        differentiable: bool = True,
    ) -> None:
        super().__init__(function.__name__, differentiable)
        self.function = function
        self.numpy = numpy
        self.integer_function = integers or function
        self.columns, self.integer_columns = columns, integer_columns or columns
        self._forms = {
            "columns": (columns, "(m,n)->(n)"),
            "groups": (groups, "(k,m,n)->(n)"),
            "matrix": (matrix, "(m,n)->()"),
        }
        self.forms = tuple([form for form, (given, _) in self._forms.items() if given is not None])
        self.blocks, self.column_blocks = blocks, column_blocks
        self.result = None if result is None else np.dtype(result)
        self.allows_complex = complex
        self.allows_empty = empty
        self.exact = exact
        self._specs: dict[tuple[np.dtype, bool], LoopSpec] = {}
        self._strided: dict[tuple[np.dtype, str], LoopSpec] = {}
        self._pairs: dict[tuple[np.dtype, bool], tuple[LoopSpec, LoopSpec]] = {}
        self._results: dict[np.dtype, np.dtype] = {}
        self.__doc__ = function.__doc__

    def __call__(self, x: Any, **static: Any) -> Any:
        """Apply the operator and record it; half precision is computed in single."""
        value = x if isinstance(x, runtime.value) else constant(x)
        if value.dtype == np.float16:
            result = apply.apply(self, (value.astype(np.dtype(np.float32)),), static)[0]
            return result.astype(value.dtype) if self.result is None else result
        return super().__call__(value, **static)

    def spec(self, dtype: np.dtype, columns: bool = False) -> LoopSpec:
        """Return the kernel spec for one contiguous axis or, with ``columns``, for the rows of a
        matrix."""
        if (dtype, columns) not in self._specs:
            self._check_complex(dtype)
            whole, rows = self.function, self.columns
            if dtype.kind in "biu":
                whole, rows = self.integer_function, self.integer_columns
            function = rows if columns else whole
            assert function is not None
            signature = "(m,n)->(n)" if columns else "(n)->()"
            result = self.result_dtype(dtype)
            self._specs[dtype, columns] = LoopSpec(
                self.name, function, signature, (dtype,), (result,)
            )
        return self._specs[dtype, columns]

    def _spec_of(self, dtype: np.dtype, form: str) -> LoopSpec:
        """Return the kernel spec for arrays of floating numbers that are reduced in this form; see
        `Arrangement`."""
        if form in ("elements", "columns"):
            return self.spec(dtype, form == "columns")
        if (dtype, form) not in self._strided:
            self._check_complex(dtype)
            function, signature = self._forms[form]
            assert function is not None
            result = self.result_dtype(dtype)
            self._strided[dtype, form] = LoopSpec(
                self.name, function, signature, (dtype,), (result,), strided=True
            )
        return self._strided[dtype, form]

    def block_specs(self, dtype: np.dtype, columns: bool) -> tuple[LoopSpec, LoopSpec]:
        """Return the kernel spec that reduces each block, and the spec that joins the results of
        the blocks."""
        if (dtype, columns) not in self._pairs:
            whole = self.spec(dtype, columns)
            blocks = self.column_blocks if columns else self.blocks
            assert blocks is not None
            result = self.result_dtype(dtype)
            join = LoopSpec(self.name, blocks.join, whole.signature, (result,), (result,))
            if result.kind in "biu":
                join = self.spec(result, columns)
            self._pairs[dtype, columns] = replace(whole, block=blocks.size), join
        return self._pairs[dtype, columns]

    def result_dtype(self, dtype: np.dtype) -> np.dtype:
        """Return the dtype of the result; for integers and booleans it is that of NumPy's result.
        """
        if self.result is not None:
            return self.result
        if dtype in FLOATING or self.numpy is None:
            return dtype
        if dtype not in self._results:
            self._results[dtype] = self.numpy(np.zeros(1, dtype), axis=(-1,)).dtype
        return self._results[dtype]

    def _check_complex(self, dtype: np.dtype) -> None:
        if dtype.kind == "c" and not self.allows_complex:
            raise DtypeError(f"{self.name} is not defined for complex arguments, got {dtype}")

    def infer(self, specs: Specs, static: dict[str, Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
        (spec,) = specs
        shape, axes = spec.shape, static["axes"]
        self._check_size(shape, axes)
        gone = {len(shape) + a for a in axes}
        kept = tuple(size for n, size in enumerate(shape) if n not in gone)
        return [(kept, self.result_dtype(spec.dtype))]

    def _check_size(self, shape: tuple[int, ...], axes: Sequence[int]) -> None:
        if not self.allows_empty and not prod(shape[a] for a in axes):
            raise ValueError(
                f"{self.name} of no elements is not defined: shape {shape}, axes {tuple(axes)}"
            )

    def memory_order(self, operands: Sequence[np.ndarray], static: Any) -> list[np.ndarray]:
        return [order_of(operands[0], static["axes"])]

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        (array,) = arrays
        axes = static["axes"]
        self._check_size(array.shape, axes)
        if self.exact or array.dtype not in FLOATING:
            if self.numpy is None:
                raise DtypeError(f"{self.name} does not support {array.dtype}")
            self._check_complex(array.dtype)
            return [np.asarray(self.numpy(array, axis=axes))]
        shared = launch_parallel(self, arrays, static)
        if shared is not None:
            return shared
        if not array.size or (array.flags.c_contiguous and self._is_plain(axes)):
            result, status = self._in_c_order(target, array, axes)
        else:
            arranged = self._arrangement(array, axes)
            kernel = target.kernel(self._spec_of(array.dtype, arranged.form))
            result, status = kernel.call(arranged.seen(array))
            result = arranged.restored(result)
        if status:
            raise failure_of(self, status)
        return [np.asarray(result)]

    def _is_plain(self, axes: Sequence[int]) -> bool:
        """Whether the kernels for C order reduce these axes of an array in C order as it lies."""
        if not axes or axes[-1] - axes[0] != len(axes) - 1:
            return not axes
        return axes[-1] == -1 or self.columns is not None

    def _arrangement(self, array: np.ndarray, axes: Sequence[int]) -> Arrangement:
        return arrangement(array.shape, array.strides, tuple(axes), array.itemsize, self.forms)

    def _in_c_order(self, target: Any, array: np.ndarray, axes: Sequence[int]) -> tuple[Any, int]:
        """Return the reduction of adjacent axes of an array in C order, and the kernel's status."""
        columns = self._takes_columns(array, axes)
        read = _as_matrices(array, axes) if columns else _axes_last(array, axes)
        result, status = target.kernel(self.spec(array.dtype, columns)).call(read)
        if columns and not status:
            lead, _, kept = _parts(array.shape, axes)
            result = np.asarray(result).reshape(*lead, *kept)
        return result, status

    def computation(
        self, target: Any, inputs: Specs, static: dict[str, Any]
    ) -> Computation:
        (spec,) = inputs
        shape, dtype = spec.shape, spec.dtype
        axes = static["axes"]
        if dtype == np.float16:
            return None
        if (self.exact or dtype not in FLOATING) and self.numpy is not None:
            self._check_size(shape, axes)
            self._check_complex(dtype)
            return functools.partial(self.numpy, axis=axes)
        if self.exact or dtype not in FLOATING or is_many(inputs) or 0 in shape:
            return super().computation(target, inputs, static)
        as_it_lies = self._strided_computation(target, axes, dtype)
        if not self._is_plain(axes):
            return as_it_lies
        columns = self._takes_columns(standing_in(shape, dtype), axes)
        lead, size, kept = _parts(shape, axes) if axes else (shape, 1, ())
        seen = (*lead, size, prod(kept)) if columns else (*lead, size)
        ufunc = target.kernel(self.spec(dtype, columns)).ufunc
        result = (*lead, *kept)
        found = (*lead, *kept) if columns and len(kept) < 2 else lead

        def compute(array: np.ndarray) -> Any:
            if not array.flags.c_contiguous:
                return as_it_lies(array)
            reduced = ufunc(array if seen == shape else array.reshape(seen))
            return reduced if found == result else reduced.reshape(result)

        return (compute, ufunc) if seen == shape and found == result else compute

    def _strided_computation(
        self, target: Any, axes: Sequence[int], dtype: np.dtype
    ) -> Callable[[np.ndarray], Any]:
        """Return a function that reduces arrays of one shape and dtype and any strides."""

        def ufunc_of(form: str) -> np.ufunc:
            return target.kernel(self._spec_of(dtype, form)).ufunc

        return computation(tuple(axes), dtype.itemsize, self.forms, ufunc_of)

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]
    ) -> list[Any]:
        (spec,) = specs
        shape, dtype, rows = spec.shape, spec.dtype, spec.rows
        axes, operand = static["axes"], inputs[0]
        self._check_size(operand.shape, axes)
        output = builder.new(shape, dtype, rows)
        order, axes = self._together(operand, axes)
        if order is not None:
            operand = operand.view(lambda a: a.transpose(order))
        columns = self._takes_columns(operand, axes)
        if self._takes_blocks(builder, operand, axes, columns):
            self._lower_blocks(builder, operand, output, axes, columns)
            return [output]
        if columns:
            lead, size, kept = _parts(operand.shape, axes)
            nlead, core = len(lead), (size, prod(kept))
            operand = builder.contiguous(operand, -axes[0])
        else:
            operand = builder.contiguous(operand.view(lambda a: _move_last(a, axes)), len(axes))
            nlead, core = len(shape), (prod(operand.shape[len(shape) :]),)
        operand = _merge_core(operand, nlead, core)
        flat = _merge_core(output, nlead, core[1:])
        ncore = (len(core), len(core) - 1)
        spec = self.spec(operand.dtype, columns)
        builder.emit(spec, [operand], [flat], ncore, core, name=self.name)
        return [output]

    def _takes_blocks(
        self, builder: Any, operand: Any, axes: Sequence[int], columns: bool
    ) -> bool:
        """Whether several threads are to reduce blocks independently, before the results are
        joined."""
        blocks = self.column_blocks if columns else self.blocks
        if blocks is None or operand.buffer.rows or not builder.is_many(operand):
            return False
        count = prod(operand.shape[a] for a in axes)
        alone = prod(operand.shape[: axes[0]]) == 1 if columns else len(axes) == len(operand.shape)
        return alone and count > MANY_BLOCKS * blocks.size

    def _lower_blocks(
        self, builder: Any, operand: Any, output: Any, axes: Sequence[int], columns: bool
    ) -> None:
        _, count, kept = _parts(operand.shape, axes)
        operand = builder.contiguous(operand)
        whole, join = self.block_specs(operand.dtype, columns)
        core = (prod(kept),) if columns else ()
        parts = builder.new((-(-count // whole.block), *core), output.dtype, False)
        builder.emit(whole, [operand], [parts], _all(operand, parts), (count, *core))
        flat = _merge_core(output, 0, core)
        builder.emit(join, [parts], [flat], _all(parts, flat), parts.shape)

    def _together(
        self, array: Any, axes: Sequence[int]
    ) -> tuple[tuple[int, ...] | None, Sequence[int]]:
        """Return an order of the axes in which the reduced ones are adjacent, and their numbers in
        that order; None for the order as it is.

        Axes that are apart are brought together where rows along the last axis, which is not
        reduced, are copied then. With the reduced axes last each element would be copied alone.
        """
        first, last = (axes[0], axes[-1]) if axes else (0, 0)
        rows = first < last < -1 and array.strides[-1] in (0, array.dtype.itemsize)
        if self.columns is None or last - first == len(axes) - 1 or not rows:
            return None, axes
        if array.shape[-1] < 2:
            return None, axes
        count = len(array.shape)
        gone = [count + axis for axis in axes]
        kept = [n for n in range(count) if n not in gone]
        before = [n for n in kept if n < gone[0]]
        order = (*before, *gone, *kept[len(before) :])
        return order, tuple([len(before) + n - count for n in range(len(axes))])

    def _takes_columns(self, array: Any, axes: Sequence[int]) -> bool:
        """Whether to reduce along the first axis of matrices, in place of a copy with that axis
        last."""
        if (
            self.columns is None
            or not axes
            or axes[-1] == -1
            or axes[-1] - axes[0] != len(axes) - 1
        ):
            return False
        if prod(array.shape[axes[-1] + 1 :]) < 2:
            return False  # one column is contiguous
        if len(axes) > 1 or array.shape[axes[0]] == 1:
            return True
        return (
            array.strides[axes[0]] != array.dtype.itemsize
        )  # else the axis is contiguous already


def _parts(
    shape: tuple[int, ...], axes: Sequence[int]
) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    """Return the sizes before adjacent ``axes``, the product of their sizes, and the sizes after
    them."""
    first, last = len(shape) + axes[0], len(shape) + axes[-1]
    return shape[:first], prod(shape[first : last + 1]), shape[last + 1 :]


def _merge_core(operand: Any, nlead: int, core: tuple[int, ...]) -> Any:
    """Return an operand whose contiguous axes after the first ``nlead`` have the shape ``core``."""
    strides, step = [], operand.dtype.itemsize
    for size in reversed(core):
        strides.insert(0, step)
        step *= size
    return type(operand)(
        operand.buffer, operand.offset, (*operand.shape[:nlead], *core),
        (*operand.strides[:nlead], *strides), operand.dtype,
    )  # fmt: skip


def _all(*operands: Any) -> tuple[int, ...]:
    """Return the number of axes of each operand."""
    return tuple(len(operand.shape) for operand in operands)


def _move_last(array: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    if not axes or tuple(axes) == tuple(range(-len(axes), 0)):
        return array
    return np.moveaxis(array, axes, range(-len(axes), 0))


def _as_matrices(array: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """Return an array as contiguous matrices whose first axis is to be reduced; a view if possible.
    """
    lead, size, kept = _parts(array.shape, axes)
    matrices = array.reshape(*lead, size, prod(kept))
    return matrices if is_contiguous(matrices, 2) else np.ascontiguousarray(matrices)


def _axes_last(array: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """Return an array whose last axis is contiguous and has the elements to be reduced, in C order.

    The array is a view if possible.
    """
    if len(axes) != 1 or axes[0] != -1:
        array = _move_last(array, axes)
        nlead = array.ndim - len(axes)
        array = array.reshape(*array.shape[:nlead], prod(array.shape[nlead:]))
    return array if is_contiguous(array, 1) else np.ascontiguousarray(array)
