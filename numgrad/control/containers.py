"""Containers of the tensors that a loop carries and yields, with the specs of their leaves."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._declare.dtypes import require_plain
from .._errors import ArgTypeError, DeviceError
from .._tensor import Tensor, constant
from ..containers import optree_calls as optree
from ..containers.registered_classes import VARIABLES
from ..containers.unknown_leaves import how_to_register
from ..engine.graph.value import CPU

Spec = tuple[tuple[int, ...], np.dtype]
NUMBERS = (bool, int, float, complex)


class Tree:
    """A container of arrays, taken apart.

    Parameters
    ----------
    tree : container of array_like
    what : str
        The name of the container in errors.

    Attributes
    ----------
    leaves : list
    weak : list of bool
        Whether each leaf is a number of Python, which takes another dtype where that is asked for.
    """

    def __init__(self, tree: Any, what: str) -> None:
        options: Any = {"is_leaf": _is_leaf, "namespace": VARIABLES}
        self.what = what
        self.leaves, self.structure = optree.tree_flatten(tree, **options)
        self._paths = lambda: optree.tree_paths(tree, **options)
        for n, leaf in enumerate(self.leaves):
            if not _is_leaf(leaf):
                raise ArgTypeError(
                    f"{self.place(n)} is a {type(leaf).__name__}, expected an array, a tensor or a "
                    f"number; {how_to_register(leaf)}"
                )
        self.weak = [type(leaf) in NUMBERS for leaf in self.leaves]

    def place(self, number: int) -> str:
        """Return the name of the container and the path to a leaf in it, for errors."""
        keys = self._paths()[number]
        parts = [f".{k}" if isinstance(k, str) and k.isidentifier() else f"[{k!r}]" for k in keys]
        return f"{self.what}{' at ' if parts else ''}{''.join(parts)}"

    def require_here(self) -> None:
        """Raise an error if a leaf is on a device."""
        for n, leaf in enumerate(self.leaves):
            if isinstance(leaf, Tensor) and leaf.spec.device != CPU:
                raise DeviceError(
                    f"{self.place(n)} is on {leaf.spec.device}, and initial value problems are "
                    f"solved on the CPU: write x.cpu()"
                )

    def named(self) -> Iterator[tuple[Any, Callable[[], str]]]:
        """Yield each leaf with a function that returns its place."""
        return ((leaf, partial(self.place, n)) for n, leaf in enumerate(self.leaves))

    def specs(self) -> list[Spec]:
        """Return the shape and dtype of each leaf."""
        return [
            (leaf.shape, leaf.dtype) if isinstance(leaf, Tensor)
            else (np.shape(leaf), np.asarray(leaf).dtype)
            for leaf in self.leaves
        ]

    def tensors(self, dtypes: Sequence[np.dtype] | None = None) -> list[Any]:
        """Return the leaves as tensors; numbers of Python have the given dtypes."""
        given = dtypes or [dtype for _, dtype in self.specs()]
        return [
            leaf if isinstance(leaf, Tensor) else _tensor(leaf, dtype, weak)
            for leaf, dtype, weak in zip(self.leaves, given, self.weak, strict=True)
        ]

    def rebuild(self, leaves: Sequence[Any]) -> Any:
        """Return the container with other leaves."""
        return optree.tree_unflatten(self.structure, leaves)


def results_of(tree: Any, what: str) -> tuple[list[Tensor], Tree]:
    """Return the leaves of a result as tensors, and the result taken apart."""
    found = Tree(tree, what)
    return found.tensors(), found


def _tensor(leaf: Any, dtype: np.dtype, is_weak: bool) -> Tensor:
    if is_weak:
        return Tensor(np.asarray(leaf, dtype))
    require_plain(leaf)
    return constant(leaf)


def _is_leaf(item: Any) -> bool:
    return isinstance(item, (Tensor, np.ndarray, np.generic, *NUMBERS))


def line_of(value: Tensor, function: Callable[..., Any]) -> str:
    """Return the line of user code that made a result; if that is unknown, the line of the
    function."""
    site = getattr(value.expr, "site", None)
    if site is not None and site.code is not None:
        return str(site)
    code = getattr(function, "__code__", None)
    return "" if code is None else f"{code.co_filename}, line {code.co_firstlineno}"
