"""Functions on whole vectors for AVX-512: `log`, `exp`, `expm1` and `tanh` as LLVM code.

They take the place of functions of the vector library, which are slower. Kernels written for
vectors contain the code itself; other loops call the code, compiled as a function. AVX-512 has
instructions that split a number into mantissa and exponent and join these, for subnormal numbers,
infinities and NaN too, so no special value needs code of its own.

A function that emits something appends operations to the text of its argument, and returns the
resulting vector. The polynomials come from ``docs/engine/derive_vector_math.py``.
"""

import struct
from collections.abc import Callable, Container, Sequence
from typing import Any

REGISTER = 512  # bits
_LETTERS = {64: "d", 32: "s"}


class Declarations:
    """Declarations of the functions that a text of LLVM code calls, one for each name.

    LLVM takes one declaration of a function in each module, while several parts of a kernel may
    call the function independently.
    """

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def add(self, result: str, name: str, kinds: Sequence[str], attributes: str = "") -> None:
        """Declare a function, unless its name is declared; LLVM knows the attributes of its
        intrinsics."""
        line = f"declare {result} @{name}({', '.join(kinds)}) {attributes}".rstrip()
        self._lines.setdefault(name, line)

    def lines(self, known: Container[str] = ()) -> list[str]:
        """Return a line for each function that is not ``known``, in alphabetical order."""
        return [line for name, line in sorted(self._lines.items()) if name not in known]


class VectorText:
    """A text of LLVM code, to which each operation appends a line.

    ``prefix`` begins the names of all results.
    """

    def __init__(self, bits: int, prefix: str, declarations: Declarations) -> None:
        self.bits, self.lanes, self.prefix = bits, REGISTER // bits, prefix
        self.declarations = declarations
        self.real = "double" if bits == 64 else "float"
        self.kind = f"<{self.lanes} x {self.real}>"
        self.lines: list[str] = []

    def write(self, operation: str) -> "Vector":
        """Append a line with an operation; return the vector that the line defines."""
        name = f"{self.prefix}x{len(self.lines)}"
        self.lines.append(f"{name} = {operation}")
        return Vector(self, name)

    def call(self, name: str, values: Sequence["Value"], *options: str) -> "Vector":
        """Emit a call of a function of vectors.

        The ``options`` are arguments after the vectors: each is the text of a type and a value.
        """
        operands = [f"{self.kind} {self.operand(x)}" for x in values] + [*options]
        kinds = [self.kind] * len(values) + [option.rpartition(" ")[0] for option in options]
        self.declarations.add(self.kind, name, kinds)
        return self.write(f"call {self.kind} @{name}({', '.join(operands)})")

    def operand(self, x: "Value") -> str:
        """Return the name of a vector, or the text of a constant vector with a number in all lanes.
        """
        if isinstance(x, Vector):
            return x.name
        rounded = struct.unpack("<f", struct.pack("<f", x))[0] if self.bits == 32 else x
        word = struct.unpack("<Q", struct.pack("<d", rounded))[0]
        return f"splat ({self.real} 0x{word:016X})"


def _arithmetic(name: str) -> Callable[["Vector", "Value"], "Vector"]:
    """Return a method that emits an instruction of LLVM on two vectors."""

    def write(x: "Vector", y: "Value") -> "Vector":
        text = x.text
        return text.write(f"{name} {text.kind} {x.name}, {text.operand(y)}")

    return write


class Vector:
    """A vector in a text of LLVM code: arithmetic on it appends operations to the text."""

    def __init__(self, text: VectorText, name: str) -> None:
        self.text, self.name = text, name

    __add__, __sub__ = _arithmetic("fadd"), _arithmetic("fsub")
    __mul__, __truediv__ = _arithmetic("fmul"), _arithmetic("fdiv")


Value = Vector | float
"""A vector, or a number for all lanes."""


def _function(name: str) -> Callable[..., Vector]:
    """Return a function that emits a call of an LLVM intrinsic for vectors."""

    def write(x: Vector, *more: Value) -> Vector:
        return x.text.call(f"llvm.{name}.v{x.text.lanes}f{x.text.bits}", (x, *more))

    return write


fma, rint, fabs, copysign = map(_function, ("fma", "rint", "fabs", "copysign"))


def polynomial(x: Vector, coefficients: Sequence[float]) -> Vector:
    """Emit a polynomial by Estrin's scheme: independent pairs of neighbouring terms first."""
    terms: list[Any] = [*coefficients]
    while len(terms) > 1:
        pairs = zip(terms[1::2], terms[::2], strict=False)
        joined = [fma(x, high, low) for high, low in pairs]
        terms = joined + terms[len(joined) * 2 :]
        x = x * x if len(terms) > 1 else x
    return terms[0]


def at_most(x: Vector, bound: float) -> Vector:
    """Emit, for each lane, the lesser of ``x`` and ``bound``; NaN stays NaN."""
    return _chosen("ogt", x, bound)


def at_least(x: Vector, bound: float) -> Vector:
    """Emit, for each lane, the greater of ``x`` and ``bound``; NaN stays NaN."""
    return _chosen("olt", x, bound)


def _chosen(comparison: str, x: Vector, bound: float) -> Vector:
    """Emit ``bound`` in lanes where the comparison of ``x`` with ``bound`` is true, ``x``
    elsewhere."""
    text, number = x.text, x.text.operand(bound)
    test = text.write(f"fcmp {comparison} {text.kind} {x.name}, {number}")
    values = f"{text.kind} {number}, {text.kind} {x.name}"
    return text.write(f"select <{text.lanes} x i1> {test.name}, {values}")


def mantissa(x: Vector) -> Vector:
    """Emit the mantissa of ``x`` in [0.75, 1.5): 1 for zeros and infinity, NaN below zero."""
    return _masked(x.text, "getmant", (x,), "i32 15")


def exponent(x: Vector) -> Vector:
    """Emit ``floor(log2(abs(x)))``: negative infinity for 0, infinity for infinity."""
    return _masked(x.text, "getexp", (x,))


def scale(x: Value, k: Vector) -> Vector:
    """Emit ``x * 2**k``, rounded once."""
    return _masked(k.text, "scalef", (x, k))


def _masked(text: VectorText, name: str, values: Sequence[Value], *options: str) -> Vector:
    """Emit an instruction of AVX-512 under a mask of all lanes, rounding to nearest."""
    name = f"llvm.x86.avx512.mask.{name}.p{_LETTERS[text.bits]}.{REGISTER}"
    rest = (f"{text.kind} zeroinitializer", f"i{text.lanes} -1", "i32 4")
    return text.call(name, values, *options, *rest)


# The functions

_LN2 = {
    64: (0.6931471805599453, 2.3190468138462996e-17),
    32: (0.6931471228599548, 5.7699990475432854e-08),
}
"""The logarithm of 2 as the sum of two numbers. They have one sign: for ``log(0)`` infinities of
both signs would give NaN."""

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
"""Bounds of arguments: below the first exp is 0, above the second it is infinite."""
_EXPM1_LEAST, _TANH_MOST = -80.0, 44.0
"""Bounds in both dtypes: below the first expm1 is -1; tanh is 1 if twice its argument exceeds the
second."""


def log(x: Vector) -> Vector:
    """Emit ``log(x)`` as ``k log(2) + 2 atanh(s)`` for ``x = m 2**k``, ``s = (m - 1) / (m + 1)``.
    """
    m = mantissa(x)
    k = exponent(x) - exponent(m)
    s = (m - 1.0) / (m + 1.0)
    high, low = _LN2[x.text.bits]
    z = s * s
    rest = fma(k, low, s + s)
    rest = fma(s * z, polynomial(z, _LOG[x.text.bits]), rest)
    return fma(k, high, rest)


def exp(x: Vector) -> Vector:
    """Emit ``exp(x)`` as ``2**k (1 + p)``, with ``k`` and ``p`` of `_reduced`."""
    least, most = _EXP_ENDS[x.text.bits]
    k, p = _reduced(at_least(at_most(x, most), least))
    return scale(p + 1.0, k)


def expm1(x: Vector) -> Vector:
    """Emit ``exp(x) - 1``, which has the sign of ``x``."""
    _, most = _EXP_ENDS[x.text.bits]
    return copysign(_expm1(at_least(at_most(x, most), _EXPM1_LEAST)), x)


def tanh(x: Vector) -> Vector:
    """Emit ``tanh(x)``: its size as ``e / (e + 2)`` for ``e = exp(2 abs(x)) - 1``, and its sign."""
    size = fabs(x)
    e = _expm1(at_most(size + size, _TANH_MOST))
    return copysign(e / (e + 2.0), x)


def _expm1(x: Vector) -> Vector:
    """Emit ``exp(x) - 1`` as ``2**k p + 2**k - 1``, with ``k`` and ``p`` of `_reduced`.

    Half of the result is computed first, as ``2**k`` may overflow where the result does not.
    """
    k, p = _reduced(x)
    half = scale(0.5, k)
    result = fma(half, p, half - 0.5)
    return result + result


def _reduced(x: Vector) -> tuple[Vector, Vector]:
    """Emit ``k`` and ``p = exp(r) - 1`` for ``x = k log(2) + r`` with ``abs(r) <= log(2) / 2``."""
    k = rint(x * 1.4426950408889634)
    high, low = _LN2[x.text.bits]
    r = fma(k, -low, fma(k, -high, x))
    return k, fma(r * r, polynomial(r, _EXP[x.text.bits]), r)


FUNCTIONS = {function.__name__: function for function in (log, exp, expm1, tanh)}
SYMBOLS = {f"numgrad_vector_{name}_{bits}": (name, bits) for name in FUNCTIONS for bits in (64, 32)}
"""The function and the bits of a number, by the name of the compiled function."""


def symbol_of(function: str, bits: int) -> str | None:
    """Return the name under which a function of this module is compiled; None for any other
    function."""
    symbol = f"numgrad_vector_{function}_{bits}"
    return symbol if symbol in SYMBOLS else None


def written(
    symbol: str, arguments: Sequence[str], prefix: str, declarations: Declarations
) -> Vector:
    """Emit the function ``symbol`` of the vectors with these names; return the resulting vector.

    The attribute ``text`` of the result has the lines of code.
    """
    function, bits = SYMBOLS[symbol]
    text = VectorText(bits, prefix, declarations)
    return FUNCTIONS[function](*(Vector(text, name) for name in arguments))


def module_of(symbol: str, name: str) -> str:
    """Return the text of an LLVM module with the function ``symbol`` of one vector, called
    ``name``."""
    declarations = Declarations()
    result = written(symbol, ["%a"], "%", declarations)
    kind, lines = result.text.kind, result.text.lines
    head = f"define {kind} @{name}({kind} %a) {{"
    return "\n".join((*declarations.lines(), head, *lines, f"ret {kind} {result.name}", "}"))
