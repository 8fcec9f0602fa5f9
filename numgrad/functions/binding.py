"""Tensor's arithmetic and methods, bound to the functions of this package."""

from .._declare import registry
from .._tensor import Tensor
from . import text


def bind() -> None:
    """Give Tensor its operators and methods."""
    Tensor.__repr__ = text.represent
    try:
        from .arithmetic import Arithmetic
        from .methods import Methods
    except ImportError:
        _bind_some()
        return
    for source in (Arithmetic, Methods):
        for name, member in vars(source).items():
            if callable(member) or isinstance(member, property):
                setattr(Tensor, name, member)


def _bind_some() -> None:
    r = registry
    Tensor.__add__ = lambda a, b: r["add"](a, b)
    Tensor.__radd__ = lambda a, b: r["add"](b, a)
    Tensor.__mul__ = lambda a, b: r["multiply"](a, b)
    Tensor.__rmul__ = lambda a, b: r["multiply"](b, a)
    Tensor.__sub__ = lambda a, b: r["subtract"](a, b)
    Tensor.__rsub__ = lambda a, b: r["subtract"](b, a)
    Tensor.__truediv__ = lambda a, b: r["divide"](a, b)
    Tensor.__rtruediv__ = lambda a, b: r["divide"](b, a)
    Tensor.__neg__ = lambda a: r["negative"](a)
    Tensor.sum = lambda a: r["sum"](a, axes=tuple(range(-a.ndim, 0)))
