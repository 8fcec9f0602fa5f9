"""Derivatives by differences, under the names of numgrad's transforms, for programs of NumPy alone.

The text of a program runs unchanged with this module in the place of numgrad, so no rule of numgrad
takes part in the reference. Values are computed in the widest floating dtype. If that has a
mantissa of 64 bits, as on x86, a first derivative is right to 1e-16 and a third one to about 1e-11.
The accuracy of a result is not assumed but measured: by other steps, and by small changes of the
result of every statement (`Differences.disturbed`).
"""

from __future__ import annotations  # ``numpy.random`` is imported when it is used

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

Function = Callable[..., Any]

MOST_CALLS = 12_000  # a program with more calls of functions is given up as too long
WEIGHTS = {1: (1 / 2,), 3: (45 / 60, -9 / 60, 1 / 60)}
RIGHT = np.array([-11.0, 18.0, -9.0, 2.0]) / 6.0  # a one-sided difference of third order
KINK = 1e-4  # left and right derivatives differ by more: not a derivative


class TooLongError(Exception):
    """Raised for a program whose derivatives take too many calls of functions."""


class Differences:
    """A stand-in for numgrad in random programs: its transforms, by central differences.

    Parameters
    ----------
    scale : float
        A factor on the steps of differences.
    points : {1, 3}
        The points on each side, for differences of second or of sixth order.
    disturbance : float
        By how much the result of each statement is changed, relative to the result.
    seed : int
        The seed of the disturbance.

    Attributes
    ----------
    kinks : int
        How many derivatives from the left were other than those from the right.
    calls : int
        How many calls of functions were made so far.
    level : int
        How deeply derivatives are nested in the function that runs.
    """

    def __init__(
        self, scale: float = 1.0, points: int = 3, disturbance: float = 0.0, seed: int = 0
    ) -> None:
        self.scale, self.points, self.disturbance = scale, points, disturbance
        self.seed = seed
        self.kinks = self.level = self.calls = 0
        self._changes: dict[Any, np.ndarray] = {}
        self.func = SimpleNamespace(
            grad=self.grad, value_and_grad=self.value_and_grad, vjp=self.vjp, jvp=self.jvp,
            jacrev=self.jacobian, jacfwd=self.jacobian, hessian=self.hessian, hvp=self.hvp,
            linearize=self.linearize, vmap=self.vmap,
        )  # fmt: skip

    # One derivative -------------------------------------------------------------------------------

    def along(self, function: Function, move: Function, still: bool = False) -> Any:
        """Return the derivative of ``function()`` by ``t`` at 0.

        A call of ``move(t)`` sets the values that the function reads to those at ``t``.
        """
        before, self.level = self.level, 0
        self.calls += 2 * self.points + 1
        if self.calls > MOST_CALLS:
            raise TooLongError(f"{self.calls} calls of functions")
        move(0.0)
        middle = _real(function())
        step = self.scale * _step(self.level)
        sides = [[middle], [middle]]
        for n in range(1, self.points + 1):
            for side, sign in zip(sides, (1, -1), strict=True):
                move(sign * n * step)
                side.append(_real(function()))
        move(0.0)
        self.level = max(before, self.level + 1)
        right, left = sides
        slope = sum(
            w * (a - b) for w, a, b in zip(WEIGHTS[self.points], right[1:], left[1:], strict=True)
        )
        if self.points == len(RIGHT) - 1:
            sided = [sum(w * a for w, a in zip(RIGHT, side, strict=True)) for side in sides]
            jump = largest(sided[0] + sided[1])  # the left one has the other sign
            self.kinks += bool(jump > KINK * (step + largest(slope)))
        return slope / step

    def partials(self, function: Function, args: Sequence[Any], n: int) -> list[tuple[Any, Any]]:
        """Return the derivatives by each element of argument ``n``, two for a complex element.

        Each is preceded by 1.0 for the real part of the element, or by 1j for the imaginary part.
        """
        array = np.array(args[n])
        found = []
        for place in np.ndindex(array.shape):
            for one in (1.0, 1j) if array.dtype.kind == "c" else (1.0,):
                moved = array.copy()
                given = [*args[:n], _like(moved, args[n]), *args[n + 1 :]]

                def move(t: Any, place: Any = place, one: Any = one, given: Any = given) -> None:
                    changed = array.copy()
                    changed[place] += t * one
                    given[n] = _like(changed, args[n])

                found.append((one, self.along(lambda given=given: function(*given), move)))
        return found

    def pull(self, function: Function, args: Sequence[Any], n: int, seed: Any) -> Any:
        """Return the vector-Jacobian product of a seed for argument ``n``."""
        kind = np.clongdouble if np.asarray(args[n]).dtype.kind == "c" else np.longdouble
        numbers = np.array([
            one * np.sum(np.real(np.conj(seed) * slope))
            for one, slope in self.partials(function, args, n)
        ], kind)  # fmt: skip
        parts = numbers.reshape((*np.shape(args[n]), 2 if kind is np.clongdouble else 1))
        return _like(np.sum(parts, -1), args[n])

    # Transforms -----------------------------------------------------------------------------------

    def grad(self, function: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
        whole = self.value_and_grad(function, argnums, has_aux)

        def gradient(*args: Any) -> Any:
            value, slopes = whole(*args)
            return (slopes, value[1]) if has_aux else slopes

        return gradient

    def value_and_grad(
        self, function: Function, argnums: Any = 0, has_aux: bool = False
    ) -> Function:
        def both(*args: Any) -> Any:
            value = _apart(function(*args), args)
            return value, _each(argnums, lambda n: self.pull(main, args, n, 1.0))

        main = _first(function, has_aux)
        return both

    def vjp(self, function: Function, *primals: Any, has_aux: bool = False) -> Any:
        def pullback(seed: Any) -> Any:
            return tuple(self.pull(main, primals, n, seed) for n in range(len(primals)))

        main = _first(function, has_aux)
        value = _apart(function(*primals), primals)
        return (value[0], pullback, value[1]) if has_aux else (value, pullback)

    def jvp(
        self, function: Function, primals: Sequence[Any], tangents: Sequence[Any],
        has_aux: bool = False,
    ) -> Any:  # fmt: skip
        given = list(primals)

        def move(t: Any) -> None:
            given[:] = [x + t * v for x, v in zip(primals, tangents, strict=True)]

        main = _first(function, has_aux)
        value = _apart(function(*primals), primals)
        slope = self.along(lambda: main(*given), move)
        return (value[0], slope, value[1]) if has_aux else (value, slope)

    def linearize(self, function: Function, *primals: Any) -> Any:
        def along(*tangents: Any) -> Any:
            return self.jvp(function, primals, tangents)[1]

        return _apart(function(*primals), primals), along

    def jacobian(
        self, function: Function, argnums: Any = 0, has_aux: bool = False, chunk_size: Any = None
    ) -> Function:
        def matrices(*args: Any) -> Any:
            def one(n: int) -> Any:
                columns = [slope for _, slope in self.partials(main, args, n)]
                shape = np.shape(main(*args)), np.shape(args[n])
                stacked = np.stack(columns, -1) if columns else np.zeros((*shape[0], 0))
                return stacked.reshape((*shape[0], *shape[1]))

            found = _each(argnums, one)
            return (found, _apart(function(*args)[1], args)) if has_aux else found

        main = _first(function, has_aux)
        return matrices

    def hessian(self, function: Function, argnums: int = 0) -> Function:
        return self.jacobian(self.grad(function, argnums), argnums)

    def hvp(self, function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        slope = self.grad(function, tuple(range(len(primals))))
        shapes = [np.shape(x) for x in primals]

        def flat(*xs: Any) -> Any:
            return np.concatenate([np.ravel(g) for g in slope(*xs)])

        found = np.split(self.jvp(flat, primals, tangents)[1], _ends(shapes))
        pairs = zip(found, primals, strict=True)
        return _apart(function(*primals), primals), tuple([_shaped(g, x) for g, x in pairs])

    # By a tape ------------------------------------------------------------------------------------

    def gradients(self, function: Function, *args: Any) -> Any:
        return self.grad(function, tuple(range(len(args))))(*args)

    def doubled_gradients(self, place: str, function: Function, *args: Any) -> Any:
        return tuple([2.0 * slope for slope in self.gradients(function, *args)])

    def rows(self, function: Function, x: Any, seeds: Any) -> Any:
        pullback = self.vjp(function, x)[1]
        found = [pullback(seed)[0] for seed in seeds]
        return np.stack(found) if found else np.zeros((0, *np.shape(x)))

    def leaf_gradients(self, call: Function, *leaves: np.ndarray) -> Any:
        """Return the gradients of ``call()`` by arrays that the function ``call`` closes over."""

        def of(leaf: np.ndarray) -> Any:
            before = leaf.copy()

            def moved(x: np.ndarray) -> Any:
                leaf[...] = x
                try:
                    return call()
                finally:
                    leaf[...] = before

            return self.pull(moved, (before,), 0, 1.0)

        return tuple(of(leaf) for leaf in leaves)

    # Other functions ------------------------------------------------------------------------------

    @staticmethod
    def jit(function: Function, **options: Any) -> Any:
        """Return the function, made to return copies, as captured functions return new arrays."""
        return lambda *args: _copied(function(*args))

    @staticmethod
    def vmap(
        function: Function, in_axes: Sequence[Any], out_axes: int, chunk_size: Any = None
    ) -> Function:
        """Return a function that calls another one for each sample, and stacks the results."""

        def mapped(*args: Any) -> Any:
            pairs = list(zip(args, in_axes, strict=True))
            count = next(x.shape[axis] for x, axis in pairs if axis is not None)
            return np.stack([
                function(*[x if axis is None else np.take(x, n, axis) for x, axis in pairs])
                for n in range(count)
            ], out_axes)  # fmt: skip

        return mapped

    @staticmethod
    def tensor(data: Any, requires_grad: bool = False) -> Any:
        return np.array(data)[()]

    @staticmethod
    def cond(pred: Any, true_fun: Function, false_fun: Function, *operands: Any) -> Any:
        return (true_fun if pred else false_fun)(*operands)

    def disturbed(self, number: int, value: Any) -> Any:
        """Return the result of a statement with a small random change.

        The change is the same at each call with the number of this statement.
        """
        if not self.disturbance:
            return value
        if isinstance(value, tuple):
            return tuple([self.disturbed(number, v) for v in value])
        if not isinstance(value, (np.ndarray, np.inexact)) or value.dtype.kind not in "fc":
            return value
        if isinstance(value, np.ndarray) and value.base is not None:
            return value  # a view must keep its memory
        key = (number, value.shape)
        if key not in self._changes:
            rng = np.random.default_rng([self.seed, number])
            self._changes[key] = 1.0 + self.disturbance * wide(rng.uniform(-1, 1, value.shape))
        return value * self._changes[key]


def noise(level: int) -> float:
    """Return the error of ``level`` derivatives nested in one another, of values near 1."""
    size = float(np.finfo(np.longdouble).eps)
    for _ in range(level):
        size = 2.0 * size ** (6 / 7)
    return size


def _step(level: int) -> float:
    """Return the best step of differences of a function that has ``level`` nested derivatives.

    Their error is the noise that the step must outweigh.
    """
    return noise(level) ** (1 / 7)


def _first(function: Function, has_aux: bool) -> Function:
    return (lambda *args: function(*args)[0]) if has_aux else function


def _each(argnums: Any, of: Callable[[int], Any]) -> Any:
    return of(argnums) if isinstance(argnums, int) else tuple([of(n) for n in argnums])


def _real(value: Any) -> np.ndarray:
    """Return a copy of a result, as the next call may write to the array itself."""
    return np.array(value)


def largest(array: Any) -> float:
    """Return the largest absolute value of an array, 0 for an empty one."""
    return float(np.max(np.abs(array), initial=0.0))


def _copied(tree: Any) -> Any:
    if isinstance(tree, (tuple, list)):
        return type(tree)(map(_copied, tree))
    return tree.copy() if isinstance(tree, np.ndarray) else tree


def _apart(tree: Any, args: Sequence[Any]) -> Any:
    """Return a result with copies of arrays that share memory with arguments, as transforms do."""
    if isinstance(tree, (tuple, list)):
        return type(tree)([_apart(item, args) for item in tree])
    shared = isinstance(tree, np.ndarray) and any(np.may_share_memory(tree, x) for x in args)
    return tree.copy() if shared else tree


def _shaped(numbers: np.ndarray, given: Any) -> Any:
    whole = numbers.reshape(np.shape(given))
    return _like(whole if np.iscomplexobj(given) else np.real(whole), given)


def _ends(shapes: Sequence[tuple[int, ...]]) -> Any:
    return np.cumsum([math.prod(shape) for shape in shapes])[:-1]


def _like(array: np.ndarray, given: Any) -> Any:
    """Return an array, or the scalar in it if ``given`` is no array."""
    return array if isinstance(given, np.ndarray) else array[()]


# Wide numbers -------------------------------------------------------------------------------------


def wide(value: Any) -> Any:
    """Return floating numbers converted to the widest dtype, and anything else as it is."""
    if isinstance(value, (np.ndarray, np.inexact)) and value.dtype.kind in "fc":
        kind = np.clongdouble if value.dtype.kind == "c" else np.longdouble
        return value.astype(kind)
    return value


def _solve(a: Any, b: Any) -> Any:
    """Return the solution of systems in the wide dtype, by iterative refinement.

    LAPACK has no routine for this dtype.
    """
    narrow = complex if np.iscomplexobj(a) or np.iscomplexobj(b) else float
    found = np.zeros_like(b)
    for _ in range(4):  # each step adds the digits of a solution in double precision
        rest = np.asarray(b - a @ found).astype(narrow)
        found = found + np.linalg.solve(a.astype(narrow), rest)
    return found


class TieError(Exception):
    """Raised for a median of equal elements, which has a kink that no difference shows.

    If one of the elements moves, the median does not.
    """


def _median(x: Any, axis: int | None = None, **options: Any) -> Any:
    ordered = np.sort(np.ravel(x) if axis is None else np.moveaxis(np.asarray(x), axis, -1))
    middle = ordered.shape[-1] // 2
    if np.any(np.diff(ordered[..., max(middle - 2, 0) : middle + 2]) == 0):
        raise TieError("a median of elements that are equal")
    return np.median(x, axis, **options)


class WideNumPy:
    """A stand-in for NumPy in which all floating dtypes are the widest one."""

    float32 = float64 = np.longdouble
    complex64 = complex128 = np.clongdouble

    def __init__(self) -> None:
        self.linalg = SimpleNamespace(solve=_solve, norm=np.linalg.norm)
        self.median = _median

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)
