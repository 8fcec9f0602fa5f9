"""The arguments of a call of a captured function: the call's key, and the leaves for the trace."""

import inspect
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from ..._declare.dtypes import numbers, require_plain
from ..._errors import ArgTypeError
from ..._settings import settings
from ..._tensor import Tensor, require_numbers
from ...containers import optree_calls as optree
from ...containers.unknown_leaves import how_to_register
from ...engine.graph.memory_order import strides_of_value_copy
from ...engine.record.apply import mode
from ...functions.tensor.python_operators import is_operand
from ..guards.closed_names import Binding
from ..guards.static_keys import flatten, frozen, is_lasting, static_key, structure_key
from .symbolic_integers import MOST

NUMPY, TENSOR, SCALAR, FLOAT, COMPLEX = "array", "tensor", "scalar", "float", "complex"
INTEGER, NUMPY_INTEGER = "int", "integer of NumPy"
INTEGERS = (INTEGER, NUMPY_INTEGER)
FIXED = (bool, int, str, bytes, type(None), type(Ellipsis), np.dtype, type)


class Call:
    """The arguments of one call, flattened.

    Attributes
    ----------
    key : hashable
        Equal for calls with the same specialization.
    leaves : list
        The arrays, tensors and numbers that are arguments of the trace.
    kinds : list of str
        The kind of each leaf: an array, a tensor, or which sort of number.
    is_lasting : bool
        Whether the keys of all static arguments stay the same as long as the objects are the same.
    outline : hashable
        The key without the binding and without the values of integers: calls that differ in nothing
        else have equal outlines.
    integers : dict
        All integers among the arguments, by their places among all leaves. The symbolic ones are in
        ``leaves``, too.

    Parameters
    ----------
    symbolic : callable
        Takes ``outline`` and returns the places of the symbolic integers.
    binding : Binding
        What the names that the function reads are bound to; a part of the key.
    """

    __slots__ = (
        "args", "binding", "fixed", "integers", "is_lasting", "key", "kinds", "kwargs", "leaves",
        "outline", "positions", "structure",
    )  # fmt: skip

    def __init__(
        self,
        signature: "Signature",
        args: Sequence[Any],
        kwargs: dict[str, Any],
        symbolic: Callable[[Hashable], frozenset[int]],
        binding: Binding,
    ) -> None:
        self.binding = binding
        self.args, self.kwargs = signature.split(args, kwargs)
        found, self.structure = flatten((self.args, self.kwargs))
        self.leaves: list[Any] = []
        self.kinds: list[str] = []
        self.positions: list[int] = []
        self.fixed: list[Any] = found
        self.is_lasting = True
        parts: list[Hashable] = [self.structure, mode.grad, settings.recorded]
        parts += structure_key(self.structure)
        first = len(parts)
        self.integers: dict[int, Any] = {}
        for position, leaf in enumerate(found):
            if isinstance(leaf, Static):
                found[position] = leaf.value
                parts.append(static_key(leaf.value))
                self.is_lasting = self.is_lasting and is_lasting(leaf.value)
                continue
            kind = _kind(leaf)
            if kind is None:
                parts.append(frozen(leaf))
                continue
            if kind in INTEGERS:
                self.integers[position] = leaf
            self.leaves.append(numbers(leaf) if kind == NUMPY else leaf)
            self.kinds.append(kind)
            self.positions.append(position)
            parts.append((kind, *_spec(self.leaves[-1], kind)))
        self.outline = tuple(parts)
        fixed = self.integers.keys() - symbolic(self.outline) if self.integers else ()
        if fixed:
            for position in fixed:
                parts[first + position] = frozen(found[position])
            self._leave_out(fixed)
        self.key = (*parts, binding)

    def _leave_out(self, fixed: Iterable[int]) -> None:
        """Remove the integers at these places from the leaves, as they become constants of the
        trace."""
        kept = [n for n, position in enumerate(self.positions) if position not in fixed]
        self.leaves = [self.leaves[n] for n in kept]
        self.kinds = [self.kinds[n] for n in kept]
        self.positions = [self.positions[n] for n in kept]

    def numbers_of(self, argnums: Iterable[int]) -> frozenset[int]:
        """Return the indices of the items of ``leaves`` that lie in the given positional arguments.
        """
        counts = [optree.tree_structure(a, none_is_leaf=True).num_leaves for a in self.args]
        places: set[int] = set()
        for n in argnums:
            if -len(counts) <= n < len(counts):
                first = sum(counts[: n % len(counts)])
                places.update(range(first, first + counts[n]))
        return frozenset(k for k, place in enumerate(self.positions) if place in places)

    @property
    def is_flat(self) -> bool:
        """Whether each argument is itself a leaf, and none is a container."""
        return not self.kwargs and len(self.args) == len(self.fixed) and all(
            isinstance(arg, Static) or arg is leaf
            for arg, leaf in zip(self.args, self.fixed, strict=True)
        )

    @property
    def orders(self) -> list[Any]:
        """For each leaf its order in memory: the strides of a dense copy that keeps this order.

        None for a number and for C order.
        """
        pairs = zip(self.leaves, self.kinds, strict=True)
        return [
            strides_of_value_copy(leaf) if kind in (NUMPY, TENSOR) else None for leaf, kind in pairs
        ]

    @property
    def as_numpy(self) -> bool:
        """Whether the results are to be arrays: no argument is a tensor."""
        return TENSOR not in self.kinds

    def rebuild(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the positional and keyword arguments with other leaves in place of `leaves`."""
        found = list(self.fixed)
        for position, leaf in zip(self.positions, leaves, strict=True):
            found[position] = leaf
        tree: Any = optree.tree_unflatten(self.structure, found)
        return tree


def _kind(leaf: Any) -> str | None:
    """Return the kind of a leaf of the arguments; None for a leaf that is a constant of the trace.
    """
    if isinstance(leaf, Tensor):
        return TENSOR
    if type(leaf) is np.ndarray:
        return NUMPY
    if type(leaf) is int and -MOST < leaf < MOST:
        return INTEGER
    if isinstance(leaf, np.generic):
        require_numbers(leaf.dtype)
        return NUMPY_INTEGER if leaf.dtype.kind in "iu" else SCALAR
    if isinstance(leaf, float):
        return FLOAT
    if isinstance(leaf, complex):
        return COMPLEX
    if isinstance(leaf, FIXED):
        return None
    if isinstance(leaf, np.ndarray) and is_operand(leaf):  # of another class
        require_plain(leaf)
        return NUMPY
    raise ArgTypeError(
        f"jit: an argument of type {type(leaf).__name__} is neither an array, a tensor, a number "
        f"nor a container of them; name it in static_argnums or static_argnames if the function "
        f"may be recorded once for each such value; {how_to_register(leaf)}"
    )


def _spec(leaf: Any, kind: str) -> tuple[Hashable, ...]:
    if kind == TENSOR:
        strides = strides_of_value_copy(leaf)
        return leaf.dtype, leaf.shape, leaf.requires_grad, leaf.spec.device, strides
    if kind == NUMPY:
        return leaf.dtype, leaf.shape, strides_of_value_copy(leaf)
    return (leaf.dtype, leaf.shape) if kind in (SCALAR, NUMPY_INTEGER) else ()


class Signature:
    """Which arguments of a function are static or donated, by position and by name."""

    def __init__(
        self,
        function: Callable[..., Any],
        static_argnums: int | Iterable[int],
        static_argnames: str | Iterable[str],
        donate_argnums: int | Iterable[int],
    ) -> None:
        parameters = _parameters(function)
        names = [p.name for p in parameters if p.kind in _BY_POSITION]
        self.static_names = frozenset(_strings(static_argnames))
        self.static_nums = frozenset(_integers(static_argnums, "static_argnums"))
        self.donated = frozenset(_integers(donate_argnums, "donate_argnums"))
        self.has_out = any(p.name == "out" for p in parameters)
        self._check(parameters, len(names))
        positions = {name: n for n, name in enumerate(names)}
        self.static_nums |= {positions[n] for n in self.static_names if n in positions}
        self.static_names |= {names[n] for n in self.static_nums if 0 <= n < len(names)}
        if self.static_nums & self.donated:
            raise ArgTypeError("jit: an argument cannot be both static and donated")

    def _check(self, parameters: Sequence[inspect.Parameter], count: int) -> None:
        """Raise for static or donated arguments that the function does not have; ``count`` of its
        parameters have a position."""
        names, kinds = [p.name for p in parameters], {p.kind for p in parameters}
        if parameters and inspect.Parameter.VAR_KEYWORD not in kinds:
            for name in sorted(self.static_names.difference(names)):
                raise ArgTypeError(
                    f"jit: static_argnames has {name!r}, the parameters are {', '.join(names)}"
                )
        if not parameters or inspect.Parameter.VAR_POSITIONAL in kinds:
            return
        nums = (("static_argnums", self.static_nums), ("donate_argnums", self.donated))
        for what, n in [(what, n) for what, group in nums for n in sorted(group)]:
            if not -count <= n < count:
                raise ArgTypeError(
                    f"jit: {what} has {n}, the function takes {count} positional arguments"
                )

    def split(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a call, with each static one wrapped as `Static`."""
        if not self.static_nums and not self.static_names:
            return tuple(args), kwargs
        nums = {n % len(args) if n < 0 and args else n for n in self.static_nums}
        given = [Static(a) if n in nums else a for n, a in enumerate(args)]
        named = {k: Static(v) if k in self.static_names else v for k, v in kwargs.items()}
        return tuple(given), named


class Static:
    """A static argument, wrapped so that flattening takes it for a leaf."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a function; none if they cannot be inspected."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _integers(given: Any, what: str) -> tuple[int, ...]:
    items = (given,) if isinstance(given, (int, np.integer)) else tuple(given)
    if any(not isinstance(n, (int, np.integer)) or isinstance(n, bool) for n in items):
        raise ArgTypeError(f"jit: {what} must be an int or a sequence of ints, got {given!r}")
    return tuple(int(n) for n in items)


def _strings(given: Any) -> tuple[str, ...]:
    items = (given,) if isinstance(given, str) else tuple(given)
    if any(not isinstance(name, str) for name in items):
        raise ArgTypeError(
            f"jit: static_argnames must be a str or a sequence of str, got {given!r}"
        )
    return items
