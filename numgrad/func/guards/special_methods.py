"""The special methods that operators, statements and built-in functions call, by what they are in
the code of a function.

``layer @ x`` calls the method ``__matmul__`` of the user's class, whose code reads names as any
other method does.
"""

from collections.abc import Collection, Iterator
from dis import Instruction

_ARITHMETIC = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "@": "matmul", "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
_COMPARISONS = {
    "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"), "==": ("__eq__",),
    ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__"), "!=": ("__ne__", "__eq__"),
}  # fmt: skip
_ITERATION = ("__iter__", "__next__", "__getitem__", "__len__")
_TRUTH = ("__bool__", "__len__")
_OPERATIONS = {
    "BINARY_SUBSCR": ("__getitem__",), "BINARY_SLICE": ("__getitem__",),
    "STORE_SUBSCR": ("__setitem__",), "STORE_SLICE": ("__setitem__",),
    "CONTAINS_OP": ("__contains__", *_ITERATION), "DICT_MERGE": ("keys", "__getitem__"),
    "BEFORE_WITH": ("__enter__", "__exit__"), "UNARY_NEGATIVE": ("__neg__",),
    "UNARY_INVERT": ("__invert__",), "UNARY_POSITIVE": ("__pos__",),
    **dict.fromkeys(("UNARY_NOT", "TO_BOOL"), _TRUTH),
    **dict.fromkeys(("GET_ITER", "UNPACK_SEQUENCE", "UNPACK_EX", "LIST_EXTEND"), _ITERATION),
    "CALL": ("__call__",), "CALL_KW": ("__call__",), "CALL_FUNCTION_EX": ("__call__", *_ITERATION),
}  # fmt: skip
_ITERATING = (
    "all", "any", "dict", "enumerate", "filter", "iter", "list", "map", "max", "min", "next", "set",
    "sorted", "sum", "tuple", "zip",
)  # fmt: skip
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "abs": ("__abs__",), "array": ("__array__",), "asarray": ("__array__",), "bool": _TRUTH,
    "complex": ("__complex__", "__float__"), "divmod": ("__divmod__", "__rdivmod__"),
    "float": ("__float__", "__index__"), "int": ("__int__", "__index__"), "len": ("__len__",),
    "pow": ("__pow__", "__rpow__"), "range": ("__index__",),
    "reversed": ("__reversed__", *_ITERATION), "round": ("__round__",),
    **dict.fromkeys(_ITERATING, _ITERATION),
}  # fmt: skip


def special_methods(one: Instruction) -> Collection[str]:
    """Return the names of the special methods that an instruction may call."""
    shown, name = one.argrepr, one.opname
    if name == "BINARY_OP":
        return _of_operator(shown)
    if name == "COMPARE_OP":
        return _COMPARISONS.get(shown.removeprefix("bool(").removesuffix(")"), ())
    if name == "LOAD_SPECIAL":
        return (shown,)
    if name == "CALL_INTRINSIC_1":
        return ("__pos__",) if "POSITIVE" in shown else _ITERATION
    is_test = "JUMP" in name and "IF" in name and "NONE" not in name
    return _TRUTH if is_test else _OPERATIONS.get(name, ())


def _of_operator(shown: str) -> Collection[str]:
    if shown == "[]":
        return ("__getitem__",)
    word = _ARITHMETIC.get(shown.removesuffix("="))
    if word is None:
        return ()
    plain = (f"__{word}__", f"__r{word}__")
    return (f"__i{word}__", *plain) if shown.endswith("=") else plain


def of_functions(names: Collection[str]) -> Iterator[str]:
    """Yield the names of the special methods that built-in functions of certain names call."""
    for name in names:
        yield from _FUNCTIONS.get(name, ())


__all__ = ["of_functions", "special_methods"]
