"""Fused specs to be drawn and compared with their steps one after the other."""

import math

import numpy as np

from numgrad.ir.kernel_spec import FusedSpec
from numgrad.targets.cpu.kernels.kernel import kernel

from .kernel_tools import C64, C128, F32, F64, spec_of

BOOL = np.dtype(bool)
INTEGERS = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
INEXACT = [F32, F64, C64, C128]
DTYPES = [BOOL, *INTEGERS, *INEXACT]


def multiply(x, y):
    return x * y


def add(x, y):
    return x + y


def divide(x, y):
    return x / y


def power(x, y):
    return x**y


def less(x, y):
    return x < y


def choose(c, x, y):
    return where(c, x, y)  # noqa: F821 - bound in the kernel


def cast(x):
    return x


def small(x):
    return where(abs(x) < 100, x, 0.0)  # noqa: F821


def imaginary(x):
    return x * 1j


def sine(x):
    return math.sin(x)


def exponential(x):
    return math.exp(x)



class Draw:
    """Draws a fused spec: operators of all dtypes applied to inputs and to earlier results."""

    def __init__(self, seed, nin=6):
        self.rng = np.random.default_rng(seed)
        self.in_dtypes = tuple(DTYPES[k] for k in self.rng.integers(len(DTYPES), size=nin))
        self.values = list(self.in_dtypes)
        self.steps = []

    def apply(self, function, dtype, *args):
        dtypes = tuple(self.values[k] for k in args)
        self.steps.append((spec_of(function, *dtypes, dtype), args))
        self.values.append(dtype)
        return len(self.values) - 1

    def any(self):
        """A value, a late one rather than an early one."""
        return len(self.values) - 1 - int(self.rng.integers(len(self.values)) * self.rng.random())

    def as_dtype(self, dtype):
        """A value of a dtype, cast if need be."""
        k = self.any()
        source = self.values[k]
        if source == dtype:
            return k
        if source.kind == "c" and dtype.kind != "c":
            same = [k for k, other in enumerate(self.values) if other.kind != "c"]
            k = int(self.rng.choice(same)) if same else self.apply(less, BOOL, k, k)
            source = self.values[k]
        # Casts of numbers out of range mean nothing, not even twice the same.
        narrowing = source.kind == "f" and dtype.kind in "iu"
        return self.apply(small if narrowing else cast, dtype, k)

    def step(self):
        kind = self.rng.integers(6)
        dtype = DTYPES[self.rng.integers(1, len(DTYPES))]
        if kind == 0:
            real = [F32, F64, *INTEGERS][self.rng.integers(10)]
            condition = self.apply(less, BOOL, self.as_dtype(real), self.as_dtype(real))
            self.apply(choose, dtype, condition, self.as_dtype(dtype), self.as_dtype(dtype))
        elif kind == 1:
            real = (F32, F64)[self.rng.integers(2)]
            self.apply((sine, exponential)[self.rng.integers(2)], real, self.as_dtype(real))
        elif kind == 2:
            inexact = INEXACT[self.rng.integers(4)]
            self.apply(divide, inexact, self.as_dtype(inexact), self.as_dtype(inexact))
        else:
            function = (multiply, add)[self.rng.integers(2)]
            self.apply(function, dtype, self.as_dtype(dtype), self.as_dtype(dtype))

    def spec(self, nsteps=12, nout=3):
        while len(self.steps) < nsteps:
            self.step()
        last = range(len(self.in_dtypes), len(self.values))
        outputs = tuple(int(k) for k in self.rng.choice(last, nout, replace=False))
        scalars = tuple(bool(one) for one in self.rng.random(len(self.in_dtypes)) < 0.3)
        return fused_spec(self.steps, self.in_dtypes, outputs, scalars)


def fused_spec(steps, in_dtypes, outputs, scalars=None):
    dtypes = [*in_dtypes, *(step.out_dtypes[0] for step, _ in steps)]
    return FusedSpec(
        "fused", tuple(steps), tuple(in_dtypes), tuple(dtypes[k] for k in outputs),
        tuple(outputs), tuple(scalars or (False,) * len(in_dtypes)),
    )  # fmt: skip


def make(rng, dtype, size):
    if dtype.kind in "biu":
        return rng.integers(0, 2 if dtype == BOOL else 7, size).astype(dtype)
    values = 2 * rng.standard_normal(size)
    return (values + 1j * values[::-1] if dtype.kind == "c" else values).astype(dtype)


def one_after_the_other(spec, inputs, n):
    """Results of the steps' own kernels; a scalar input is an array of `n` like any other."""
    values = [np.full(n, x[0]) if one else x for x, one in zip(inputs, spec.scalars, strict=True)]
    for step, args in spec.steps:
        values.append(kernel(step).ufunc(*(values[k] for k in args)))
    return [values[k] for k in spec.outputs]


def assert_same_bits(result, expected):
    assert result.dtype == expected.dtype
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(result), ~number)
    assert result[number].tobytes() == expected[number].tobytes()


def polynomial(dtype, outputs=(4, 5)):
    """Of the inputs x, y and a scalar c: 3 is x*y, 4 is x*y + c, 5 is (x*y + c) * x."""
    product, total = spec_of(multiply, *[dtype] * 3), spec_of(add, *[dtype] * 3)
    steps = [(product, (0, 1)), (total, (3, 2)), (product, (4, 0))]
    return fused_spec(steps, (dtype,) * 3, outputs, (False, False, True))
