"""Operators that call a function of tensors when a program runs.

Where a function is captured, the number of steps of a loop that ends by a condition is not known. A
`Later` is then the operator that runs the loop on arrays. Its derivatives are operators that run
the derivatives of the loop on arrays, to any order.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._declare.typed_host import TypedHostOperator
from .._tensor import Tensor, constant
from ..engine.graph.value import CPU
from ..engine.record.apply import changing, runtime
from ..func.forward import jvp
from ..func.gradients import vjp
from ..ir.broadcasting import broadcast_shapes
from .devices.arrays import computing_on, copied, empty, is_on_device, spread, write

Spec = tuple[tuple[int, ...], np.dtype]
Function = Callable[..., Sequence[Any]]


class Later(TypedHostOperator):
    """An operator that calls a function of tensors, once for each sample, when a program runs.

    Parameters
    ----------
    name : str
    function : callable
        Takes tensors and returns tensors, of given specs.
    inputs, outputs : sequence of (shape, dtype)
    device : str
        Where the tensors are.
    """

    def __init__(
        self, name: str, function: Function, inputs: Sequence[Spec], outputs: Sequence[Spec],
        device: str = CPU,
    ) -> None:  # fmt: skip
        self.called, self.input_specs, self.out_specs = function, list(inputs), list(outputs)
        given, made = [
            [tuple([f"d{n}" for n in shape]) for shape, _ in part] for part in (inputs, outputs)
        ]
        super().__init__(name, given, made, [d for _, d in inputs], [d for _, d in outputs])
        self.of_rows, self._device = self._of_rows, device
        self.on_device = None if device == CPU else self._on_device
        self.declare(self._pulled, [True] * len(self.input_specs) + [False] * self.nout)
        self._derivatives: dict[Any, Later] = {}

    def sizes(self, shapes: Sequence[tuple[int, ...]], static: dict[str, Any]) -> dict[str, int]:
        known = self.core_sizes(shapes)
        return known | {f"d{n}": n for shape, _ in self.out_specs for n in shape}

    def single(self, *arrays: Any) -> list[Any]:
        with changing(capture=None, deferring=False, kept=None, trace=None, grad=False):
            found = self.called(*[_tensor(copied(a)) for a in arrays])
            return [copied(runtime.on_device(value.array, self._device)) for value in found]

    def _on_device(self, inputs: Sequence[Any], results: Sequence[Any], stream: Any) -> None:
        """Write the results for arrays of a device to other arrays there, by work of a stream."""
        with computing_on(stream, inputs):
            is_one = inputs[0].ndim == self.ncore[0]
            found = self.single(*inputs) if is_one else self._of_rows(*inputs)
            for place, result in zip(results, found, strict=True):
                write(place, result)

    def _of_rows(self, *arrays: Any) -> list[Any]:
        lead = arrays[0].ndim - self.ncore[0]
        loop = broadcast_shapes(*[a.shape[:lead] for a in arrays])
        whole = [empty((*loop, *shape), dtype, self._device) for shape, dtype in self.out_specs]
        pairs = zip(arrays, self.input_specs, strict=True)
        given = [spread(a, (*loop, *shape)) for a, (shape, _) in pairs]
        for index in np.ndindex(loop):
            found = self.single(*[a[(*index, ...)] for a in given])
            for place, result in zip(whole, found, strict=True):
                write(place[(*index, ...)], result)
        return whole

    # Derivatives

    def _pulled(self, context: Any, *grads: Any) -> tuple[Any, ...]:
        """Return the cotangents of the operator's inputs, given those of its outputs."""
        count = len(self.input_specs)
        pairs = zip(context.wanted, self.input_specs, strict=True)
        wanted = tuple([want and dtype.kind in "fc" for want, (_, dtype) in pairs])
        operator = self._derivative("gradient", wanted, self._gradient)
        seeds = [g for g, (_, d) in zip(grads, self.out_specs, strict=True) if d.kind in "fc"]
        found = operator(*[context.input(n) for n in range(count)], *seeds)
        left = iter(found if operator.nout > 1 else (found,))
        return tuple([next(left) if w else None for w in wanted])

    def _derivative(self, kind: str, key: tuple[bool, ...], make: Any) -> "Later":
        if (kind, key) not in self._derivatives:
            self._derivatives[kind, key] = make(key)
        return self._derivatives[kind, key]

    def _parted(self, some: Sequence[bool]) -> tuple[list[Spec], Callable[..., Any]]:
        """Return the specs of the inputs in ``some``, and a function that holds the other inputs
        fixed.

        Called with values of all inputs, that function returns a function from the inputs in
        ``some`` to the floating results, and the values of these inputs.
        """
        specs = [spec for spec, s in zip(self.input_specs, some, strict=True) if s]
        floating = [n for n, (_, d) in enumerate(self.out_specs) if d.kind in "fc"]

        def opened(inputs: Sequence[Any]) -> tuple[Callable[..., Any], list[Any]]:
            def of_some(*variables: Any) -> tuple[Any, ...]:
                left, pairs = iter(variables), zip(some, inputs, strict=True)
                found = self.called(*[next(left) if s else x for s, x in pairs])
                return tuple([found[n] for n in floating])

            return of_some, [x for s, x in zip(some, inputs, strict=True) if s]

        return specs, opened

    def _gradient(self, wanted: tuple[bool, ...]) -> "Later":
        specs, opened = self._parted(wanted)
        count = len(self.input_specs)

        def pulled(*given: Tensor) -> Sequence[Any]:
            function, variables = opened(given[:count])
            _, pull = vjp(function, *variables)
            return pull(tuple(given[count:]))

        seeds = [spec for spec in self.out_specs if spec[1].kind in "fc"]
        name = f"the gradient of {self.name}"
        return type(self)(name, pulled, [*self.input_specs, *seeds], specs, self._device)

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangents of the operator's outputs, given those of its inputs."""
        inputs = [context.input(n) for n in range(len(self.input_specs))]
        moved = tuple([t is not None for t in tangents])
        operator = self._derivative("tangents", moved, self._along)
        found = operator(*inputs, *[t for t in tangents if t is not None])
        left = iter(found if operator.nout > 1 else (found,))
        return [next(left) if d.kind in "fc" else None for _, d in self.out_specs]

    def _along(self, moved: tuple[bool, ...]) -> "Later":
        specs, opened = self._parted(moved)
        count = len(self.input_specs)

        def pushed(*given: Tensor) -> Sequence[Any]:
            function, variables = opened(given[:count])
            return jvp(function, tuple(variables), tuple(given[count:]))[1]

        results = [spec for spec in self.out_specs if spec[1].kind in "fc"]
        name = f"the tangents of {self.name}"
        return type(self)(name, pushed, [*self.input_specs, *specs], results, self._device)


def _tensor(array: Any) -> Any:
    return runtime.value(array) if is_on_device(array) else constant(array)


__all__ = ["Later"]
