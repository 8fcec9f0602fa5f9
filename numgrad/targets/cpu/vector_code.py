"""Functions on whole vectors that are written here, in LLVM's code, for AVX-512.

They stand for those of the vector library where they are faster. Kernels that are written for
vectors take the code itself; loops and chains call it, compiled as a function. AVX-512 has
instructions that take a number apart and put it together, subnormal, infinite and NaN as it may
be, so no special value needs code of its own.

The polynomials come from ``docs/engine/derive_vector_math.py``.
"""

import struct
from collections.abc import Callable, Sequence
from itertools import count

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
        self.declarations: set[str] = set()
        self._names = (f"{prefix}x{k}" for k in count())

    def add(self, a: Value, b: Value) -> str:
        """Write ``a + b``."""
        return self._write(f"fadd {self.kind} {self._of(a)}, {self._of(b)}")

    def subtract(self, a: Value, b: Value) -> str:
        """Write ``a - b``."""
        return self._write(f"fsub {self.kind} {self._of(a)}, {self._of(b)}")

    def multiply(self, a: Value, b: Value) -> str:
        """Write ``a * b``."""
        return self._write(f"fmul {self.kind} {self._of(a)}, {self._of(b)}")

    def divide(self, a: Value, b: Value) -> str:
        """Write ``a / b``."""
        return self._write(f"fdiv {self.kind} {self._of(a)}, {self._of(b)}")

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
        test = self._write(f"fcmp {comparison} {self.kind} {self._of(x)}, {self._of(bound)}")
        flags = f"<{self.lanes} x i1> {test}"
        return self._write(f"select {flags}, {self.kind} {self._of(bound)}, {self._typed(x)}")

    def _masked(self, name: str, values: Sequence[Value], option: str = "") -> str:
        """Write an instruction under a mask of all lanes, rounding to nearest."""
        mask = f"i{self.lanes}"
        name = f"llvm.x86.avx512.mask.{name}.p{_LETTERS[self.bits]}.{REGISTER}"
        kinds = ", ".join([self.kind] * len(values)) + (", i32" if option else "")
        self.declarations.add(f"declare {self.kind} @{name}({kinds}, {self.kind}, {mask}, i32)")
        operands = ", ".join(map(self._typed, values)) + option
        rest = f"{self.kind} zeroinitializer, {mask} -1, i32 4"
        return self._write(f"call {self.kind} @{name}({operands}, {rest})")

    def _call(self, name: str, values: Sequence[Value]) -> str:
        kinds = ", ".join([self.kind] * len(values))
        self.declarations.add(f"declare {self.kind} @{name}({kinds})")
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


# The functions

_LN2 = {
    64: (0.6931471805599453, 2.3190468138462996e-17),
    32: (0.6931471228599548, 5.7699990475432854e-08),
}
"""The logarithm of 2 as the sum of two numbers of one sign, or log(0) were infinite twice over."""

_LOG = {
    64: (
        0.6666666666667271, 0.3999999999616169, 0.28571429395288994, 0.22222138501575864,
        0.181863560702089, 0.15250188537774284, 0.15368191507663329,
    ),
    32: (0.666669487953186, 0.3995782434940338, 0.3036056160926819),
}  # fmt: skip
_EXP = {
    64: (
        0.5000000000000011, 0.16666666666666413, 0.04166666666653027, 0.008333333333494336,
        0.0013888888943596692, 0.0001984126950677077, 2.4801493137017033e-05,
        2.7557586275997238e-06, 2.763023367836618e-07, 2.5000068919530822e-08,
    ),
    32: (
        0.4999999403953552, 0.1666652113199234, 0.04166838899254799, 0.008368710055947304,
        0.0013814613921567798,
    ),
}  # fmt: skip
_EXP_ENDS = {64: (-746.0, 710.0), 32: (-104.0, 89.0)}
"""Below exp is 0, above it is infinite."""
_EXPM1_LEAST, _TANH_MOST = -80.0, 44.0
"""Below and above these are -1 and 1 in both dtypes; of tanh it is twice the argument."""


def log(text: VectorText, x: Value) -> str:
    """Write ``log(x) = k log(2) + 2 atanh(s)`` for ``x = m 2**k``, ``s = (m - 1) / (m + 1)``."""
    m = text.mantissa(x)
    k = text.subtract(text.exponent(x), text.exponent(m))
    s = text.divide(text.subtract(m, 1.0), text.add(m, 1.0))
    high, low = _LN2[text.bits]
    z = text.multiply(s, s)
    rest = text.fma(k, low, text.add(s, s))
    rest = text.fma(text.multiply(s, z), text.polynomial(z, _LOG[text.bits]), rest)
    return text.fma(k, high, rest)


def exp(text: VectorText, x: Value) -> str:
    """Write ``exp(x) = 2**k (1 + p)``."""
    least, most = _EXP_ENDS[text.bits]
    k, p = _reduced(text, text.at_least(text.at_most(x, most), least))
    return text.scale(text.add(p, 1.0), k)


def expm1(text: VectorText, x: Value) -> str:
    """Write ``exp(x) - 1``, which has the sign of ``x``."""
    _, most = _EXP_ENDS[text.bits]
    return text.copysign(_expm1(text, text.at_least(text.at_most(x, most), _EXPM1_LEAST)), x)


def tanh(text: VectorText, x: Value) -> str:
    """Write ``tanh(abs(x)) = e / (e + 2)`` for ``e = exp(2 abs(x)) - 1``, and the sign."""
    size = text.fabs(x)
    e = _expm1(text, text.at_most(text.add(size, size), _TANH_MOST))
    return text.copysign(text.divide(e, text.add(e, 2.0)), x)


def _expm1(text: VectorText, x: Value) -> str:
    """Write ``2**k p + 2**k - 1``, by halves: ``2**k`` can be infinite where the result is not."""
    k, p = _reduced(text, x)
    half = text.scale(0.5, k)
    result = text.fma(half, p, text.subtract(half, 0.5))
    return text.add(result, result)


def _reduced(text: VectorText, x: Value) -> tuple[str, str]:
    """Write ``k`` and ``p = exp(r) - 1`` for ``x = k log(2) + r``, ``abs(r) <= log(2) / 2``."""
    k = text.rint(text.multiply(x, 1.4426950408889634))
    high, low = _LN2[text.bits]
    r = text.fma(k, -low, text.fma(k, -high, x))
    return k, text.fma(text.multiply(r, r), text.polynomial(r, _EXP[text.bits]), r)


FUNCTIONS: dict[str, Callable[[VectorText, Value], str]] = {
    "log": log, "exp": exp, "expm1": expm1, "tanh": tanh,
}  # fmt: skip
SYMBOLS = {f"numgrad_vector_{name}_{bits}": (name, bits) for name in FUNCTIONS for bits in (64, 32)}
"""Names of the compiled functions."""


def symbol_of(function: str, bits: int) -> str | None:
    """Name of the compiled function; None where it is not written here."""
    symbol = f"numgrad_vector_{function}_{bits}"
    return symbol if symbol in SYMBOLS else None


def written(symbol: str, argument: str, prefix: str) -> tuple[VectorText, str]:
    """The code of a function applied to a value, and the name of its result."""
    function, bits = SYMBOLS[symbol]
    text = VectorText(bits, prefix)
    return text, FUNCTIONS[function](text, argument)


def module_of(symbol: str, name: str) -> str:
    """A module that defines a function, under another name."""
    text, result = written(symbol, "%x", "%")
    lines = [*text.lines, f"ret {text.kind} {result}"]
    head = [*sorted(text.declarations), f"define {text.kind} @{name}({text.kind} %x) {{"]
    return "\n".join([*head, *lines, "}"])
