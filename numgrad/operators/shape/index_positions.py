"""Index arrays that are operands: brought to positions, and checked, whenever a program runs."""

import functools
from math import prod
from typing import Any, ClassVar

import numpy as np

from ..._declare import Operator
from ..._errors import OperatorError
from ...ir.kernel_spec import LoopSpec

Static = dict[str, Any]


def positions_core(index, size, step, out):
    """Write the positions of all indices, the first one for those out of bounds, then raise if
    there were any: whatever else runs meanwhile finds no position outside the axis."""
    wrong = 0
    for i in range(index.size):
        n = np.int64(index[i])
        n += size & (n >> 63)
        fits = np.uint64(n) < np.uint64(size)
        wrong += not fits
        out[i] = n * step if fits else 0
    if wrong:
        raise IndexError("out of bounds")


def countable_core(number, size, out):
    """Write natural numbers below ``size``, 0 in place of others, then raise if there were any."""
    wrong = 0
    for i in range(number.size):
        n = np.int64(number[i])
        fits = np.uint64(n) < np.uint64(size)
        wrong += not fits
        out[i] = n if fits else 0
    if wrong:
        raise ValueError("not countable")


def remains_core(positions, size, out):
    """Let a later value overwrite an earlier one."""
    last = np.empty(size, np.int64)
    for i in range(positions.size):
        last[positions[i]] = i
    for i in range(positions.size):
        out[i] = last[positions[i]] == i


class _OfVector(Operator):
    """What is computed of all elements of an integer array at once, and of a few static numbers.

    ``flattens`` says that all axes are one vector; else the last one is, and those in front of it
    are others.
    """

    flattens = True
    function: Any
    result: np.dtype
    numbers: ClassVar[tuple[str, ...]]

    def __init__(self, name: str) -> None:
        super().__init__(name, differentiable=False)
        self._specs: dict[np.dtype, LoopSpec] = {}

    def spec(self, dtype: np.dtype) -> LoopSpec:
        """Return the kernel spec for arrays of ``dtype``."""
        if dtype not in self._specs:
            count = len(self.numbers)
            signature = f"(m){',()' * count}->(m)"
            inputs = (dtype, *(np.dtype(np.int64),) * count)
            self._specs[dtype] = LoopSpec(
                self.name, self.function, signature, inputs, (self.result,), may_raise=True
            )
        return self._specs[dtype]

    def infer(self, specs: Any, static: Static) -> list[Any]:
        return [(specs[0].shape, self.result)]

    def error_of(self, index: np.ndarray, where: str, static: Static) -> Exception:
        """Return the exception for an array with which the kernel failed."""
        return OperatorError(f"the kernel of {self.name} raised{where}")

    def run(self, target: Any, arrays: Any, static: Static) -> list[np.ndarray]:
        (array,) = arrays
        if not array.size:
            return [np.empty(array.shape, self.result)]
        numbers = [static[name] for name in self.numbers]
        flat = np.ascontiguousarray(array)
        flat = flat.reshape(-1) if self.flattens else flat
        found, status = target.kernel(self.spec(array.dtype)).call(flat, *numbers)
        if status:
            raise self.error_of(array, "", static)
        return [found.reshape(array.shape)]

    def computation(self, target: Any, inputs: Any, static: Static) -> Any:
        (spec,) = inputs
        if not prod(spec.shape):
            return super().computation(target, inputs, static)
        kernel, numbers = target.kernel(self.spec(spec.dtype)), [static[n] for n in self.numbers]
        seen = (prod(spec.shape),) if self.flattens else spec.shape

        def compute(array: np.ndarray) -> np.ndarray:
            found, status = kernel.call(np.ascontiguousarray(array).reshape(seen), *numbers)
            if status:
                raise self.error_of(array, "", static)
            return found.reshape(spec.shape)

        return compute

    def lower(self, builder: Any, inputs: Any, specs: Any, static: Static) -> list[Any]:
        (operand,), (spec,) = inputs, specs
        out = builder.new(spec.shape, self.result, spec.rows)
        if prod(spec.shape):
            view = _flat if self.flattens else _as_it_is
            flat, made = builder.contiguous(operand).view(view), out.view(view)
            numbers = [builder.constant(_number(static[name])) for name in self.numbers]
            builder.emit(
                self.spec(operand.dtype), [flat, *numbers], [made],
                (1, *(0,) * len(numbers), 1), flat.shape[-1:], flat.shape[:-1], self.name,
                replay=functools.partial(self._replay, static),
            )  # fmt: skip
        return [out]

    def _replay(self, static: Static, target: Any, inputs: Any, where: str) -> Exception:
        return self.error_of(inputs[0], where, static)


def _flat(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1)


def _as_it_is(array: np.ndarray) -> np.ndarray:
    return array


@functools.lru_cache(maxsize=1024)
def _number(value: int) -> np.ndarray:
    array = np.array(value, np.int64)
    array.flags.writeable = False
    return array


class Positions(_OfVector):
    """The positions along flat axes that indices along one of them stand for, from 0 on: each
    checked, negative ones counted from the end, times ``step``."""

    function = staticmethod(positions_core)
    result = np.dtype(np.int64)
    numbers = ("size", "step")

    def error_of(self, index: np.ndarray, where: str, static: Static) -> Exception:
        size = static["size"]
        flat = index.reshape(-1).astype(np.int64)
        wrong = index.reshape(-1)[(flat < -size) | (flat >= size)][0]
        return IndexError(
            f"{static['caller']}: index {wrong} is out of bounds for axis {static['axis']} with "
            f"size {size}{where}"
        )


class Remains(_OfVector):
    """Whether the value that is written at each of these positions remains there, as no later one
    is written at the same position."""

    flattens = False
    function = staticmethod(remains_core)
    result = np.dtype(np.bool_)
    numbers = ("size",)


class Countable(_OfVector):
    """Natural numbers below ``size``, each checked: the places where `bincount` adds up."""

    function = staticmethod(countable_core)
    result = np.dtype(np.int64)
    numbers = ("size",)

    def error_of(self, index: np.ndarray, where: str, static: Static) -> Exception:
        size, flat = static["size"], index.reshape(-1)
        if flat.min() < 0:
            return ValueError(f"bincount: the number {flat.min()} is negative{where}")
        return ValueError(
            f"bincount: the number {flat.max()} has no place among minlength={size}, the size of "
            f"the result of a captured function{where}"
        )


positions = Positions("positions")
countable = Countable("countable")
remains = Remains("remains")
