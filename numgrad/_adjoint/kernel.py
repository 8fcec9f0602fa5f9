"""Kernels and their derived adjoints, called with arrays and numbers; the memory of their tapes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .builder.things import tuple_like
from .derived import Derived, derive, surroundings, type_of
from .frontend.reading import Known
from .frontend.source import Kernel
from .sparing import run_sparing
from .ssa.ir import Type
from .ssa.refusal import AdjointError
from .trust import warn_of_comparisons


class Adjoint:
    """The derived adjoint of a kernel, for arguments of any types.

    Parameters
    ----------
    function : callable
        A function, or the dispatcher that ``numba.njit`` makes of it.
    """

    def __init__(self, function: Any) -> None:
        self.kernel = Kernel.of(function)
        self.function = function
        self._options = repr(sorted(getattr(function, "targetoptions", {}).items()))

    def derived(self, arguments: Sequence[Any]) -> Derived:
        """Return the adjoint for the types of arguments."""
        types = tuple(type_of(argument) for argument in arguments)
        key, known = (self._options, key_of(types)), self.kernel.derived
        if key not in known:
            known[key] = derive(self.function, types)
            warn_of_comparisons(known[key])
        return known[key]

    def __call__(self, *arguments: Any, cotangents: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """Return the gradient of each argument, a tuple for a tuple; None for an argument without
        derivatives.

        Parameters
        ----------
        *arguments
            The arguments of the kernel; they are not changed.
        cotangents : sequence, optional
            Of the results in order, then of the arrays that the kernel writes; 1 by default, and
            0 for what is written.
        """
        bound = self.kernel.signature.bind(*arguments)
        bound.apply_defaults()
        given = tuple(bound.arguments.values())
        derived = self.derived(given)
        flat = [part for argument in given for part in parts(argument)]
        refuse_aliases(derived, flat)
        seeds, shadows = _started(derived, flat, cotangents)
        numbers, _ = run(derived, flat, shadows, seeds, surroundings.memory())
        found = iter(_gradients(derived, flat, shadows, numbers))
        return tuple([_like(argument, found) for argument in given])


def run(
    derived: Derived, flat: Sequence[Any], shadows: dict[int, Any], seeds: Sequence[Any],
    memory: int | None = None,
) -> tuple[Sequence[Any], tuple[int, int] | None]:  # fmt: skip
    """Call the compiled function, with longer tapes until they suffice.

    Parameters
    ----------
    derived : Derived
    flat : sequence
        The arrays and numbers of the arguments.
    shadows : dict
        What is added to, by the position of the argument.
    seeds : sequence
        The cotangents of the results.
    memory : int, optional
        The bytes that tapes may take; where they do not suffice, snapshots are kept.

    Returns
    -------
    numbers : sequence
        The cotangents of the numbers.
    lengths : tuple or None
        The lengths of the tapes that sufficed; None where snapshots were kept.
    """
    derived = derived.suited([np.shape(part) for part in flat])
    given = [shadows[n] if n in shadows else np.zeros_like(flat[n]) for n in derived.shadows]
    extents = [_extent(part) for part in flat] if derived.exceeding is not None else None
    if memory is None or extents is None or extents != derived.exceeding:
        with Tapes(derived) as tapes:
            if tapes.exceed(memory):  # they were so long for other arguments, or another limit
                tapes.lengths = Derived.lengths
            while True:
                needed, integers, *numbers = _called(derived, *flat, *given, *seeds, *tapes.arrays)
                if tapes.suffice(needed, integers):
                    return numbers, tapes.lengths
                if tapes.exceed(memory):
                    break
        derived.exceeding = [_extent(part) for part in flat]
        _free.clear()
    assert derived.sparing is not None
    assert memory is not None
    return run_sparing(derived.sparing, flat, given, seeds, memory), None


def _called(derived: Derived, *arguments: Any) -> Any:
    """Call the compiled function of an adjoint, on several threads where there is use for them."""
    team = surroundings.team() if derived.is_chunked else None
    if team is None:
        return derived.compiled(*arguments)
    with team:
        return derived.threaded(*arguments)


def _extent(part: Any) -> Any:
    """Return the shape of an array, or an integer: the values that decide how long a kernel runs.
    """
    is_integer = isinstance(part, (int, np.integer))
    return part if is_integer else np.shape(part)


class Tapes:
    """The two tapes of a call: their memory is kept for the next call, unless it is large.

    Parameters
    ----------
    derived : Derived
        Its ``lengths`` are where the tapes begin with, and what sufficed afterwards.
    """

    def __init__(self, derived: Derived) -> None:
        self.derived, self.lengths = derived, derived.lengths
        self._memory: list[np.ndarray] = []

    def __enter__(self) -> "Tapes":
        try:
            self._memory = _free.pop()
        except IndexError:
            self._memory = [np.empty(0), np.empty(0, np.int64)]
        return self

    def __exit__(self, *error: object) -> None:
        if sum(memory.size for memory in self._memory) <= _KEPT and len(_free) < _MOST:
            _free.append(self._memory)

    @property
    def arrays(self) -> list[np.ndarray]:
        """The tapes."""
        for n, length in enumerate(self.lengths):
            if self._memory[n].size < length:
                self._memory[n] = np.empty(length, self._memory[n].dtype)
        pairs = zip(self._memory, self.lengths, strict=True)
        return [m if m.size == length else m[:length] for m, length in pairs]

    def suffice(self, floats: int, integers: int) -> bool:
        """Whether the tapes were long enough for a call; if not, they are longer now."""
        if floats <= self.lengths[0] and integers <= self.lengths[1]:
            self.derived.lengths = self.lengths
            return True
        self.lengths = max(floats, self.lengths[0]), max(integers, self.lengths[1])
        return False

    def exceed(self, memory: int | None) -> bool:
        """Whether the tapes would take more than ``memory`` bytes, and snapshots can take their
        place."""
        is_large = memory is not None and 8 * sum(self.lengths) > max(memory, _LEAST)
        return is_large and self.derived.sparing is not None


_LEAST = 8 * sum(Derived.lengths)  # bytes of the shortest tapes
_KEPT = 1 << 22
_MOST = 64
_free: list[list[np.ndarray]] = []  # tapes that no call uses


def key_of(types: Sequence[Any]) -> str:
    """Return the key of an adjoint: types with equal keys have one adjoint."""
    return repr([_key(part) for part in types])


def _key(part: Any) -> Any:
    if isinstance(part, Known):
        return ("constant", repr(part.value))
    is_tuple = isinstance(part, tuple) and not isinstance(part, Type)
    return (type(part), *map(_key, part)) if is_tuple else part


def parts(argument: Any) -> list[Any]:
    """Return the arrays and numbers of an argument; a constant has none."""
    if isinstance(argument, tuple):
        return [part for inner in argument for part in parts(inner)]
    is_value = isinstance(argument, (np.ndarray, np.generic, bool, int, float, complex))
    return [argument] if is_value else []


def refuse_aliases(derived: Derived, flat: Sequence[Any]) -> None:
    """Raise where an array that the kernel writes shares memory with another argument."""
    for n in derived.written:
        for m, other in enumerate(flat):
            if n != m and isinstance(other, np.ndarray) and np.may_share_memory(flat[n], other):
                raise AdjointError(
                    f"{derived.name}: the arguments {derived.parameters[n]} and "
                    f"{derived.parameters[m]} share memory, and one of them is written: copy one"
                )


def _started(
    derived: Derived, flat: list[Any], cotangents: Sequence[Any] | None
) -> tuple[list[Any], dict[int, Any]]:
    """Return the cotangents of the results, and the shadows, which begin with the cotangents of the
    arrays that the kernel writes."""
    count = len(derived.cotangents)
    given = list(cotangents) if cotangents is not None else []
    if cotangents is None:
        results = [derived.results[n] for n in derived.cotangents]
        if any(result.is_array for result in results):
            raise AdjointError(f"{derived.name}: an array is returned: pass cotangents=")
        given = [1.0] * count
    shadows = {n: np.zeros_like(flat[n]) for n in derived.shadows}
    for n, cotangent in zip(derived.written, given[count:], strict=False):
        if n in shadows:
            shadows[n][...] = cotangent
    return given[:count], shadows


def _gradients(
    derived: Derived, flat: list[Any], shadows: dict[int, Any], numbers: Sequence[Any]
) -> tuple[Any, ...]:
    found = {**shadows, **dict(zip(derived.numbers, numbers, strict=True))}
    for n, argument in enumerate(flat):
        is_float = isinstance(argument, np.ndarray) and argument.dtype.kind == "f"
        if n not in found and is_float and n not in derived.written:
            found[n] = np.zeros_like(argument)
    return tuple(found.get(n) for n in range(len(flat)))


def _like(argument: Any, gradients: Iterator[Any]) -> Any:
    """Return the gradients of the arrays and numbers of an argument in the structure of the
    argument; None for a constant."""
    if isinstance(argument, tuple):
        return tuple_like(argument, [_like(part, gradients) for part in argument])
    return next(gradients) if parts(argument) else None


def adjoint(function: Callable[..., Any]) -> Adjoint:
    """Return the derived adjoint of a kernel: a function that returns the gradients.

    Parameters
    ----------
    function : callable
        A function written in loops, or the dispatcher that ``numba.njit`` makes of it.

    Returns
    -------
    Adjoint
        Takes the arguments of the kernel and ``cotangents=``.

    Raises
    ------
    AdjointError
        When it is called, if a statement is not understood: with its file, line and text.

    Examples
    --------
    >>> from numba import njit
    >>> @njit
    ... def energy(x, k):
    ...     total = 0.0
    ...     for i in range(1, len(x)):
    ...         total += 0.5 * k * (x[i] - x[i - 1]) ** 2
    ...     return total
    >>> adjoint(energy)(np.array([1.0, 2.0, 4.0]), 0.5)
    (array([-0.5, -0.5,  1. ]), 2.5)
    """
    return Adjoint(function)


def adjoint_source(function: Callable[..., Any], *arguments: Any) -> str:
    """Return the source of the derived adjoint of a kernel, as readable Python.

    Parameters
    ----------
    function : callable
    *arguments
        Arguments of the types that it is derived for.

    Returns
    -------
    str

    Examples
    --------
    >>> from numba import njit
    >>> @njit
    ... def energy(x, k):
    ...     total = 0.0
    ...     for i in range(1, len(x)):
    ...         total += 0.5 * k * (x[i] - x[i - 1]) ** 2
    ...     return total
    >>> print(adjoint_source(energy, np.zeros(3), 0.5).splitlines()[0])
    def energy_adjoint(x, k, gx, g, tape_f, tape_i):
    """
    made = Adjoint(function)
    bound = made.kernel.signature.bind(*arguments)
    bound.apply_defaults()
    return made.derived(tuple(bound.arguments.values())).source
