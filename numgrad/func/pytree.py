"""Flatten and rebuild nested containers of arrays (pytrees), and make variables of their leaves."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds

from .._declare import registry
from .._declare.dtypes import numbers, require_plain
from .._declare.user.loops import loops
from .._errors import ArgTypeError, DtypeError
from .._tensor import Tensor, constant
from ..containers.registered_classes import VARIABLES, has_fields
from ..containers.unknown_leaves import how_to_register
from ..engine.graph.traversal import reaches_outside
from ..engine.graph.value import CPU, next_number
from ..engine.lower.output_pool import copied
from ..engine.record.apply import mode, other_modes
from ..engine.record.guards import guarded
from ..functions.array.operands import as_scalar, plain
from ..functions.array.pandas_operands import unframed
from ..functions.indexing.masked import Selected
from ..ir.dtypes import FLOATING

Rebuild = Callable[[Sequence[Any]], Any]

_USUAL, _FIRST = frozenset((np.ndarray, Tensor)), itemgetter(0)
_LEAVES = _USUAL | {bool, int, float, complex}


def flatten(tree: Any) -> tuple[list[Any], Rebuild]:
    """Return the leaves of a nested container and the function that rebuilds it from other
    leaves."""
    if type(tree) in _USUAL or _is_leaf(tree):
        return [tree], _FIRST
    if type(tree) is tuple and _are_leaves(tree):
        return list(tree), tuple
    from ..containers import optree_calls as optree  # most calls need no general containers

    leaves, structure = optree.tree_flatten(tree, is_leaf=_is_leaf, namespace=VARIABLES)
    return list(leaves), lambda new: optree.tree_unflatten(structure, new)


def places(tree: Any) -> list[tuple[Any, ...]]:
    """Return the place of each leaf of a nested container: the keys and indices that lead to it."""
    if type(tree) in _USUAL or _is_leaf(tree):
        return [()]
    if type(tree) is tuple and _are_leaves(tree):
        return [(n,) for n in range(len(tree))]
    from ..containers import optree_calls as optree

    return list(optree.tree_paths(tree, is_leaf=_is_leaf, namespace=VARIABLES))


def _is_leaf(item: Any) -> bool:
    return isinstance(item, (Tensor, np.ndarray, np.generic, bool, int, float, complex))


def _are_leaves(items: Sequence[Any]) -> bool:
    return _LEAVES.issuperset(map(type, items)) or all(map(_is_leaf, items))


def holds_tensors(tree: Any) -> bool:
    """Whether a leaf of a nested container is a tensor."""
    return any(isinstance(leaf, Tensor) for leaf in flatten(tree)[0])


class Variables:
    """The differentiated arguments of a call, as new values in the graph, so that transforms nest.

    An argument with a graph outside of the transform stays connected to that graph. A result stays
    connected, too, if it depends on anything outside that requires grad: an argument, or a
    closed-over tensor.
    """

    __slots__ = (
        "_given", "_inside", "_memory", "argnums", "args", "as_numpy", "first", "groups", "last",
        "leaves", "single", "what",
    )  # fmt: skip

    def __init__(self, args: Sequence[Any], argnums: int | Sequence[int], what: str) -> None:
        self.what = what
        self._given = args  # the leaves as the caller has them
        self.args = list(args)
        self.first = next_number()
        self.single = isinstance(argnums, (int, np.integer))
        numbers: Any = (argnums,) if self.single else argnums
        count = len(args)
        self.argnums = [
            n if type(n) is int and 0 <= n < count else _position(n, count, what) for n in numbers
        ]
        self.leaves: list[Tensor] = []
        self._memory: _Memory | None = None  # the memory of the given leaves
        self._inside: Sequence[Tensor] = ()  # values known to depend on nothing outside
        self.last: int | None = None  # nodes with higher numbers are outside
        # The number of leaves of each container, and what rebuilds it; None for single leaves.
        self.groups: list[tuple[int, Rebuild]] | None = None
        if _LEAVES.issuperset(types := [*map(type, args)]):
            has_tensors = Tensor in types
            self._add_leaves(args)
        else:
            flat = [flatten(arg) for arg in args]
            self._given = [leaf for leaves, _ in flat for leaf in leaves]
            has_tensors = any([isinstance(leaf, Tensor) for leaf in self._given])  # noqa: C419
            self._add_containers(args, flat)
        self.as_numpy = not has_tensors and (not other_modes or mode.capture is None)

    def _add_leaves(self, args: Sequence[Any]) -> None:
        """Make the variables of arguments each of which is a single leaf."""
        for n in self.argnums:
            leaf = self.args[n]  # an argument that is named twice gets a second copy
            variable = self.args[n] = _variable_of(leaf, self.what, n, args[n], 0)
            self.leaves.append(variable)

    def _add_containers(self, args: Sequence[Any], flat: list[tuple[list[Any], Rebuild]]) -> None:
        """Make the variables of any arguments, of which ``flat`` has the leaves."""
        self.groups = []
        for n in self.argnums:
            leaves, rebuild = flat[n]
            fresh = [_variable_of(leaf, self.what, n, args[n], k) for k, leaf in enumerate(leaves)]
            flat[n] = fresh, rebuild  # an argument that is named twice gets a second copy
            self.leaves += fresh
            self.groups.append((len(fresh), rebuild))
            self.args[n] = rebuild(fresh)

    def rebuild(self, results: Sequence[Any]) -> Any:
        """Arrange one result per leaf in the containers of the differentiated arguments.

        Return the container of the one argument for an integer ``argnums``, else a tuple of
        containers.
        """
        if self.groups is None:
            return results[0] if self.single else tuple(results)
        trees, start = [], 0
        for count, rebuild in self.groups:
            trees.append(rebuild(results[start : start + count]))
            start += count
        return trees[0] if self.single else tuple(trees)

    def by_output(self, blocks: Sequence[Any]) -> list[Any]:
        """Return, for each output, its blocks in the containers of the arguments.

        ``blocks`` has one block for each pair of output and leaf, output by output.
        """
        width = len(self.leaves)
        return [self.rebuild(blocks[n : n + width]) for n in range(0, len(blocks), width)]

    def outer_graph(self, values: Sequence[Tensor]) -> bool:
        """Return whether operations that read ``values`` must be recorded in the graph outside.

        Operations must be recorded if gradients are recorded outside, and a differentiated argument
        or one of ``values`` is connected to that graph. Otherwise note that ``values`` depend on
        nothing outside.
        """
        if mode.grad and reaches_outside([*self.leaves, *values], self.first, self.last):
            return True
        self.mark_inside(values)
        return False

    def mark_inside(self, values: Sequence[Tensor]) -> None:
        """Note that values depend on nothing outside of the transform that requires grad."""
        self._inside = values

    def deliver(self, value: Any, as_numpy: bool | None = None) -> Any:
        """Return a result in the form in which the caller gets it.

        The form is a tensor in the graph outside if the result depends on anything there, an array
        if ``as_numpy`` (by default: if no argument is a tensor), or else a tensor without a graph.
        A result on a device is always a tensor. Like the results of captured functions, the result
        shares no memory with an argument.
        """
        if isinstance(value, np.ndarray):
            return value.copy() if self._is_shared(value) else value
        if not isinstance(value, Tensor):
            return value
        if value.requires_grad:
            is_inside = any(value is known for known in self._inside)
            if mode.grad and not is_inside and reaches_outside([value], self.first, self.last):
                return registry["copy"](value) if self._is_shared(value) else value
        as_numpy = self.as_numpy if as_numpy is None else as_numpy
        if as_numpy and value.spec.device == CPU:
            alone: Any = value.detached() if value.requires_grad else value
            return alone.numpy(copy=True)
        value = value.detach() if value.requires_grad else value
        return value.clone() if self._is_shared(value) else value

    def deliver_new(self, arrays: list[np.ndarray]) -> list[Any]:
        """Return results that are known to be new and to have no graph, as arrays or tensors.

        Unlike `deliver`, the method has nothing to check and nothing to copy.
        """
        return arrays if self.as_numpy else list(map(Tensor, arrays))

    def deliver_own(self, values: Sequence[Tensor], as_numpy: bool | None = None) -> list[Any]:
        """Return results of a pass, each of which has an array of its own, as `deliver` does.

        An array that lies in memory as a new one does is not copied.
        """
        as_numpy = self.as_numpy if as_numpy is None else as_numpy
        found: list[Any] = []
        for value in values:
            if value.requires_grad:
                found.append(self.deliver(value, as_numpy))
            elif as_numpy and type(value.array) is np.ndarray and value.array.flags.carray:
                found.append(value.array)
            else:
                found.append(self.deliver(value, as_numpy))
        return found

    def _is_shared(self, value: Any) -> bool:
        """Whether a result shares memory with an argument, so that a write into one changes both.

        For example, a function may return a closed-over array of which an argument is a view.
        """
        if self._memory is None:
            self._memory = _Memory(self._given)
        return self._memory.holds(value)

    def deliver_tree(self, tree: Any) -> Any:
        """Apply `deliver` to every leaf of a container; anything else is returned as it is."""
        try:
            leaves, rebuild = flatten(tree)
        except ArgTypeError:
            return tree
        return rebuild([self.deliver(leaf) for leaf in leaves])


class _Memory:
    """The memory of the given leaves, sorted so that many results are quickly tested for overlap.
    """

    def __init__(self, leaves: Sequence[Any]) -> None:
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        self._arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
        self._tensors, self._storages = tensors, {id(t.storage): t.storage for t in tensors}

    @cached_property
    def _of_arrays(self) -> "_Ranges":
        return _Ranges(self._arrays)

    @cached_property
    def _of_all(self) -> "_Ranges":
        arrays = [tensor.array for tensor in self._tensors]
        return _Ranges([*self._arrays, *[a for a in arrays if isinstance(a, np.ndarray)]])

    def holds(self, value: Any) -> bool:
        """Whether a tensor or an array shares memory with a leaf."""
        if not isinstance(value, Tensor):
            return self._of_all.meet(value)
        if id(value.storage) in self._storages:
            return True
        array = value.array if self._arrays else None
        return isinstance(array, np.ndarray) and self._of_arrays.meet(array)


class _Ranges:
    """The address ranges of arrays, in ascending order."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        bounds = sorted([byte_bounds(array) for array in arrays if array.size])
        self._lows = [low for low, _ in bounds]
        self._highs = [*accumulate([high for _, high in bounds], max)]

    def meet(self, array: np.ndarray) -> bool:
        """Whether the address range of ``array`` overlaps one of these ranges."""
        if not (self._lows and array.size):
            return False
        low, high = byte_bounds(array)
        count = bisect_left(self._lows, high)
        return count > 0 and self._highs[count - 1] > low


def _position(n: int, count: int, what: str) -> int:
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool):
        raise ArgTypeError(f"{what}: argnums must be an int or a sequence of ints, got {n!r}")
    if not -count <= n < count:
        raise ValueError(
            f"{what}: argnums={n} but the function was called with {count} positional arguments"
        )
    return int(n) % count


_CONSTANT = (
    "; a field that is no parameter, such as indices, is marked so: "
    "dataclasses.field(metadata={'static': True})"
)


class _Where(NamedTuple):
    """The place of a leaf among the arguments of a transform, for errors."""

    what: str
    position: int
    argument: Any
    number: int

    def __str__(self) -> str:
        keys = places(self.argument)[self.number]
        parts = [f".{k}" if isinstance(k, str) and k.isidentifier() else f"[{k!r}]" for k in keys]
        at = f" at {''.join(parts)}" if parts else ""
        return f"{self.what}: argument {self.position}{at}"


def _variable_of(leaf: Any, *place: Any) -> Tensor:
    """Return the variable that stands for a leaf, for an array of floats a tensor with a copy.

    ``place`` has the fields of `_Where`.
    """
    if type(leaf) is np.ndarray and leaf.dtype in FLOATING:
        return Tensor.new_variable(copied(guarded(leaf)))
    return _variable(leaf, _Where(*place))


def _variable(leaf: Any, where: _Where) -> Tensor:
    if isinstance(leaf, Tensor):
        _require_floating(leaf.dtype, where)
        if leaf.requires_grad and mode.grad:
            return registry["copy"](leaf)
        variable: Any = plain(leaf).detached().as_variable()
        return as_scalar(variable) if leaf.is_scalar else variable
    if not _is_leaf(leaf):
        raise ArgTypeError(
            f"{where} has a leaf of type {type(leaf).__name__}, expected an array; "
            f"{how_to_register(leaf)}"
        )
    require_plain(guarded(leaf))
    array = numbers(copied(leaf) if type(leaf) is np.ndarray else np.array(leaf))
    _require_floating(array.dtype, where)
    variable = Tensor(array).as_variable()
    return variable if isinstance(leaf, np.ndarray) else as_scalar(variable)


def require_function(function: Any, what: str) -> Any:
    """Return the function to be transformed; raise for an object that is not callable.

    For a function that Numba has compiled, return the operation with derivatives made of it.
    """
    if not callable(function):
        raise ArgTypeError(f"{what}: expected a function, got {type(function).__name__}")
    return loops.with_derivatives(function) if hasattr(function, "py_func") else function


def _require_floating(dtype: np.dtype, where: _Where) -> None:
    if dtype.kind not in "fc":
        raise DtypeError(
            f"{where} has dtype {dtype}; derivatives exist for floating point and complex "
            f"arguments only (write 1.0 instead of 1, or convert with .astype(float))"
            f"{_CONSTANT if has_fields(type(where.argument)) else ''}"
        )


def output_leaves(tree: Any, what: str) -> tuple[list[Tensor], Rebuild]:
    """Return the outputs of a function as tensors, and a function that rebuilds their containers.

    Numbers and arrays among the outputs become constants, which are tensors without a graph.
    """
    if type(tree) is Tensor:
        return [tree], _FIRST
    leaves, rebuild = flatten(tree)
    tensors = []
    for given in leaves:
        leaf = given if _is_leaf(given) else unframed(given)
        if isinstance(leaf, Selected):
            leaf.refuse()
        if not _is_leaf(leaf):
            raise ArgTypeError(
                f"{what}: the function returned a {type(leaf).__name__}, expected tensors; "
                f"{how_to_register(leaf)}"
            )
        tensors.append(leaf if isinstance(leaf, Tensor) else constant(leaf))
    return tensors, rebuild
