"""Loops over index arrays, compiled as kernels and kept in the cache of kernels on disk."""

from collections.abc import Callable, Sequence

import numpy as np

from ..engine.graph.runtime import runtime
from ..ir.kernel_spec import LoopSpec


class Compiled:
    """A function that reads arrays and numbers and writes arrays, compiled at its first call.

    The function takes inputs and then outputs, as with ``numba.guvectorize``; its signature is a
    text such as ``"(n),(m)->(k)"``. A dimension that no input has is taken from an output.
    """

    def __init__(self, function: Callable[..., None], signature: str) -> None:
        self.function, self.signature = function, signature
        self.__doc__ = function.__doc__
        self._ufuncs: dict[tuple[np.dtype, ...], np.ufunc] = {}

    def __call__(self, *inputs: np.ndarray | int, out: Sequence[np.ndarray]) -> None:
        """Call the function on contiguous inputs; ``out`` are the arrays to which it writes."""
        arrays = [np.asarray(x) for x in inputs]
        dtypes = tuple([a.dtype for a in (*arrays, *out)])
        ufunc = self._ufuncs.get(dtypes)
        if ufunc is None:
            kinds = dtypes[: len(arrays)], dtypes[len(arrays) :]
            spec = LoopSpec(self.function.__name__, self.function, self.signature, *kinds)
            ufunc = self._ufuncs[dtypes] = runtime.target.kernel(spec).ufunc
        ufunc(*arrays, out=tuple(out))


def compiled(signature: str) -> Callable[[Callable[..., None]], Compiled]:
    """Return a decorator that turns a function with this signature into a `Compiled` one."""
    return lambda function: Compiled(function, signature)
