"""Functions on whole vectors that are written here, in LLVM's code, for AVX-512.

They stand for those of the vector library where they are faster. Kernels that are written for
vectors take the code itself; loops and chains call it, compiled as a function. AVX-512 has
instructions that take a number apart and put it together, subnormal, infinite and NaN as it may
be, so no special value needs code of its own.

The polynomials come from ``docs/engine/derive_vector_math.py``.
"""

from collections.abc import Callable, Sequence

from .vector_text import Value, VectorText

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


FUNCTIONS: dict[str, Callable[..., str]] = {
    "log": log, "exp": exp, "expm1": expm1, "tanh": tanh,
}  # fmt: skip
SYMBOLS = {f"numgrad_vector_{name}_{bits}": (name, bits) for name in FUNCTIONS for bits in (64, 32)}
"""Names of the compiled functions."""


def symbol_of(function: str, bits: int) -> str | None:
    """Name of the compiled function; None where it is not written here."""
    symbol = f"numgrad_vector_{function}_{bits}"
    return symbol if symbol in SYMBOLS else None


def written(symbol: str, arguments: Sequence[str], prefix: str) -> tuple[VectorText, str]:
    """The code of a function applied to values, and the name of its result."""
    function, bits = SYMBOLS[symbol]
    text = VectorText(bits, prefix)
    return text, FUNCTIONS[function](text, *arguments)


def module_of(symbol: str, name: str, count: int) -> str:
    """A module that defines a function of so many vectors, under another name."""
    arguments = [f"%a{k}" for k in range(count)]
    text, result = written(symbol, arguments, "%")
    lines = [*text.lines, f"ret {text.kind} {result}"]
    parameters = ", ".join(f"{text.kind} {argument}" for argument in arguments)
    head = [*text.declarations.lines(), f"define {text.kind} @{name}({parameters}) {{"]
    return "\n".join([*head, *lines, "}"])
