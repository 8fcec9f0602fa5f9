"""Elementwise operators: rounding, whose derivative is zero, and remainders."""

import math

import numpy as np

from .arithmetic import builtin, where


@builtin(numpy=np.floor, complex=False)
def floor(x):
    return math.floor(x)


@builtin(numpy=np.ceil, complex=False)
def ceil(x):
    return math.ceil(x)


@builtin(numpy=np.trunc, complex=False)
def trunc(x):
    return math.trunc(x)


def complex_rint(x):
    return complex(round(x.real), round(x.imag))


@builtin(name="round", numpy=np.round, complex=complex_rint)
def rint(x):
    return round(x)


def whole_quotient(x1, x2):
    """The quotient of integers, which wraps around where the least one is divided by -1."""
    return where(x2 == -1, (x1 ^ x1) - x1, x1 // x2)


@builtin(numpy=np.floor_divide, complex=False, integers=whole_quotient)
def floor_divide(x1, x2):
    return x1 // x2


@floor.partial("x")
@ceil.partial("x")
@trunc.partial("x")
@rint.partial("x")
@floor_divide.partial("x1")
@floor_divide.partial("x2")
def whole_slope():
    return 0


@builtin(numpy=np.remainder, complex=False)
def remainder(x1, x2):
    return x1 % x2


@remainder.partial("x2")
def remainder_dx2(x1, x2):
    return -(x1 // x2)


def whole_fmod(x1, x2):
    """``fmod`` of integers, the least of which has no absolute value."""
    r = x1 % x2
    return where((r != 0) & ((x1 < 0) != (x2 < 0)), r - x2, r)


@builtin(numpy=np.fmod, complex=False, integers=whole_fmod)
def fmod(x1, x2):
    return math.copysign(abs(x1) % abs(x2), x1)


@remainder.partial("x1")
@fmod.partial("x1")
def rest_dx1():
    return 1


@builtin(complex=False)
def truncated_quotient(x1, x2):
    return math.trunc(x1 / x2)


truncated_quotient.partial("x1")(whole_slope)
truncated_quotient.partial("x2")(whole_slope)


@fmod.partial("x2")
def fmod_dx2(x1, x2):
    return -truncated_quotient(x1, x2)
