"""Operations that sparse arrays of tensors refuse, with advice in the errors.

The errors depend on who asks: a function of SciPy, or the user's code.
"""

import sys
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from ..._errors import ArgTypeError
from ...engine.capture.advice import advice

_OPERATIONS = frozenset(
    ("_matmul_dispatch", "multiply", "_multiply_2d_with_broadcasting", "_divide", "__mul__")
)
_OTHERWISE = (
    "write A @ x for products, A.toarray() for the dense one, A.to_scipy() for SciPy's, which has "
    "no gradient, and for solutions ng.interop.scipy.spsolve(A, b), splu(A) or eigsh(A, k)"
)
_WRITE = (
    "a sparse array of ng.sparse is never written: add what is to change, A + ng.sparse.coo(...), "
    "or take rows away with A * (1 - is_fixed)[:, None] + ng.sparse.diags(is_fixed), for is_fixed "
    "a vector of 0.0 and 1.0"
)
_WRITING = frozenset(("__setitem__", "resize", "setdiag", "todok", "tolil"))
_READING = ("matvec", "matmat", "ravel", "rmatvec", "_matvec")


def as_ndarray() -> np.ndarray:
    """Answer the request of NumPy or SciPy to see a sparse array as a dense one.

    An operation of SciPy, such as a product, gets an object array, so that it leaves the operation
    to the sparse array of numgrad. Any other request is an error.
    """
    caller = sys._getframe(2)
    if _is_of_scipy(caller) and caller.f_code.co_name in _OPERATIONS:
        return np.empty((), object)
    raise ArgTypeError(_refused())


def missing(name: str) -> NoReturn:
    """Raise an error for an attribute that a `SparseArray` does not have, with what to write."""
    if name in _READING and _is_of_scipy(sys._getframe(2)):
        raise ArgTypeError(_refused())
    raise AttributeError(f"a sparse array of ng.sparse has no attribute {name!r}{_instead(name)}")


def refuse_writing(*_: Any) -> NoReturn:
    """Raise an error for an operation that would write to a sparse array."""
    raise TypeError(_WRITE)


def _instead(name: str) -> str:
    if name.startswith("_"):
        return ""
    if name in _WRITING:
        return f": {_WRITE}"
    from scipy.sparse import csr_array

    if not hasattr(csr_array, name):
        return ""
    if hasattr(np, name) and isinstance(getattr(np, name), np.ufunc):
        return f": write A.with_data(np.{name}(A.data)), which keeps the zeros, or A.toarray()"
    return f": {_OTHERWISE}"


def _refused() -> str:
    found = advice()
    is_told = found is not None and found.name.startswith("scipy.sparse")
    if found is None or not is_told or "ng.Function" in found.write:
        return f"a sparse array of ng.sparse is no dense one and none of SciPy's: {_OTHERWISE}"
    return (
        f"{found.typed}, at {found.site}, takes no sparse array of ng.sparse: write {found.write}."
        f"{found.also}"
    )


def _is_of_scipy(caller: FrameType) -> bool:
    return caller.f_globals.get("__name__", "").startswith("scipy.sparse.")
