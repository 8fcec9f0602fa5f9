"""What the other operand may be: a number, a NumPy scalar, an array of any kind, a list, a tensor.

torch and JAX get each in the form that they like best, a Python number or an array of their own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..program import Family

KINDS: dict[str, Callable[[int], Any]] = {
    "a Python float": lambda n: 0.99,
    "a Python int": lambda n: 1,
    "an np.float64": lambda n: np.float64(0.99),
    "an np.int64": lambda n: np.int64(1),
    "an np.float32": lambda n: np.float32(0.5),
    "a 0-d array": lambda n: np.array(0.99),
    "an array": lambda n: np.linspace(0.9, 0.99, n),
    "an array of integers": lambda n: np.arange(n) % 2 + 1,
    "an array of booleans": lambda n: np.arange(n) % 3 != 1,
    "a float32 array": lambda n: np.linspace(0.9, 0.99, n).astype(np.float32),
    "a list": lambda n: [0.99] * n,
}


def chain(np: Any, x: Any, w: Any) -> Any:
    for _ in range(50):
        x = x * w
    return x.sum()


def reflected(np: Any, x: Any, w: Any) -> Any:
    for _ in range(25):
        x = w - w * x
    return x.sum()


def once(np: Any, x: Any, w: Any) -> Any:
    return ((w * x + w) / (x * x + 1)).sum()


def inputs_with(kind: Callable[[int], Any]) -> Callable[..., Any]:
    return lambda rng, n: (rng.uniform(0.5, 1.5, n), kind(n))


FAMILIES = []
for title, text, size, left_out in (
    ("50 multiplications of one element", chain, 1, ()),
    ("25 affine steps of ten elements", reflected, 10, ()),
    ("a ratio of 5000 elements", once, 5000, ("a list", "an np.float32")),
    ("a ratio of a million elements", once, 10**6, ("a list", "an np.float32", "an np.int64")),
):
    family = Family(title, size=size, tiny=3, as_written=True)
    for kind, make in KINDS.items():
        if kind not in left_out and "float32 array" not in kind:
            family.add(kind, text, inputs=inputs_with(make))
    FAMILIES.append(family)

for family, text in zip(FAMILIES, (chain, reflected, once, once), strict=True):
    family.add("a tensor", text, inputs=inputs_with(KINDS["an array"]), as_written=False)

powers = Family(
    "a polynomial of powers", size=1000, tiny=4, inputs=lambda rng, n: (rng.uniform(0.5, 1.5, n),)
)


@powers.program
def by_products(np, x):
    return (x * x + x * x * x - x * x).sum()


@powers.program
def by_integer_powers(np, x):
    return (x**2 + x**3 - x**2).sum()


@powers.program
def by_float_powers(np, x):
    return (x**2.0 + x**3.0 - x**2.0).sum()


@powers.program
def by_the_functions(np, x):
    return (np.square(x) + np.power(x, 3) - np.square(x)).sum()


horner = Family("a polynomial by Horner's rule", size=200, tiny=4, as_written=True)


def polynomial(np: Any, x: Any, coefficients: Any) -> Any:
    y = coefficients[0] + 0 * x
    for c in coefficients:
        y = y * x + c
    return y.sum()


COEFFICIENTS = np.linspace(0.1, 1.0, 12)
horner.add("floats in a list", polynomial,
           inputs=lambda rng, n: (rng.uniform(0, 1, n), COEFFICIENTS.tolist()))  # fmt: skip
horner.add("an array", polynomial, inputs=lambda rng, n: (rng.uniform(0, 1, n), COEFFICIENTS))
horner.add("a tensor", polynomial, as_written=False,
           inputs=lambda rng, n: (rng.uniform(0, 1, n), COEFFICIENTS))  # fmt: skip

inside = Family(
    "a constant made inside", size=4, tiny=4, inputs=lambda rng, n: (rng.uniform(0, 1, n),)
)
WEIGHTS = [0.1, 0.2, 0.3, 0.4]


def with_constant(make: Callable[[Any], Any]) -> Callable[..., Any]:
    def text(np: Any, x: Any) -> Any:
        w = make(np)
        y = np.sin(x * w) + w
        return (y * w).sum()

    return text


inside.add("asarray of a list", with_constant(lambda np: np.asarray(WEIGHTS)))
inside.add("ones times a number", with_constant(lambda np: np.ones(4) * 0.3))
inside.add("arange", with_constant(lambda np: np.arange(4) * 0.1))
inside.add("linspace", with_constant(lambda np: np.linspace(0.1, 0.4, 4)))
inside.add("full", with_constant(lambda np: np.full((4,), 0.3)))

FAMILIES += [powers, horner, inside]
