"""Attributes of arrays, and of torch's tensors, that tensors do not have: what to write instead."""

import sys
from typing import Any

import numpy as np

from ...engine.capture import escapes
from ...names.foreign_names import METHODS


def refused(name: str, instead: str) -> Any:
    """Return an attribute that says what to write."""

    def refuse(self: Any, *value: Any) -> Any:
        raise AttributeError(f"a tensor has no {name}: {instead}")

    stars = instead.replace("*", "\\*")  # which are emphasis in a docstring
    return property(refuse, refuse, doc=f"Refused: {stars}.")


class OfTorch:
    """What tensors of torch have beside what those of numgrad have."""

    __slots__ = ()


for _name, _instead in METHODS.items():
    setattr(OfTorch, _name, refused(_name, f"write {_instead}"))


class OfLinearOperators:
    """What SciPy's linear operators have, for which its solvers look."""

    __slots__ = ()

    @property
    def matvec(self: Any) -> Any:
        """Refused: it is ``A @ x``."""
        if sys._getframe(1).f_globals.get("__name__", "").startswith("scipy.sparse.linalg"):
            escapes.refuse_escape(self, "a linear operator", "Write A @ x for its products.")
        raise AttributeError("a tensor has no matvec: write A @ x")


def no_view(dtype: Any, own: np.dtype) -> TypeError:
    """Return the error for a view of the bytes of a tensor as another dtype."""
    parts = "np.stack([t.real, t.imag], -1).reshape(*t.shape[:-1], -1) for view(float)"
    if own.kind != "c":
        parts = "t[..., ::2] + 1j * t[..., 1::2] for view(complex)"
    return TypeError(
        f"view({dtype!r}) of a tensor of {own}: bytes are not read as another dtype. Write "
        f"t.astype(dtype) to convert, t.reshape(shape) for another shape, {parts}."
    )
