"""Tensor's arithmetic and methods, bound to the functions of this package, and the methods of
functions that are universal in NumPy."""

from functools import partial

from .._declare import door
from .._tensor import Tensor
from .arithmetic import Arithmetic
from .folding import methods_of
from .methods import Methods
from .operands import as_tensor
from .refused import OfTorch
from .selected import Selected
from .tables import UFUNCS


def bind() -> None:
    """Give Tensor its operators and methods, and functions theirs; what is missing fails the
    import."""
    door.chosen, door.sequence = Selected, as_tensor
    for source in (Arithmetic, Methods, OfTorch):
        for name, member in vars(source).items():
            if callable(member) or isinstance(member, property):
                setattr(Tensor, name, member)
    for ufunc, own in UFUNCS.items():
        for name, method in methods_of(ufunc).items():
            setattr(own, name, partial(method, own))
