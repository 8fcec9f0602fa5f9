"""The derived adjoint as an operation of tensors, which is differentiated by deriving again."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._autograd.custom import Function
from .._tensor import Tensor, placed
from ..engine.graph.value import CPU


def pulled(
    derived: Any, parameters: Sequence[Any], starts: Mapping[int, Any], grads: Sequence[Any]
) -> dict[int, Any]:
    """Return the cotangents of the arguments of a kernel from those of its results.

    Parameters
    ----------
    derived : Derived
    parameters : sequence
        The arrays and numbers of the arguments, as tensors or as they are.
    starts : mapping
        The cotangents of the arrays that the kernel writes, by their positions.
    grads : sequence
        The cotangents of the results that are floats.

    Returns
    -------
    dict
        By the positions of the arguments that have cotangents.
    """
    shadows = [starts.get(n, _ZEROS) for n in derived.shadows]
    given = [*parameters, *shadows, *grads]
    tensors = [part for part in given if isinstance(part, Tensor)]
    outputs = _Adjoint.apply(_Call(derived, given), *tensors)
    return dict(zip([*derived.shadows, *derived.numbers], outputs, strict=True))


class _Zeros:
    """A shadow that begins with zeros."""


_ZEROS = _Zeros()


class _Call:
    """One call of a derived adjoint: its arguments that are no tensors."""

    def __init__(self, derived: Any, given: Sequence[Any]) -> None:
        self.derived = derived
        self.fixed = [None if isinstance(part, Tensor) else part for part in given]
        self.places = [n for n, part in enumerate(given) if isinstance(part, Tensor)]

    def filled(self, tensors: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the parameters of the kernel, the shadows and the cotangents of the results."""
        found = list(self.fixed)
        for place, tensor in zip(self.places, tensors, strict=True):
            found[place] = tensor
        first = len(self.derived.parameters)
        last = first + len(self.derived.shadows)
        return found[:first], found[first:last], found[last:]


class _Adjoint(Function):
    """The cotangents of the arrays and then of the numbers among the arguments of a kernel."""

    @staticmethod
    def forward(ctx: Any, asked: _Call, *tensors: Any) -> tuple[Any, ...]:
        """Call the compiled adjoint."""
        from .._adjoint import surroundings
        from .._adjoint.kernel import run

        derived = asked.derived
        ctx.asked = asked
        ctx.save_for_backward(*tensors)
        flat, starts, seeds = asked.filled([_array_of(tensor) for tensor in tensors])
        shadows = {
            n: np.zeros_like(flat[n]) if start is _ZEROS else _writable(start, flat[n])
            for n, start in zip(derived.shadows, starts, strict=True)
        }
        given = [_dense(seed) for seed in seeds]
        numbers, ctx.lengths = run(derived, flat, shadows, given, surroundings.memory())
        dtypes = [np.asarray(flat[n]).dtype for n in derived.numbers]
        scalars = [np.asarray(g, dtype) for g, dtype in zip(numbers, dtypes, strict=True)]
        return tuple(placed(found, CPU) for found in [*shadows.values(), *scalars])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """Call the adjoint of the adjoint."""
        asked, derived = ctx.asked, ctx.asked.derived
        again = derived.again()
        flat, shadows, seeds = asked.filled(ctx.saved_tensors)
        first, count = len(flat), len(derived.shadows)
        begun = [
            np.zeros_like(_array_of(flat[n])) if start is _ZEROS else start
            for n, start in zip(derived.shadows, shadows, strict=True)
        ]
        lengths = ctx.lengths or _lengths(derived, flat, seeds)
        tapes = np.zeros(lengths[0]), np.zeros(lengths[1], np.int64)
        starts = {first + k: g for k, g in enumerate(grads[:count]) if first + k in again.shadows}
        parameters = [*flat, *begun, *seeds, *tapes]
        found = pulled(again, parameters, starts, grads[count:])
        return (None, *(found.get(place) for place in asked.places))


def _lengths(derived: Any, flat: Sequence[Any], seeds: Sequence[Any]) -> tuple[int, int]:
    """Return the lengths of tapes for all steps, where a call made do with snapshots."""
    from .._adjoint.kernel import run

    values = [_array_of(part) for part in flat]
    shadows = {n: np.zeros_like(values[n]) for n in derived.shadows}
    _, lengths = run(derived, values, shadows, [_dense(_array_of(seed)) for seed in seeds])
    assert lengths is not None  # without a limit there are no snapshots
    return lengths


def _array_of(part: Any) -> Any:
    """Return the array or the number of a tensor; what is none is returned as it is."""
    if not isinstance(part, Tensor):
        return part
    array = part._computed()
    return array[()] if array.ndim == 0 else array


def _dense(seed: Any) -> Any:
    """Return an array that compiled code finds in one piece, for which one function is compiled."""
    return np.require(seed, requirements=["C", "W"]) if isinstance(seed, np.ndarray) else seed


def _writable(start: Any, like: np.ndarray) -> np.ndarray:
    shadow = np.empty_like(like)
    shadow[...] = start
    return shadow
