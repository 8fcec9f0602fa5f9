"""Elementwise operators: arithmetic."""

import functools
import math

import numpy as np

from .._declare import elementwise

builtin = functools.partial(elementwise, register=True)


@builtin(numpy=np.copy)
def copy(x):
    return x


@copy.partial("x")
def copy_dx():
    return 1


@builtin(numpy=np.add)
def add(x1, x2):
    return x1 + x2


@add.partial("x1")
def add_dx1():
    return 1


@add.partial("x2")
def add_dx2():
    return 1


@builtin(numpy=np.subtract)
def subtract(x1, x2):
    return x1 - x2


@subtract.partial("x1")
def subtract_dx1():
    return 1


@subtract.partial("x2")
def subtract_dx2():
    return -1


@builtin(numpy=np.multiply)
def multiply(x1, x2):
    return x1 * x2


@multiply.partial("x1")
def multiply_dx1(x2):
    return x2


@multiply.partial("x2")
def multiply_dx2(x1):
    return x1


@builtin(numpy=np.negative)
def negative(x):
    return -x


@negative.partial("x")
def negative_dx():
    return -1


@builtin
def divide(x1, x2):
    return x1 / x2


@divide.partial("x1")
def divide_dx1(x2):
    return 1 / x2


@divide.partial("x2")
def divide_dx2(x2, y):
    return -y / x2


@builtin
def exp(x):
    return math.exp(x)


@exp.partial("x")
def exp_dx(y):
    return y


@builtin
def sin(x):
    return math.sin(x)


@sin.partial("x")
def sin_dx(x):
    return math.cos(x)


@builtin
def cos(x):
    return math.cos(x)


@cos.partial("x")
def cos_dx(x):
    return -math.sin(x)


@builtin
def tanh(x):
    return math.tanh(x)


@tanh.partial("x")
def tanh_dx(y):
    return 1 - y * y
