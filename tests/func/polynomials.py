"""Polynomials with exact derivatives: what nested transforms are compared with."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

Powers = tuple[int, ...]


class Polynomial:
    """A polynomial of ``COUNT`` variables, given by its coefficients.

    Parameters
    ----------
    terms
        The coefficient of each product of powers; one exponent per variable.
    """

    COUNT = 6

    def __init__(self, terms: Mapping[Powers, float]) -> None:
        self.terms = {powers: c for powers, c in terms.items() if c}

    @classmethod
    def variable(cls, index: int) -> "Polynomial":
        return cls({tuple(int(n == index) for n in range(cls.COUNT)): 1.0})

    @classmethod
    def constant(cls, value: float) -> "Polynomial":
        return cls({(0,) * cls.COUNT: value})

    def __add__(self, other: "Polynomial | float") -> "Polynomial":
        other = other if isinstance(other, Polynomial) else self.constant(other)
        total: dict[Powers, float] = defaultdict(float, self.terms)
        for powers, c in other.terms.items():
            total[powers] += c
        return Polynomial(total)

    def __mul__(self, other: "Polynomial | float") -> "Polynomial":
        other = other if isinstance(other, Polynomial) else self.constant(other)
        total: dict[Powers, float] = defaultdict(float)
        for p, a in self.terms.items():
            for q, b in other.terms.items():
                total[tuple(m + n for m, n in zip(p, q, strict=True))] += a * b
        return Polynomial(total)

    __radd__, __rmul__ = __add__, __mul__

    def derivative(self, index: int) -> "Polynomial":
        total: dict[Powers, float] = defaultdict(float)
        for powers, c in self.terms.items():
            if powers[index]:
                lower = list(powers)
                lower[index] -= 1
                total[tuple(lower)] += c * powers[index]
        return Polynomial(total)

    def substitute(self, index: int, value: "Polynomial") -> "Polynomial":
        result = Polynomial({})
        for powers, c in self.terms.items():
            rest = list(powers)
            rest[index] = 0
            factor = Polynomial({tuple(rest): c})
            for _ in range(powers[index]):
                factor = factor * value
            result = result + factor
        return result

    def __call__(self, values: Sequence[float]) -> float:
        total = 0.0
        for powers, c in self.terms.items():
            for value, power in zip(values, powers, strict=True):
                c *= value**power
            total += c
        return total
