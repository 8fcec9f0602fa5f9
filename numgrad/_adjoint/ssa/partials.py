"""A table of the scalar functions of kernels and their derivatives.

Each line says how a result is written and what it adds to the cotangent of each argument, where
``{g}`` is the cotangent of the result, ``{r}`` the result, ``{0}`` and ``{1}`` the arguments. The
conventions at ties and kinks are those of the operators of the same names.
"""

from dataclasses import dataclass

LN2 = "0.6931471805599453"
LN10 = "2.302585092994046"


@dataclass(frozen=True)
class Scalar:
    """A scalar operation.

    Attributes
    ----------
    text : str
        How it is written, with ``{f}`` for the name that the user has for the function.
    adds : tuple of (str or None)
        What it adds to the cotangent of each argument; None where the derivative is 0.
    result : str
        ``"float"`` (of the arguments' precision), ``"same"`` (as arithmetic promotes), ``"int"``,
        ``"bool"`` or ``"kept"`` (the type of the first argument).
    heavy : bool
        Whether a result is rather kept than computed again.
    """

    text: str
    adds: tuple[str | None, ...]
    result: str = "float"
    heavy: bool = False


def _function(*adds: str | None, result: str = "float", heavy: bool = True) -> Scalar:
    places = ", ".join(f"{{{n}}}" for n in range(len(adds)))
    return Scalar(f"{{f}}({places})", adds, result, heavy)


# Branches hold values that exist already, so that LLVM selects where it would jump. An infinite
# cotangent adds 0 to what was not chosen, and not 0 times infinity.
_SHARE_MAX = "({g} if {%d} >= {%d} else 0.0) * (0.5 if {%d} == {%d} else 1.0)"
_SHARE_MIN = "({g} if {%d} <= {%d} else 0.0) * (0.5 if {%d} == {%d} else 1.0)"

SCALARS: dict[str, Scalar] = {
    "add": Scalar("{0} + {1}", ("{g}", "{g}"), "same"),
    "sub": Scalar("{0} - {1}", ("{g}", "-{g}"), "same"),
    "mul": Scalar("{0} * {1}", ("{g} * {1}", "{g} * {0}"), "same"),
    "truediv": Scalar("{0} / {1}", ("{g} / {1}", "-({g} / {1}) * {r}")),
    "floordiv": Scalar("{0} // {1}", (None, None), "same"),
    "mod": Scalar("{0} % {1}", ("{g}", "-{g} * ({0} // {1})"), "same"),
    "pow": Scalar(
        "{0} ** {1}",
        (
            "({g} * ({1} * {0} ** ({1} - 1)) if {1} != 0 else 0.0)",
            "({g} * ({r} * np.log({0})) if {0} != 0 else 0.0)",
        ),
        "same",
        True,
    ),
    "square": Scalar("{0} ** 2", ("{g} * (2 * {0})",), "same"),
    "cube": Scalar("{0} ** 3", ("{g} * (3 * {0} * {0})",), "same"),
    "neg": Scalar("-{0}", ("-{g}",), "same"),
    "pos": Scalar("+{0}", ("{g}",), "same"),
    "abs": Scalar("{f}({0})", ("({g} if {0} > 0 else 0.0) - ({g} if {0} < 0 else 0.0)",), "same"),
    "max": Scalar("{f}({0}, {1})", (_SHARE_MAX % (0, 1, 0, 1), _SHARE_MAX % (1, 0, 0, 1)), "same"),
    "min": Scalar("{f}({0}, {1})", (_SHARE_MIN % (0, 1, 0, 1), _SHARE_MIN % (1, 0, 0, 1)), "same"),
    "sqrt": _function("{g} * 0.5 / {r}", heavy=False),
    "cbrt": _function("{g} * ({r} / {0} / 3 if {0} != 0 else np.inf)"),
    "exp": _function("{g} * {r}"),
    "exp2": _function("{g} * ({r} * " + LN2 + ")"),
    "expm1": _function("{g} * np.exp({0})"),
    "log": _function("{g} / {0}"),
    "log2": _function("{g} / ({0} * " + LN2 + ")"),
    "log10": _function("{g} / ({0} * " + LN10 + ")"),
    "log1p": _function("{g} / (1 + {0})"),
    "sin": _function("{g} * np.cos({0})"),
    "cos": _function("-{g} * np.sin({0})"),
    "tan": _function("{g} * (1 + {r} * {r})"),
    "arcsin": _function("{g} / np.sqrt((1 - {0}) * (1 + {0}))"),
    "arccos": _function("-{g} / np.sqrt((1 - {0}) * (1 + {0}))"),
    "arctan": _function("{g} / (1 + {0} * {0})"),
    "sinh": _function("{g} * np.cosh({0})"),
    "cosh": _function("{g} * np.sinh({0})"),
    "tanh": _function("{g} * ((1 - {r}) * (1 + {r}))"),
    "arcsinh": _function("{g} / np.sqrt({0} * {0} + 1)"),
    "arccosh": _function("{g} / np.sqrt(({0} - 1) * ({0} + 1))"),
    "arctanh": _function("{g} / ((1 - {0}) * (1 + {0}))"),
    "arctan2": _function(
        "({g} * {1} / ({0} * {0} + {1} * {1}) if {0} != 0 or {1} != 0 else kink({0}, {1}))",
        "(-{g} * {0} / ({0} * {0} + {1} * {1}) if {0} != 0 or {1} != 0 else kink({0}, {1}))",
    ),
    "hypot": _function(
        "({g} * ({0} / {r}) if {r} != 0 else kink({0}, {1}))",
        "({g} * ({1} / {r}) if {r} != 0 else kink({0}, {1}))",
    ),
    "norm": _function("({g} * 0.5 / {r} if {r} != 0 else kink({0}, {0}))", heavy=False),
    "clip": Scalar(
        "clip({0}, {1}, {2})",
        (
            "({g} if {1} <= {0} <= {2} else 0.0)",
            "({g} if {0} < {1} < {2} else 0.0)",
            "({g} if {0} > {2} or {1} > {2} else 0.0)",
        ),
        "same",
    ),
    "gamma": _function("{g} * ({r} * polygamma(0, {0}))"),
    "lgamma": _function("{g} * polygamma(0, {0})"),
    "polygamma": _function(None, "{g} * polygamma({0} + 1, {1})"),
    "logaddexp": _function("{g} * np.exp({0} - {r})", "{g} * np.exp({1} - {r})"),
    "logaddexp2": _function("{g} * np.exp2({0} - {r})", "{g} * np.exp2({1} - {r})"),
    "signbit": _function(None, result="bool", heavy=False),
    "ldexp": _function("math.ldexp({g}, {1})", None, heavy=False),
    "held": _function(None, result="same", heavy=False),
    "tied": _function("({g} / {2} if {0} == {1} else 0.0)", None, None, heavy=False),
    "undefined": Scalar("0.0", ("({g} * np.nan if {g} != 0 else 0.0)",), "float"),
    "slope": Scalar("{0}", (None, "{g}"), "kept"),
    "kink": _function("{g} * np.nan", "{g} * np.nan", heavy=False),
    "erf": _function("{g} * (1.1283791670955126 * np.exp(-{0} * {0}))"),
    "erfc": _function("-{g} * (1.1283791670955126 * np.exp(-{0} * {0}))"),
    "copysign": _function(
        "({g} * (math.copysign(1.0, {0}) * math.copysign(1.0, {1})) if {0} != 0 else 0.0)", None
    ),
    "fmod": _function("{g}", "-{g} * math.trunc({0} / {1})"),
    "degrees": _function("{g} * 57.29577951308232", heavy=False),
    "radians": _function("{g} * 0.017453292519943295", heavy=False),
    "reciprocal": _function("-{g} * ({r} * {r})", heavy=False),
    "nextafter": _function("{g}", None, result="same", heavy=False),
    "spacing": _function(None, result="same", heavy=False),
    "sign": _function(None, result="same", heavy=False),
    "floor": _function(None, heavy=False),
    "ceil": _function(None, heavy=False),
    "trunc": _function(None, heavy=False),
    "rint": _function(None, heavy=False),
    "rounded": _function(None, None, heavy=False),
    "floor_int": _function(None, result="int", heavy=False),
    "int": Scalar("{f}({0})", (None,), "int"),
    "bool": Scalar("{f}({0})", (None,), "bool"),
    "float": Scalar("{f}({0})", ("{g}",)),
    "float64": Scalar("{f}({0})", ("{g}",), "float64"),
    "float32": Scalar("{f}({0})", ("{g}",), "float32"),
    "isnan": _function(None, result="bool", heavy=False),
    "isfinite": _function(None, result="bool", heavy=False),
    "isinf": _function(None, result="bool", heavy=False),
    "select": Scalar(
        "({1} if {0} else {2})",
        (None, "({g} if {0} else 0.0)", "(0.0 if {0} else {g})"),
        "branches",
    ),
    "lt": Scalar("{0} < {1}", (None, None), "bool"),
    "le": Scalar("{0} <= {1}", (None, None), "bool"),
    "gt": Scalar("{0} > {1}", (None, None), "bool"),
    "ge": Scalar("{0} >= {1}", (None, None), "bool"),
    "eq": Scalar("{0} == {1}", (None, None), "bool"),
    "ne": Scalar("{0} != {1}", (None, None), "bool"),
    "not": Scalar("not {0}", (None,), "bool"),
    "and": Scalar("({0} and {1})", (None, None), "bool"),
    "or": Scalar("({0} or {1})", (None, None), "bool"),
    "bitand": Scalar("{0} & {1}", (None, None), "same"),
    "bitor": Scalar("{0} | {1}", (None, None), "same"),
    "bitxor": Scalar("{0} ^ {1}", (None, None), "same"),
    "lshift": Scalar("{0} << {1}", (None, None), "same"),
    "rshift": Scalar("{0} >> {1}", (None, None), "same"),
    "invert": Scalar("~{0}", (None,), "same"),
    "intcast": Scalar("{f}({0})", (None,), "given"),
    "real": Scalar("{0}.real", ("({g} + 0j)",), "given"),
    "imag": Scalar("{0}.imag", ("({g} * 1j)",), "given"),
    "complex": Scalar("complex({0}, {1})", ("{g}.real", "{g}.imag"), "given"),
    "extent": Scalar("len(range({0}, {1}, {2}))", (None, None, None), "int"),
}

COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "isnan", "isfinite", "isinf"})
