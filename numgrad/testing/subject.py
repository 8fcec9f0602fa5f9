"""The subject of a check: a function of nested inputs, seen as a function of a list of arrays."""

from __future__ import annotations  # ``numpy.random`` is imported when it is used

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._autograd import enable_grad
from .._errors import ArgTypeError, DtypeError
from .._tensor import Tensor
from ..engine.graph.value import ForeignStorage
from ..func.gradients import pull
from ..func.pytree import flatten, output_leaves

Arrays = Sequence[np.ndarray]


class Subject:
    """A function and the point where it is checked.

    The variables are the leaves of the inputs that are differentiated: the tensors that require
    grad or, if there is none, every floating tensor and array. All other inputs are passed on as
    they are.

    Attributes
    ----------
    arrays : list of ndarray
        The values of the variables, as the caller gave them, without a copy.
    names : list of str
        The names of the variables in messages.
    """

    def __init__(self, function: Callable[..., Any], inputs: Any, what: str = "gradcheck") -> None:
        self.function = function
        self.what = what
        args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
        self.leaves, self._rebuild = flatten(args)
        self.positions = _variables(self.leaves)
        if not self.positions:
            raise ValueError(
                f"{what}: no input is a floating point or complex tensor, so nothing can be checked"
            )
        self.arrays = [_array(self.leaves[n]) for n in self.positions]
        names = _names(args)
        self.names = [names[n] for n in self.positions]
        for name, array in zip(self.names, self.arrays, strict=True):
            _require_precision(array.dtype, name, what)

    def args(self, variables: Sequence[Any]) -> Any:
        """Return the arguments of the function, with given values in place of the variables."""
        leaves = list(self.leaves)
        for position, value in zip(self.positions, variables, strict=True):
            leaves[position] = value
        return self._rebuild(leaves)

    def call(self, arrays: Arrays | None = None) -> tuple[list[Tensor], list[Tensor]]:
        """Call the function at ``arrays``; return tensors of the variables, and the outputs.

        The tensors are new and require grad; outputs that are not floating are left out.
        """
        arrays = self.arrays if arrays is None else arrays
        variables = [Tensor(a, True, ForeignStorage()) for a in arrays]
        with enable_grad():
            result = self.function(*self.args(variables))
        outputs = [t for t in output_leaves(result, self.what)[0] if t.dtype.kind in "fc"]
        if not outputs:
            raise ArgTypeError(f"{self.what}: the function has no floating point or complex output")
        return variables, outputs

    def values(self, arrays: Arrays) -> list[np.ndarray]:
        """Return the floating outputs of the function at ``arrays``, as arrays."""
        return [value(o) for o in self.call(arrays)[1]]

    def gradients(
        self, seeds: Arrays, arrays: Arrays | None = None, create_graph: bool = False
    ) -> list[np.ndarray]:
        """Return the vector-Jacobian products for ``seeds``, one array for each variable.

        A variable on which no output depends has zeros.
        """
        variables, outputs = self.call(arrays)
        return [value(g) for g in pull(outputs, variables, seeds, create_graph)]


def value(tensor: Tensor) -> np.ndarray:
    """Return the array of a tensor, which may require grad."""
    return tensor.detach().numpy()


def random_like(rng: np.random.Generator, array: Any, lead: tuple[int, ...] = ()) -> np.ndarray:
    """Return random numbers like an array, of absolute values from 1/2 to 1, with axes in front.

    No number is small, so that a projection shows an error in any element.
    """
    dtype = np.dtype(array.dtype)
    shape = (*lead, *array.shape)

    def signed() -> np.ndarray:
        return rng.uniform(0.5, 1.0, shape) * rng.choice([-1.0, 1.0], shape)

    return np.asarray(signed() + 1j * signed() if dtype.kind == "c" else signed()).astype(dtype)


def _variables(leaves: Sequence[Any]) -> list[int]:
    asked = [n for n, leaf in enumerate(leaves) if isinstance(leaf, Tensor) and leaf.requires_grad]
    if asked:
        return asked
    return [
        n
        for n, leaf in enumerate(leaves)
        if isinstance(leaf, (Tensor, np.ndarray, np.floating, np.complexfloating))
        and leaf.dtype.kind in "fc"
    ]


def _array(leaf: Any) -> np.ndarray:
    return value(leaf) if isinstance(leaf, Tensor) else np.asarray(leaf)


def _names(args: tuple[Any, ...]) -> list[str]:
    """Return a name for each leaf: ``input 0``, or ``input 0['a'][1]`` inside containers."""
    names: list[str] = []
    for n, arg in enumerate(args):
        names += [f"input {n}{path}" for path in _paths(arg)]
    return names


def _paths(tree: Any) -> list[str]:
    leaves, rebuild = flatten(tree)
    paths: list[str] = [""] * len(leaves)
    _walk(rebuild(list(range(len(leaves)))), "", paths)
    return paths


def _walk(tree: Any, path: str, paths: list[str]) -> None:
    if isinstance(tree, dict):
        for key, item in tree.items():
            _walk(item, f"{path}[{key!r}]", paths)
    elif isinstance(tree, (tuple, list)):
        for n, item in enumerate(tree):
            _walk(item, f"{path}[{n}]", paths)
    elif isinstance(tree, int) and not isinstance(tree, bool):
        paths[tree] = path


def _require_precision(dtype: np.dtype, name: str, what: str) -> None:
    if dtype == np.float16:
        raise DtypeError(
            f"{what}: {name} is float16, too coarse for finite differences; use float64"
        )
