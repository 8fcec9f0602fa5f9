"""Ways in which a kernel and Python come to share a function that divides by its argument.

Each is a function that makes one helper, by which ``1 / 0`` raises in Python, and an operator of
``(n)->(n)`` that calls it for each element. No two helpers have the same source and constants, so
none finds the kernel of another.
"""

import itertools
import textwrap
import types
from collections import namedtuple

import numpy as np
from numba import float64, guvectorize, literal_unroll, njit, vectorize
from numba import types as numba_types
from numba.experimental import jitclass, structref
from numba.extending import overload, overload_attribute, overload_method, register_jitable

import numgrad as ng

_numbers = itertools.count(1)
Held = namedtuple("Held", "function factor")


def reciprocal(**options):
    """A helper with options of its own."""
    number = next(_numbers)

    @njit(**options)
    def inverse(x):
        return 1.0 / x if number else 0.0

    return inverse


def calling(helper, **options):
    """An operator whose kernel, with these options, calls a helper."""

    @ng.operator("(n)->(n)")
    @njit(**options)
    def divided(x, out):
        for i in range(x.size):
            out[i] = helper(x[i])

    return divided


def by_name():
    helper = reciprocal()
    return helper, calling(helper)


def by_another_function():
    helper = reciprocal()

    @njit
    def between(x):
        return helper(x)

    return helper, calling(between)


def by_a_plain_function():
    helper = reciprocal()

    def between(x):
        return helper(x)

    return helper, calling(between)


def by_a_function_within():
    helper = reciprocal()

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        def step(value):
            return helper(value)

        for i in range(x.size):
            out[i] = step(x[i])

    return helper, divided


def by_what_is_inlined():
    helper = reciprocal()

    @njit(inline="always")
    def between(x):
        return helper(x)

    return helper, calling(between)


def in_line():
    helper = reciprocal(inline="always")
    return helper, calling(helper)


def by_a_module():
    helper = reciprocal()
    package, module = types.ModuleType("package"), types.ModuleType("module")
    package.module, module.helper = module, helper

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        for i in range(x.size):
            out[i] = package.module.helper(x[i])

    return helper, divided


def by_a_tuple():
    helper = reciprocal()
    held = (2.0, helper)

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        for i in range(x.size):
            out[i] = held[1](x[i])

    return helper, divided


def by_a_named_tuple():
    helper = reciprocal()
    held = Held(helper, 2.0)

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        for i in range(x.size):
            out[i] = held.function(x[i])

    return helper, divided


def by_one_after_another():
    helper, other = reciprocal(), reciprocal()
    both = (other, helper)

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        for function in literal_unroll(both):
            for i in range(x.size):
                out[i] = function(x[i])

    return helper, divided


def by_default():
    helper = reciprocal()

    @njit
    def between(x, function=helper):
        return function(x)

    return helper, calling(between)


def by_argument():
    helper = reciprocal()

    @njit
    def applied(function, x):
        return function(x)

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        for i in range(x.size):
            out[i] = applied(helper, x[i])

    return helper, divided


def by_a_static_parameter():
    helper = reciprocal()

    @ng.operator("(n)->(n)", static=("function",))
    @njit
    def divided(x, out, function):
        for i in range(x.size):
            out[i] = function(x[i])

    return helper, lambda x: divided(x, function=helper)


def with_declared_types():
    number = next(_numbers)

    @njit("float64(float64)")
    def helper(x):
        return 1.0 / x if number else 0.0

    return helper, calling(helper)


def by_a_choice():
    helper, _ = with_declared_types()
    other, _ = with_declared_types()

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        for i in range(x.size):
            function = helper if x[i] < 1.0 else other
            out[i] = function(x[i])

    return helper, divided


def by_vectorize():
    helper = reciprocal()

    @vectorize
    def each(x):
        return helper(x)

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        out[:] = each(x)

    return helper, divided


def by_guvectorize():
    helper = reciprocal()

    @guvectorize("(n)->(n)")
    def row(x, out):
        for i in range(x.size):
            out[i] = helper(x[i])

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        row(x, out)

    return helper, divided


def by_register_jitable():
    helper = reciprocal()

    @register_jitable
    def between(x):
        return helper(x)

    return helper, calling(between)


def by_overload():
    helper = reciprocal()

    def between(x):
        raise NotImplementedError

    @overload(between)
    def implementation(x):
        return lambda x: helper(x)

    return helper, calling(between)


def by_overload_of_a_compiled_function():
    helper = reciprocal()
    library = types.ModuleType("library")
    library.ufunc = np.frompyfunc(lambda x: 1.0 / x, 1, 1)

    @overload(library.ufunc)
    def implementation(x):
        return lambda x: helper(x)

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        for i in range(x.size):
            out[i] = library.ufunc(x[i])

    return helper, divided


def by_a_method_of_a_type():
    helper, number = reciprocal(), next(_numbers)

    @structref.register
    class PairType(numba_types.StructRef):
        """A structure with a method and an attribute."""

    class Pair(structref.StructRefProxy):
        """What Python has of it."""

    structref.define_proxy(Pair, PairType, ["factor"])

    @overload_method(PairType, f"over_{number}")
    def over(pair, x):
        return lambda pair, x: pair.factor * helper(x)

    @overload_attribute(PairType, f"unit_{number}")
    def unit(pair):
        return lambda pair: helper(pair.factor)

    scope = {"Pair": Pair}
    text = """
        def divided(x, out):
            pair = Pair(1.0)
            for i in range(x.size):
                out[i] = pair.over_0(x[i]) * pair.unit_0
    """
    exec(textwrap.dedent(text).replace("_0", f"_{number}"), scope)
    return helper, ng.operator("(n)->(n)")(njit(scope["divided"]))


def by_a_class():
    number = next(_numbers)

    @jitclass([("factor", float64)])
    class Divider:
        def __init__(self, factor):
            self.factor = factor

        @property
        def half(self):
            return self.factor / 2.0

        def of(self, x):
            return 2.0 * self.half / x if number else 0.0

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        divider = Divider(1.0)
        for i in range(x.size):
            out[i] = divider.of(x[i])

    return Divider(1.0).of, divided


def by_a_scalar_kernel():
    helper = reciprocal()

    @ng.operator("()->()")
    @njit
    def divided(x):
        return helper(x)

    return helper, divided


def by_an_elementwise_function():
    helper = reciprocal()
    module = types.ModuleType("module")
    module.helper = helper
    return helper, ng.elementwise(lambda x: module.helper(x) + 0.0 * helper(x + 1.0))


WAYS = (
    by_name, by_another_function, by_a_plain_function, by_a_function_within, by_what_is_inlined,
    in_line, by_a_module, by_a_tuple, by_a_named_tuple, by_one_after_another, by_default,
    by_argument, by_a_static_parameter, with_declared_types, by_a_choice, by_vectorize,
    by_guvectorize, by_register_jitable, by_overload,
    by_overload_of_a_compiled_function, by_a_method_of_a_type, by_a_class,
    by_a_scalar_kernel, by_an_elementwise_function,
)  # fmt: skip
