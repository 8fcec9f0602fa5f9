"""Functions of square matrices, such as the exponential, and Sylvester's equation.

The derivative of a function ``f`` at ``A`` in the direction ``E`` is the upper right block of
``f([[A, E], [0, A]])``. The derivative of this block is found in the same way, so derivatives of
any order exist (Mathias 1996). The derivative of the square root solves Sylvester's equation.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..._declare import HostOperator, constant, host_operator
from ...ir.broadcasting import broadcast_shapes
from ...process.fork_locks import fork_safe_lock
from ..elementwise.arithmetic import add, negative
from ..shape.indexing import index
from ..shape.joining import concat
from .matmul import adjoint, matmul

_drawing = fork_safe_lock()


@contextmanager
def _own_draws() -> Iterator[None]:
    """Draw from another generator inside the block, the same at each time, where NumPy's global one
    is asked.

    SciPy estimates norms of powers of a matrix from random vectors. Without this block the same
    matrix would have logarithms with other last bits, and a program other draws after them.
    """
    random: Any = np.random  # whose stubs do not have all of its functions
    with _drawing:
        users, state = random.get_bit_generator(), random.get_state(legacy=False)
        random.set_bit_generator(np.random.PCG64(0))
        try:
            yield
        finally:
            random.set_bit_generator(users)
            random.set_state(state)  # with the normal number that is kept


def _each(name: str, *arrays: np.ndarray) -> np.ndarray:
    """Return what a function of ``scipy.linalg`` makes of each matrix, in double precision.

    The results have the dtype of the last of ``arrays``.
    """
    import scipy.linalg

    function = getattr(scipy.linalg, name)
    loop = broadcast_shapes(*[a.shape[:-2] for a in arrays])
    whole = [np.broadcast_to(a, (*loop, *a.shape[-2:])) for a in arrays]
    result = np.empty(whole[-1].shape, whole[-1].dtype)
    for place in np.ndindex(loop):
        with _own_draws():
            found = function(*[a[place].astype(np.result_type(a, np.float64)) for a in whole])
        if np.iscomplexobj(found) and not np.iscomplexobj(result):
            raise np.linalg.LinAlgError("the result is complex; give a complex matrix")
        result[place] = found
    return result


def _exponential(a: np.ndarray) -> np.ndarray:
    import scipy.linalg

    return scipy.linalg.expm(a)


# Functions with a power series --------------------------------------------------------------------


def _of_blocks(function: Callable[..., np.ndarray], a: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return the derivative of a function of matrices at ``a`` in the direction ``e``.

    The direction is first scaled to the size 1. The function scales the whole block matrix down
    until it is small, so a large ``e`` would cost ``a`` its digits.
    """
    n, loop = a.shape[-1], broadcast_shapes(a.shape[:-2], e.shape[:-2])
    size = np.abs(e).max(axis=(-2, -1), initial=0.0, keepdims=True)
    size = np.where(size > 0, size, 1)
    both = np.zeros((*loop, 2 * n, 2 * n), a.dtype)
    both[..., :n, :n] = both[..., n:, n:] = a
    both[..., :n, n:] = e / size
    return function(both)[..., :n, n:] * size


def _square(top: tuple[Any, Any], bottom: tuple[Any, Any]) -> Any:
    return concat(concat(*top, axis=-1), concat(*bottom, axis=-1), axis=-2)


def _matrix_function(name: str, function: Callable[..., np.ndarray]) -> HostOperator:
    """Return a new operator that applies a function of square matrices.

    A second operator, which computes the derivative in a direction, is declared after the first.
    """
    operator = HostOperator(function, "(n,n)->(n,n)", name=name)
    of_blocks = partial(_of_blocks, function)
    of_blocks.__doc__ = f"Return the derivative of {name} at a matrix in the direction of another."
    slope = HostOperator(of_blocks, "(n,n),(n,n)->(n,n)", name=f"{name}_derivative")
    operator.reads(lambda needs: (True, False))
    slope.reads(lambda needs: (True, needs[0], False))

    @operator.pullback
    def pullback(context, g):
        return slope(adjoint(context.input(0)), g, **context.static)

    @slope.pullback
    def slope_pullback(context, g):
        a, ga, n = context.input(0), None, context.input_specs[0].shape[-1]
        zero = constant(np.zeros((n, n), a.dtype))
        if context.wanted[0]:
            both = _square((a, context.input(1)), (zero, a))
            corner = _square((zero, g), (zero, zero))
            found = slope(adjoint(both), corner, **context.static)
            first, last = (0, n, None), (n, None, None)
            ga = add(index(found, key=(first, first)), index(found, key=(last, last)))
        return ga, slope(adjoint(a), g, **context.static)

    return operator


expm = _matrix_function("expm", _exponential)
logm = _matrix_function("logm", partial(_each, "logm"))


# Sylvester's equation -----------------------------------------------------------------------------


@host_operator("(m,m),(n,n),(m,n)->(m,n)")
def solve_sylvester(a, b, q):
    """Return the solution of ``a x + x b = q``."""
    sums = np.linalg.eigvals(a)[..., :, None] + np.linalg.eigvals(b)[..., None, :]
    least = np.abs(sums).min(axis=(-2, -1), initial=np.inf)
    scale = np.abs(a).sum(axis=(-2, -1)) + np.abs(b).sum(axis=(-2, -1))
    if np.any(least <= np.finfo(q.dtype).eps * scale):
        raise np.linalg.LinAlgError("an eigenvalue of a is the negative of one of b")
    return _each("solve_sylvester", a, b, q)


solve_sylvester.reads(lambda needs: (True, True, False, needs[0] or needs[1]))


@solve_sylvester.pullback
def solve_sylvester_pullback(context, g):
    ah, bh = adjoint(context.input(0)), adjoint(context.input(1))
    gq = solve_sylvester(ah, bh, g, **context.static)
    want1, want2, _ = context.wanted
    ga = negative(matmul(gq, adjoint(context.output()))) if want1 else None
    gb = negative(matmul(adjoint(context.output()), gq)) if want2 else None
    return ga, gb, gq


@host_operator("(n,n)->(n,n)")
def sqrtm(a):
    """Return the principal square root of a matrix."""
    return _each("sqrtm", a)


sqrtm.reads(lambda needs: (False, True))


@sqrtm.pullback
def sqrtm_pullback(context, g):
    root = adjoint(context.output())
    return solve_sylvester(root, root, g, caller=context.static.get("caller", "sqrtm"))
