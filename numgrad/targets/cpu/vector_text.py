"""LLVM code of operations on whole registers of AVX-512, written line by line."""

import struct
from collections.abc import Sequence
from itertools import count

from .declarations import Declarations

REGISTER = 512
_LETTERS = {64: "d", 32: "s"}

Value = str | float
"""The name of a vector, or a number for all lanes."""


class VectorText:
    """Writes operations on vectors, one a line, whose results have names that begin alike."""

    def __init__(self, bits: int, prefix: str) -> None:
        self.bits, self.lanes = bits, REGISTER // bits
        self.real = "double" if bits == 64 else "float"
        self.kind = f"<{self.lanes} x {self.real}>"
        self.lines: list[str] = []
        self.declarations = Declarations()
        self._names = (f"{prefix}x{k}" for k in count())

    def add(self, a: Value, b: Value) -> str:
        """Write ``a + b``."""
        return self._write(f"fadd {self._typed(a)}, {self._of(b)}")

    def subtract(self, a: Value, b: Value) -> str:
        """Write ``a - b``."""
        return self._write(f"fsub {self._typed(a)}, {self._of(b)}")

    def multiply(self, a: Value, b: Value) -> str:
        """Write ``a * b``."""
        return self._write(f"fmul {self._typed(a)}, {self._of(b)}")

    def divide(self, a: Value, b: Value) -> str:
        """Write ``a / b``."""
        return self._write(f"fdiv {self._typed(a)}, {self._of(b)}")

    def fma(self, a: Value, b: Value, c: Value) -> str:
        """Write ``a * b + c``, rounded once."""
        return self._call(f"llvm.fma.v{self.lanes}f{self.bits}", [a, b, c])

    def rint(self, x: Value) -> str:
        """Write the nearest integer of ``x``, of two the even one."""
        return self._call(f"llvm.rint.v{self.lanes}f{self.bits}", [x])

    def fabs(self, x: Value) -> str:
        """Write ``abs(x)``."""
        return self._call(f"llvm.fabs.v{self.lanes}f{self.bits}", [x])

    def copysign(self, x: Value, sign: Value) -> str:
        """Write ``x`` with the sign of another number."""
        return self._call(f"llvm.copysign.v{self.lanes}f{self.bits}", [x, sign])

    def polynomial(self, x: Value, coefficients: Sequence[float]) -> str:
        """Write a polynomial by Estrin's scheme: neighbours first, which do not wait for others."""
        terms: list[Value] = [*coefficients]
        while True:
            pairs = zip(terms[1::2], terms[::2], strict=False)
            joined: list[Value] = [self.fma(x, high, low) for high, low in pairs]
            terms = joined + terms[len(joined) * 2 :]
            if len(terms) == 1:
                return self._of(terms[0])
            x = self.multiply(x, x)

    def at_most(self, x: Value, bound: float) -> str:
        """Write the smaller one of ``x`` and a number; NaN stays NaN."""
        return self._chosen("ogt", x, bound)

    def at_least(self, x: Value, bound: float) -> str:
        """Write the larger one of ``x`` and a number; NaN stays NaN."""
        return self._chosen("olt", x, bound)

    def mantissa(self, x: Value) -> str:
        """Write ``x`` times the power of two that takes it to [0.75, 1.5): 1 for zeros and
        infinity, NaN below zero."""
        return self._masked("getmant", [x], ", i32 15")

    def exponent(self, x: Value) -> str:
        """Write ``floor(log2(abs(x)))``: negative infinity for 0, infinity for infinity."""
        return self._masked("getexp", [x])

    def scale(self, x: Value, k: Value) -> str:
        """Write ``x * 2**k``, rounded once."""
        return self._masked("scalef", [x, k])

    def _chosen(self, comparison: str, x: Value, bound: float) -> str:
        """Write a number where ``x`` compares so with it, ``x`` elsewhere."""
        test = self._write(f"fcmp {comparison} {self._typed(x)}, {self._of(bound)}")
        flags = f"<{self.lanes} x i1> {test}"
        return self._write(f"select {flags}, {self._typed(bound)}, {self._typed(x)}")

    def _masked(self, name: str, values: Sequence[Value], option: str = "") -> str:
        """Write an instruction under a mask of all lanes, rounding to nearest."""
        mask = f"i{self.lanes}"
        name = f"llvm.x86.avx512.mask.{name}.p{_LETTERS[self.bits]}.{REGISTER}"
        kinds = [self.kind] * len(values) + ["i32"] * bool(option)
        self.declarations.add(self.kind, name, [*kinds, self.kind, mask, "i32"])
        operands = ", ".join(map(self._typed, values)) + option
        rest = f"{self.kind} zeroinitializer, {mask} -1, i32 4"
        return self._write(f"call {self.kind} @{name}({operands}, {rest})")

    def _call(self, name: str, values: Sequence[Value]) -> str:
        self.declarations.add(self.kind, name, [self.kind] * len(values))
        return self._write(f"call {self.kind} @{name}({', '.join(map(self._typed, values))})")

    def _write(self, operation: str) -> str:
        name = next(self._names)
        self.lines.append(f"{name} = {operation}")
        return name

    def _typed(self, x: Value) -> str:
        return f"{self.kind} {self._of(x)}"

    def _of(self, x: Value) -> str:
        if isinstance(x, str):
            return x
        rounded = struct.unpack("<f", struct.pack("<f", x))[0] if self.bits == 32 else x
        word = struct.unpack("<Q", struct.pack("<d", rounded))[0]
        return f"splat ({self.real} 0x{word:016X})"
