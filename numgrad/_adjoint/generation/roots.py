"""Reciprocals of square roots: a reverse sweep that would divide by one root several times divides
once, and multiplies by the reciprocal.

The reciprocal of a root is finite where the root is not 0, whatever number was given, so a product
is infinite or NaN only where the quotient is.
"""

from collections import Counter

from ..analyses.keep import Keeping
from ..ssa.ir import Op, Program, Region, Value
from .writing import Names, Writer

_DIVISORS = {"sqrt": "{r}", "truediv": "{1}"}
"""The functions whose slopes divide by an operand or the result, as their patterns name it."""


class Roots:
    """Writes divisions by square roots as products with reciprocals.

    Parameters
    ----------
    program : Program
    keeping : Keeping
    names : Names
    writer : Writer
    is_on : bool
    """

    def __init__(
        self, program: Program, keeping: Keeping, names: Names, writer: Writer, is_on: bool
    ) -> None:
        self.keeping, self.names, self.writer = keeping, names, writer
        self._reciprocals: dict[tuple[Region, Value], str] = {}
        found = [self._place(op) for op in program.body.walk() if is_on and op.name in _DIVISORS]
        self._uses = Counter(place for place in found if place is not None)

    def _place(self, op: Op) -> tuple[Region, Value] | None:
        """Return the region and the root of the division that reverses an operation; None where the
        divisor is no root."""
        divisor = op.result if op.name == "sqrt" else op.args[1]
        is_root = (
            divisor.op is not None
            and divisor.op.name == "sqrt"
            and divisor.type.dtype in ("float32", "float64")
        )
        return (op.region, divisor) if is_root and self.keeping.is_reversed(op) else None

    def begin(self, region: Region) -> None:
        """Forget the reciprocals that were written for a region, which is written now."""
        self._reciprocals = {k: name for k, name in self._reciprocals.items() if k[0] is not region}

    def multiplied(self, op: Op, pattern: str) -> str:
        """Return what an operation adds to a cotangent, as a product where that saves divisions."""
        place = self._place(op) if op.name in _DIVISORS else None
        if place is None or self._uses[place] < 2:
            return pattern
        if place not in self._reciprocals:
            self._reciprocals[place] = self._written(place[1])
        return pattern.replace(f"/ {_DIVISORS[op.name]}", f"* {self._reciprocals[place]}")

    def _written(self, root: Value) -> str:
        name = self.names.fresh(f"inv_{root.hint}" if root.hint else "inv")
        one = "np.float32(1.0)" if root.type.dtype == "float32" else "1.0"
        self.writer.line(f"{name} = {one} / {self.names.of(root)}")
        return name
