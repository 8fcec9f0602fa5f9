"""Derivatives of kernels as operators, derived for the inputs whose gradients are wanted."""

from collections.abc import Mapping, Sequence
from typing import Any

from .._adjoint.derived import derive
from .._adjoint.ssa.refusal import AdjointError
from .._adjoint.trust import warn_of_comparisons
from .._errors import NotDifferentiableError
from .interface import Core
from .kept import keep
from .pullback import INPUT, Pullback


class Derivation:
    """The derivatives of a kernel for arguments of given types.

    Parameters
    ----------
    function : callable
        The kernel.
    types : sequence
        As `derive` takes them.
    name : str
    written : mapping
        For the arguments that the kernel writes, by position: which output each of them is.
    advice : str
        What to write where no derivative can be derived, for the error.
    returned : sequence of Core, optional
        The types of what the kernel returns, as compiled; by default those of its source.
    """

    def __init__(
        self, function: Any, types: Sequence[Any], name: str, written: Mapping[int, int],
        advice: str = "", returned: Sequence[Core] | None = None,
    ) -> None:  # fmt: skip
        self.returned = returned
        self.function, self.types, self.name = function, types, name
        self.written, self.advice = dict(written), advice
        self._pullbacks: dict[tuple[int, ...], Pullback] = {}

    def pullback(self, wanted: tuple[int, ...]) -> Pullback:
        """Return the derived adjoint for the arguments whose gradients are wanted.

        Raises
        ------
        NotDifferentiableError
            If a statement is not understood: with its file, line and text.
        """
        found = self._pullbacks.get(wanted)
        if found is None:
            keep()
            try:
                derived = derive(self.function, self.types, wanted)
            except AdjointError as error:
                raise NotDifferentiableError(f"{error}{self.advice}") from error
            if self.returned is not None:
                derived.take_results(self.returned)
            warn_of_comparisons(derived)
            origins = [INPUT] * len(derived.parameters)
            starts = [n for n in self.written if n in derived.shadows]
            found = Pullback(derived, origins, starts, wanted, self.name, self.pullback)
            self._pullbacks[wanted] = found
        return found

    def gradients(
        self, inputs: Sequence[Any], wanted: tuple[int, ...], grads: Sequence[Any]
    ) -> tuple[Any, ...]:
        """Return the cotangents of the arguments, given those of all outputs."""
        pullback = self.pullback(wanted)
        slots = self._slots(pullback)
        return pullback.gradients([*inputs, *(grads[slot] for slot in slots)], len(inputs))

    def tangents(
        self, inputs: Sequence[Any], specs: Sequence[Any], along: Mapping[int, Any]
    ) -> list[Any]:
        """Return the tangents of the outputs, whose specs are given.

        The derived adjoint is linear in the cotangents, and its transpose gives the tangents.
        ``along`` has the tangents of arguments, by their positions.
        """
        pullback = self.pullback(tuple(along))
        slots = self._slots(pullback)
        places = [*pullback.arrays, *pullback.derived.numbers]
        grads = [along[n] for n in places]
        found = pullback.transposed(inputs, [specs[slot] for slot in slots], grads)
        result: list[Any] = [None] * len(specs)
        for slot, tangent in zip(slots, found, strict=True):
            result[slot] = tangent
        return result

    def _slots(self, pullback: Pullback) -> list[int]:
        """Return the numbers of the outputs whose cotangents a pullback takes, in its order."""
        return [*(self.written[n] for n in pullback.starts), *pullback.derived.cotangents]
