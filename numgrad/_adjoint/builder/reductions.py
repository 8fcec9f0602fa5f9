"""Reductions and products of arrays, as loops."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ssa.ir import Value
from ..ssa.refusal import Refusal
from .building import Builder
from .things import Lazy, Static, Thing, is_array
from .universal import cast


class Reductions:
    """Reads calls of functions such as ``np.sum`` and ``np.dot``."""

    b: Builder
    array_of: Callable[..., Value]
    _method_flatten: Callable[[Thing], Value]
    _method_astype: Callable[..., Any]
    product: Callable[[list[Value]], Value]
    _call_ravel: Callable[[Thing], Value]

    def _call_max(self, *args: Thing, axis: Thing = None) -> Thing:
        return self._extreme("max", args, axis)

    def _call_min(self, *args: Thing, axis: Thing = None) -> Thing:
        return self._extreme("min", args, axis)

    def _extreme(self, name: str, args: Sequence[Thing], axis: Thing) -> Thing:
        if len(args) > 1 and not is_array(args[0]):
            return self._chained(name, args)
        if isinstance(args[0], tuple):
            return self._chained(name, args[0])
        return self._reduced(lambda lazy: self._extreme_of(name, lazy), args[0], axis)

    def _chained(self, name: str, args: Sequence[Thing]) -> Value:
        result = self.b.number(args[0])
        for arg in args[1:]:
            result = self.b.scalar(name, result, self.b.number(arg), spelled=name)
        return result

    def _extreme_of(self, name: str, lazy: Lazy) -> Value:
        """Return the extreme of an expression: a constant plus zeros, whose derivatives give equal
        shares to all elements that are the extreme."""
        first = lazy.at([self.b.constant(0)] * len(lazy.shape))
        if not first.type.is_real:
            return self._fold_extreme(name, lazy, first)
        held: Callable[[list[Value]], Value] = lambda index: self.b.scalar(  # noqa: E731
            "held", lazy.at(index), spelled="held"
        )
        constant = Lazy(lazy.type.dtype, lazy.shape, held, lazy.reads)
        best = self._fold_extreme(name, constant, held([self.b.constant(0)] * len(lazy.shape)))
        count = self._count_of(lambda index: self.b.scalar("eq", held(index), best), lazy.shape)

        def share(index: list[Value], total: Value) -> list[Value]:
            part = self.b.scalar("tied", lazy.at(index), best, count, spelled="tied")
            return [self.b.scalar("add", total, part, type=total.type)]

        return self.b.fold(lazy.shape, [best], share)[0]

    def _fold_extreme(self, name: str, lazy: Lazy, first: Value) -> Value:
        update: Callable[..., list[Value]] = lambda index, best: [  # noqa: E731
            self.b.scalar(name, best, lazy.at(index), spelled=name)
        ]
        return self.b.fold(lazy.shape, [first], update)[0]

    def _count_of(self, test: Callable[[list[Value]], Value], shape: list[Value]) -> Value:
        """Return the number of indices for which a condition holds."""
        one, zero = self.b.constant(1), self.b.constant(0)

        def count(index: list[Value], total: Value) -> list[Value]:
            return [self.b.scalar("add", total, self.b.scalar("select", test(index), one, zero))]

        return self.b.fold(shape, [zero], count)[0]

    def _reduced(self, reduce: Callable[[Lazy], Value], thing: Thing, axis: Thing) -> Thing:
        """Reduce all elements, or those along an axis."""
        if isinstance(thing, tuple):
            thing = self.array_of(thing)
        lazy = self.b.lazy(thing)
        if _is_none(axis):
            return reduce(lazy)
        place = self.b.number(axis).constant
        if not isinstance(place, int):
            raise Refusal("an axis must be known when the kernel is compiled")
        place %= len(lazy.shape)
        if len(lazy.shape) == 1:
            return reduce(lazy)

        def at(index: list[Value]) -> Value:
            def part(i: list[Value]) -> Value:
                return lazy.at([*index[:place], i[0], *index[place:]])

            return reduce(Lazy(lazy.type.dtype, [lazy.shape[place]], part, lazy.reads))

        shape = lazy.shape[:place] + lazy.shape[place + 1 :]
        kind = self.b.trial(lambda: at([self.b.constant(0)] * len(shape))).type
        return self.b.computed(Lazy(kind.dtype, shape, at, lazy.reads))

    def _sum_of(self, lazy: Lazy) -> Value:
        kind = lazy.type.dtype if lazy.type.is_real else "int64"
        start = self.b.constant(0.0 if lazy.type.is_real else 0)
        if kind == "float32":
            start = self.b.scalar("float32", start, spelled="np.float32")
        add: Callable[..., list[Value]] = lambda index, total: [  # noqa: E731
            self.b.scalar("add", total, lazy.at(index))
        ]
        return self.b.fold(lazy.shape, [start], add)[0]

    def _call_sum(self, thing: Thing, axis: Thing = None, dtype: Thing = None) -> Thing:
        if not _is_none(dtype):
            thing = self._method_astype(thing, dtype)
        return self._reduced(self._sum_of, thing, axis)

    def _call_total(self, iterable: Thing, start: Thing = None) -> Thing:
        total = self._call_sum(iterable)
        return total if start is None else self.b.scalar("add", self.b.number(start), total)

    def _mean_of(self, lazy: Lazy) -> Value:
        return self.b.scalar("truediv", self._sum_of(lazy), self.product(lazy.shape))

    def _call_mean(self, thing: Thing, axis: Thing = None) -> Thing:
        return self._reduced(self._mean_of, thing, axis)

    def _call_prod(self, thing: Thing, axis: Thing = None) -> Thing:
        def product_of(lazy: Lazy) -> Value:
            one = self.b.constant(1.0 if lazy.type.is_real else 1)
            times: Callable[..., list[Value]] = lambda i, p: [self.b.scalar("mul", p, lazy.at(i))]  # noqa: E731
            return self.b.fold(lazy.shape, [one], times)[0]

        return self._reduced(product_of, thing, axis)

    def _var_of(self, lazy: Lazy) -> Value:
        mean = self._mean_of(lazy)

        def square(index: list[Value]) -> Value:
            return self.b.scalar("square", self.b.scalar("sub", lazy.at(index), mean), spelled="2")

        return self._mean_of(Lazy("float64", lazy.shape, square, lazy.reads))

    def _call_var(self, thing: Thing) -> Thing:
        return self._var_of(self.b.lazy(thing))

    def _call_std(self, thing: Thing) -> Thing:
        return self.b.scalar("norm", self._var_of(self.b.lazy(thing)), spelled="root")

    def _call_any(self, thing: Thing) -> Thing:
        return self._logical("or", False, thing)

    def _call_all(self, thing: Thing) -> Thing:
        return self._logical("and", True, thing)

    def _logical(self, name: str, start: bool, thing: Thing) -> Thing:
        lazy = self.b.lazy(thing)
        zero = self.b.constant(0)

        def update(index: list[Value], so_far: Value) -> list[Value]:
            element = lazy.at(index)
            if element.type.dtype != "bool":
                element = self.b.scalar("ne", element, zero)
            return [self.b.scalar(name, so_far, element)]

        return self.b.fold(lazy.shape, [self.b.constant(start)], update)[0]

    def _call_argmax(self, thing: Thing, axis: Thing = None) -> Thing:
        return self._reduced(lambda lazy: self._argextreme("gt", lazy), thing, axis)

    def _call_argmin(self, thing: Thing, axis: Thing = None) -> Thing:
        return self._reduced(lambda lazy: self._argextreme("lt", lazy), thing, axis)

    def _argextreme(self, name: str, lazy: Lazy) -> Value:
        if len(lazy.shape) != 1:
            lazy = self.b.lazy(self._method_flatten(lazy))

        def update(index: list[Value], best: Value, where: Value) -> list[Value]:
            element = lazy.at(index)
            better = self.b.scalar(name, element, best)
            both = self.b.scalar("select", better, element, best)
            return [both, self.b.scalar("select", better, index[0], where)]

        first = lazy.at([self.b.constant(0)])
        return self.b.fold(lazy.shape, [first, self.b.constant(0)], update)[1]

    def _call_cumsum(self, thing: Thing) -> Thing:
        return self._accumulated("add", 0, thing)

    def _call_cumprod(self, thing: Thing) -> Thing:
        return self._accumulated("mul", 1, thing)

    def _accumulated(self, name: str, start: int, thing: Thing) -> Value:
        lazy = self.b.lazy(thing)
        if len(lazy.shape) != 1:
            lazy = self.b.lazy(self._call_ravel(thing))
        is_real = lazy.type.is_real
        made = self.b.alloc(lazy.type.dtype if is_real else "int64", lazy.shape)

        def update(index: list[Value], total: Value) -> list[Value]:
            total = self.b.scalar(name, total, lazy.at(index))
            self.b.store(made, index, total)
            return [total]

        self.b.fold(lazy.shape, [self.b.constant(float(start) if is_real else start)], update)
        return made

    # Products

    def _call_dot(self, one: Thing, other: Thing, out: Thing = None) -> Thing:
        made = self.matmul(one, other)
        if out is None:
            return made
        target = self.b.array(out)
        self.b.assign(target, made)
        return target

    def matmul(self, one: Thing, other: Thing) -> Thing:
        """Return a product of vectors or matrices, as loops."""
        if not is_array(one) or not is_array(other):
            return self.b.elementwise(lambda x, y: self.b.scalar("mul", x, y), (one, other))
        a, c = self._operand(one), self._operand(other)
        if not (a.type.is_real and c.type.is_real) or len(a.shape) > 2 or len(c.shape) > 2:
            raise Refusal("products are understood of vectors and matrices of floats")
        self.b.check_equal(a.shape[-1], c.shape[0], "the lengths in a product differ")
        if len(a.shape) == len(c.shape) == 1:
            return self._sum_of(self._products(a, c, [], []))
        return self._matrix_product(a, c)

    def _operand(self, thing: Thing) -> Lazy:
        return self.b.lazy(self.b.array(thing))

    def _products(self, a: Lazy, c: Lazy, row: list[Value], column: list[Value]) -> Lazy:
        def at(k: list[Value]) -> Value:
            return self.b.scalar("mul", a.at([*row, *k]), c.at([*k, *column]))

        return Lazy(
            np.promote_types(a.type.dtype, c.type.dtype).name, [c.shape[0]], at, a.reads + c.reads
        )

    def _matrix_product(self, a: Lazy, c: Lazy) -> Value:
        shape = [*a.shape[:-1], *c.shape[1:]]
        rows = len(a.shape) - 1

        def at(index: list[Value]) -> Value:
            return self._sum_of(self._products(a, c, index[:rows], index[rows:]))

        dtype = np.promote_types(a.type.dtype, c.type.dtype).name
        if len(c.shape) == 1:
            return self.b.computed(Lazy(dtype, shape, at, []))
        return self._outer_order(a, c, self.b.alloc(dtype, shape, "zeros"))

    def _outer_order(self, a: Lazy, c: Lazy, made: Value) -> Value:
        """Write a product of matrices whose innermost loop runs along the rows of the result, so
        that it vectorises."""
        rows = len(a.shape) - 1

        def step(index: list[Value]) -> None:
            *row, k, j = index
            term = self.b.scalar("mul", a.at([*row, k]), c.at([k, j]))
            self.b.store(made, [*row, j], term, "+")

        self.b.for_each([*a.shape[:rows], c.shape[0], c.shape[1]], step)
        return made

    def _call_outer(self, one: Thing, other: Thing) -> Thing:
        a, c = (
            lazy if lazy.type.ndim == 1 else self.b.lazy(self._method_flatten(lazy))
            for lazy in map(self.b.lazy, (one, other))
        )

        dtype = np.promote_types(a.type.dtype, c.type.dtype).name

        def at(index: list[Value]) -> Value:
            return cast(self.b, self.b.scalar("mul", a.at(index[:1]), c.at(index[1:])), dtype)

        return Lazy(dtype, [*a.shape, *c.shape], at, a.reads + c.reads)

    def _call_clip(self, thing: Thing, a_min: Thing = None, a_max: Thing = None) -> Thing:
        low, high = (None if _is_none(end) else end for end in (a_min, a_max))
        if low is not None and high is not None:
            ends, name = (low, high), "clip"
        else:
            ends, name = (low if high is None else high,), "max" if high is None else "min"
        return self.b.elementwise(
            lambda *xs: self.b.scalar(name, *xs, spelled=name), (thing, *ends)
        )


def _is_none(thing: Thing) -> bool:
    return thing is None or (isinstance(thing, Static) and thing.value is None)
