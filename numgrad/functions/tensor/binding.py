"""Tensor's arithmetic and methods, bound to the functions of this package, and the methods of
functions that are universal in NumPy."""

from functools import partial

from ..._tensor import Tensor
from ...engine.graph.runtime import runtime
from ..array.operands import as_tensor
from ..elementwise.ufunc_methods import methods_of
from .methods import Methods
from .numpy_table import UFUNCS
from .python_operators import Arithmetic
from .refused_methods import OfLinearOperators, OfTorch


def bind() -> None:
    """Give Tensor its operators and methods, and functions theirs; what is missing fails the
    import."""
    runtime.of_sequence = as_tensor
    for source in (Arithmetic, Methods, OfTorch, OfLinearOperators):
        for name, member in vars(source).items():
            if callable(member) or isinstance(member, property):
                setattr(Tensor, name, member)
    for ufunc, own in UFUNCS.items():
        for name, method in methods_of(ufunc).items():
            setattr(own, name, partial(method, own))
