"""The derived adjoint of a kernel as an operator, whose derivative is derived again.

The adjoint is a compiled function. It keeps what its reverse sweep needs on two tapes, and adds the
cotangents of an array to a second array of the same shape: the shadow of that array.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._adjoint.derived import Derived, surroundings
from .._adjoint.kernel import run
from .._adjoint.ssa.refusal import AdjointError
from .._adjoint.trust import warn_of_difference
from .._declare.operator import zeros_of
from .._errors import NotDifferentiableError
from .._settings import settings
from .interface import Core
from .lent_tapes import LentTapes
from .operation import OfLoops, dimensions
from .rows import writable


class Origin(NamedTuple):
    """Where a parameter of a kernel comes from.

    ``of`` is ``"input"`` for an input of the operator, ``"zeros"`` for zeros in the shape of the
    parameter number ``place``, or ``"tape"`` for a tape, if the kernel is itself an adjoint.
    """

    of: str
    place: int = 0


INPUT = Origin("input")


class Pullback(OfLoops):
    """The operator that computes cotangents of a kernel's arguments from those of its results.

    The inputs are those of the kernel, the cotangents of arrays that the kernel writes, and those
    of its results. The outputs are the cotangents of the wanted inputs.

    Parameters
    ----------
    derived : Derived
    origins : sequence of Origin
        Where each parameter of the kernel comes from.
    starts : sequence of int
        The parameters whose shadows begin with cotangents; others begin with zeros.
    wanted : sequence of int
        The parameters whose cotangents are wanted.
    name : str
    of : callable
        Returns the pullback of the same kernel for other wanted parameters.
    inner : Pullback, optional
        The pullback whose adjoint the kernel is, for derivatives of second order.
    """

    def __init__(
        self, derived: Derived, origins: Sequence[Origin], starts: Sequence[int],
        wanted: Sequence[int], name: str, of: "Callable[[tuple[int, ...]], Pullback]",
        inner: "Pullback | None" = None,
    ) -> None:  # fmt: skip
        self.derived, self.origins, self.starts = derived, list(origins), list(starts)
        self.function_name, self._of, self.inner = name, of, inner
        self.taken = [n for n, origin in enumerate(origins) if origin is INPUT]
        self.arrays = [n for n in derived.shadows if n in wanted and origins[n] is INPUT]
        every = [_core(value.type) for value in derived.program.parameters]
        results = [_core(kind) for kind in derived.results]
        names = [dimensions("p", n, core) for n, core in enumerate(every)]
        given, found = [*self.taken, *self.starts], [*self.arrays, *derived.numbers]
        seeds = derived.cotangents
        super().__init__(
            f"the derivative of {name}",
            [*(names[n] for n in given), *(dimensions("s", n, results[n]) for n in seeds)],
            [names[n] for n in found],
            [*(every[n] for n in given), *(results[n] for n in seeds)],
            [every[n] for n in found],
        )  # fmt: skip
        self._is_compared = False
        self._tapes: LentTapes | None = None
        self._again: dict[tuple[bool, ...], _Again] = {}
        self.declare(self._pulled, [*[True] * len(self.cores), *[False] * self.nout])

    def gradients(self, inputs: Sequence[Any], count: int) -> tuple[Any, ...]:
        """Apply the operator; return the cotangents of the first ``count`` parameters of the
        kernel.

        The cotangent of a parameter that has none is None.
        """
        if not self.nout:
            return (None,) * count
        outputs = self(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        found = dict(zip([*self.arrays, *self.derived.numbers], outputs, strict=True))
        return tuple(found.get(n) for n in range(count))

    # Values

    def single(self, *arrays: np.ndarray) -> list[np.ndarray]:
        given = [a[()] if a.ndim == 0 else writable(a) for a in arrays]
        parameters, starts, seeds = self.split(given)
        self._complete(parameters)
        if settings.debug and self.inner is None and not self._is_compared:
            self._is_compared = True
            warn_of_difference(self.derived, parameters, run)
        shadows = {
            n: np.array(starts[n], order="C") if n in starts else np.zeros_like(parameters[n])
            for n in self.derived.shadows
        }
        numbers, lengths = run(self.derived, parameters, shadows, seeds, self.memory())
        if self._tapes is not None and lengths is not None:
            self._tapes.lend(*lengths)
        dtypes = [core.dtype for core in self.out_cores[len(self.arrays) :]]
        found = [np.asarray(g, dtype) for g, dtype in zip(numbers, dtypes, strict=True)]
        return [*(shadows[n] for n in self.arrays), *found]

    def memory(self) -> int | None:
        """Return the bytes that the tapes may take; None without a limit.

        The adjoint of an adjoint has no snapshots, from which it could run again, so it has no
        limit.
        """
        return surroundings.memory() if self.inner is None else None

    def split(self, given: Sequence[Any]) -> tuple[list[Any], dict[int, Any], list[Any]]:
        """Return the inputs in three parts: parameters of the kernel, starts of shadows, and
        cotangents.

        A parameter that is no input is None. The starts are a dict by the numbers of parameters;
        the cotangents are those of the results.
        """
        parameters: list[Any] = [None] * len(self.origins)
        for n, value in zip(self.taken, given, strict=False):
            parameters[n] = value
        first = len(self.taken)
        second = first + len(self.starts)
        starts = dict(zip(self.starts, given[first:second], strict=True))
        return parameters, starts, list(given[second:])

    def suits(self, given: Sequence[Any]) -> bool:
        """Return whether the arrays are as long as the slices that the kernel takes of them."""
        parameters = self.split(given)[0]
        shapes: list[tuple[int, ...]] = []
        for parameter, origin in zip(parameters, self.origins, strict=True):
            is_zeros = origin.of == "zeros"
            shapes.append(shapes[origin.place] if is_zeros else np.shape(parameter))
        return self.derived.suits(shapes)

    def _complete(self, parameters: list[Any]) -> None:
        """Put zeros and tapes into the list of parameters, in place of those that are no inputs.

        The tapes are filled by the kernel itself; their lengths are found by a run of the inner
        adjoint.
        """
        if self.inner is None:
            return
        inner, count = self.inner, len(self.inner.origins)
        own = parameters[:count]
        inner._complete(own)
        parameters[:count] = own
        for n, origin in enumerate(self.origins):
            if origin.of == "zeros":
                parameters[n] = np.zeros_like(parameters[origin.place])
        shadows = {n: np.zeros_like(own[n]) for n in inner.derived.shadows}
        seeds = parameters[count + len(shadows) : -2]
        _, lengths = run(inner.derived, own, shadows, seeds)
        assert lengths is not None  # without a limit there are no snapshots
        parameters[-2:] = np.zeros(lengths[0]), np.zeros(lengths[1], np.int64)

    def compiled_rows(self, shared: tuple[bool, ...]) -> Callable[..., None]:
        from .pullback_rows import RowsOfPullback

        return RowsOfPullback(self, shared)

    def native(self, other: int) -> int | None:
        from .native_calls import native_pullback

        self._tapes = self._tapes or LentTapes()
        self._tapes.lend(*self.derived.lengths)
        return native_pullback(self, self._tapes, other)

    # Derivatives

    def _pulled(self, context: Any, *grads: Any) -> tuple[Any, ...]:
        """Return the cotangents of the operator's inputs, given those of its outputs."""
        again = self.again(self._floating(context.wanted))
        inputs = [context.input(n) for n in range(len(self.cores))]
        return again.gradients(inputs, grads)

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangents of the cotangents that this operator computes.

        The operator is linear in the cotangents of the results, so for their tangents it is applied
        to them. The tangents along arguments come from the pullback of this operator, since second
        derivatives are symmetric.
        """
        count = len(self.taken)
        along = [t if f else None for t, f in zip(tangents, self._floats(), strict=True)]
        inputs = [context.input(n) for n in range(len(self.cores))]
        linear: list[Any] = [None] * self.nout
        if any(t is not None for t in along[count:]):
            specs = context.input_specs[count:]
            seeds = [zeros_of(s) if t is None else t for t, s in zip(along[count:], specs,
                                                                     strict=True)]  # fmt: skip
            made = self(*inputs[:count], *seeds)
            linear = list(made) if isinstance(made, tuple) else [made]
        moved = {n: t for n, t in zip(self.taken, along, strict=False) if t is not None}
        if not moved:
            return linear
        curved = self._curved(inputs, moved)
        return [_sum(a, b) for a, b in zip(linear, curved, strict=True)]

    def _curved(self, inputs: Sequence[Any], moved: dict[int, Any]) -> list[Any]:
        """Return the products of the kernel's second derivatives with tangents of its arguments."""
        own = [*self.arrays, *self.derived.numbers]
        wide = self._of(tuple(sorted({*own, *moved})))
        count = len(self.taken)
        values = dict(zip(self.taken, inputs, strict=False))
        starts = dict(zip(self.starts, inputs[count:], strict=False))
        begun = [starts[n] if n in starts else zeros_of(values[n]) for n in wide.starts]
        given = [*inputs[:count], *begun, *inputs[count + len(self.starts) :]]
        places = [*wide.arrays, *wide.derived.numbers]
        grads = [moved[n] if n in moved else zeros_of(values[n]) for n in places]
        is_own = [n in own for n in wide.taken] + [False] * (len(given) - count)
        found = wide.again(tuple(is_own)).gradients(given, grads)
        products = dict(zip(wide.taken, found, strict=False))
        return [products[n] for n in own]

    def transposed(self, inputs: Sequence[Any], specs: Sequence[Any], grads: Sequence[Any]
                   ) -> list[Any]:  # fmt: skip
        """Return the tangents of the kernel's outputs along tangents of the wanted arguments.

        The operator maps cotangents of the outputs, linearly, to cotangents of the arguments. Its
        transpose maps ``grads``, the tangents of arguments, to the tangents of the outputs, whose
        specs are given.
        """
        count = len(self.taken)
        again = self.again((False,) * count + (True,) * (len(self.cores) - count))
        found = again.gradients([*inputs, *(zeros_of(spec) for spec in specs)], grads)
        return list(found[count:])

    def again(self, wanted: tuple[bool, ...]) -> "_Again":
        """Return the pullback of this pullback, for the wanted ones of its inputs."""
        if wanted not in self._again:
            self._again[wanted] = _Again(self, wanted)
        return self._again[wanted]

    def _floats(self) -> list[bool]:
        return [core.dtype.kind in "fc" for core in self.cores]

    def _floating(self, wanted: Sequence[bool]) -> tuple[bool, ...]:
        return tuple([w and f for w, f in zip(wanted, self._floats(), strict=True)])


class _Again:
    """The pullback of a pullback, for some of its inputs.

    The kernel of the new one is the adjoint of the first one. So its parameters are those of the
    first kernel, their shadows, the cotangents of the results, and two tapes.
    """

    def __init__(self, first: Pullback, wanted: Sequence[bool]) -> None:
        derived, self.first = first.derived, first
        count, shadows, seeds = len(first.origins), derived.shadows, len(derived.cotangents)
        self.positions = [
            *first.taken,
            *(count + shadows.index(n) for n in first.starts),
            *range(count + len(shadows), count + len(shadows) + seeds),
        ]
        origins = [
            *first.origins,
            *(INPUT if n in first.starts else Origin("zeros", n) for n in shadows),
            *[INPUT] * seeds, Origin("tape"), Origin("tape"),
        ]  # fmt: skip
        active = tuple([n for n, w in zip(self.positions, wanted, strict=True) if w])
        try:
            again = derived.again(active)
        except AdjointError as error:
            raise NotDifferentiableError(str(error)) from error
        numbers = first.out_cores[len(first.arrays) :]
        again.take_results(numbers, len(again.results) - len(numbers))
        places = {count + shadows.index(n): k for k, n in enumerate(first.arrays)}
        begun = [n for n in again.shadows if n in places]
        self._starts = [places[n] for n in begun]
        self.pullback = Pullback(
            again, origins, begun, active, first.function_name, self._other, first
        )

    def _other(self, active: tuple[int, ...]) -> Pullback:
        return self.first.again(tuple([n in active for n in self.positions])).pullback

    def gradients(self, inputs: Sequence[Any], grads: Sequence[Any]) -> tuple[Any, ...]:
        """Return the cotangents of the inputs of the first pullback, given those of its outputs."""
        starts = [grads[n] for n in self._starts]
        seeds = grads[len(self.first.arrays) :]
        operands = [*inputs, *starts, *seeds]
        found = self.pullback.gradients(operands, len(self.pullback.origins))
        return tuple([found[n] for n in self.positions])


def _core(kind: Any) -> Core:
    return Core(np.dtype(kind.dtype), kind.ndim or 0)


def _sum(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return one + other
