"""Tensor's arithmetic and methods, bound to the functions of this package."""

from .._tensor import Tensor
from .arithmetic import Arithmetic
from .methods import Methods


def bind() -> None:
    """Give Tensor its operators and methods; a function that is missing fails the import."""
    for source in (Arithmetic, Methods):
        for name, member in vars(source).items():
            if callable(member) or isinstance(member, property):
                setattr(Tensor, name, member)
