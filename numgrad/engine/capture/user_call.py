"""The running call in the user's program: its source, its line, and the function that it calls.

The call is looked up only when an error is made.
"""

import ast
import builtins
import dis
import linecache
import os
import sys
from collections.abc import Iterator
from itertools import islice
from types import (
    BuiltinFunctionType,
    FrameType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, NamedTuple

import numpy as np

from ...process.bounded_dict import Bounded
from ..graph.callsite import PACKAGE, Site, user_frame
from .instructions import beginning

_LIBRARIES = (os.path.dirname(os.__file__) + os.sep, "<frozen ")
_ABSENT = object()
_KNOWN = ("numpy", "scipy", "uarray", "pandas", "xarray")  # SciPy's Fourier transforms are uarray's
_FUNCTIONS = (type, FunctionType, MethodType, BuiltinFunctionType, MethodWrapperType)
_OPERATIONS = ("CALL", "PRECALL", "BINARY_", "COMPARE_OP", "STORE_SUBSCR", "STORE_SLICE")
"""The instructions of calls, operators and writes. Python 3.11 calls functions of C in ``PRECALL``
once it has specialized the call."""


class UserCall(NamedTuple):
    """A call, operator or write in the user's program.

    Attributes
    ----------
    frame : FrameType
        The frame that runs the call.
    tree : ast.expr or None
        The source of the call; None where there is no source.
    name : str or None
        The public name of the called function, such as ``"numpy.array"``. In
        ``"scipy.stats.norm().logpdf"`` the parentheses stand for an object that a call has made.
    named : ast.expr or None
        The part of the source whose object was looked up: all of ``name``, or only its beginning,
        is the public name of that object.
    is_write : bool
        Whether the call is a write of elements, such as ``a[i] = x``.
    library : str
        The package of the called function if the function is written in Python, else empty.
    """

    frame: FrameType
    tree: ast.expr | None
    name: str | None
    named: ast.expr | None
    is_write: bool
    library: str = ""

    @property
    def site(self) -> Site:
        """The line of the call."""
        return Site(self.frame.f_code, self.frame.f_lasti)

    def value_of(self, tree: ast.AST | None) -> Any:
        """Return the object of an expression that is a name or an attribute; None for any other
        expression, and where the look-up could run code of the user."""
        return value_in(tree, self.frame)


def user_calls() -> Iterator[UserCall]:
    """Yield the call that the user's innermost frame is running, and then the user's call of a
    library.

    The second call is yielded only if a library has called the function of the innermost frame.
    """
    frame, inner = _leave_libraries(sys._getframe(1))
    if frame is None:
        frame, inner = user_frame(sys._getframe(1)), None
    if frame is None:
        return
    yield _call_of(frame, inner)
    outer = frame.f_back
    while outer is not None and is_users(outer):
        outer = outer.f_back
    if outer is not None and not outer.f_code.co_filename.startswith(PACKAGE):
        frame, inner = _leave_libraries(outer, through_numgrad=False)
        if frame is not None:
            yield _call_of(frame, inner)


def _leave_libraries(
    frame: FrameType | None, through_numgrad: bool = True
) -> tuple[FrameType | None, FrameType | None]:
    """Return the user's innermost frame among ``frame`` and its callers, and the frame of a library
    that the user's frame has called, if any.

    Without ``through_numgrad`` the search ends at the first frame of numgrad, and both results are
    None.
    """
    inner = None
    while frame is not None and not is_users(frame):
        if frame.f_code.co_filename.startswith(PACKAGE):
            if not through_numgrad:
                return None, None
        else:
            inner = frame
        frame = frame.f_back
    return frame, inner


def is_answered() -> bool:
    """Whether the user's innermost frame has called a function of NumPy that numgrad answers.

    What that call asks for is asked for by numgrad's function too, if the user calls it itself.
    """
    frame, last = sys._getframe(1), None
    while frame is not None and not is_users(frame):
        last = frame if frame.f_code.co_filename.startswith(PACKAGE) else last
        frame = frame.f_back
    return last is not None and last.f_code.co_name in ("array_function", "array_ufunc")


def is_users(frame: FrameType) -> bool:
    """Whether a frame runs the user's program: neither a library nor numgrad.

    A text that is executed belongs to the module in whose names it runs: SciPy makes functions so.
    """
    name = frame.f_code.co_filename
    return is_of_user(frame.f_globals.get("__file__", name) if name == "<string>" else name)


def is_of_user(name: str | None) -> bool:
    """Whether a file is of the user's program: neither a library's nor numgrad's."""
    if name is None:
        return False
    is_library = "site-packages" in name or "dist-packages" in name or name.startswith(_LIBRARIES)
    return not is_library and not name.startswith(PACKAGE)


def _call_of(frame: FrameType, inner: FrameType | None) -> UserCall:
    operation = _operation(frame)
    is_property = operation == "LOAD_ATTR" and inner is not None
    if not is_property and not operation.startswith(_OPERATIONS):  # such as a test of truth
        return UserCall(frame, None, None, None, False)
    tree, called = _expressions(frame)
    if isinstance(called, ast.Subscript):
        called = called.value
    name, named = _name_of(called, frame)
    named = None if tree is None else named
    if name is None and inner is not None:
        name = public_name(inner.f_globals.get(inner.f_code.co_name)) or inner.f_globals.get(
            "__name__"
        )
    library = "" if inner is None else str(inner.f_globals.get("__name__")).partition(".")[0]
    return UserCall(frame, tree, name, named, operation.startswith("STORE_"), library)


def _operation(frame: FrameType) -> str:
    """Return the name of the instruction that a frame runs."""
    code, place = frame.f_code.co_code, frame.f_lasti
    while place > 0 and code[place] == dis.opmap["CACHE"]:  # the end of a call of Python code
        place -= 2
    return dis.opname[code[place]] if place >= 0 else ""


# The source ---------------------------------------------------------------------------------------


def _expressions(frame: FrameType) -> tuple[ast.expr | None, ast.expr | None]:
    """Return the source expression of the instruction that a frame runs, and that of the function
    or operand with which it begins; None without a source.

    They are worked out once for each instruction, as numbers are often asked for in a loop.
    """
    code = frame.f_code
    known = _seen.get((id(code), frame.f_lasti))
    if known is None:
        tree = _source(frame)
        called = tree.func if isinstance(tree, ast.Call) else tree or beginning(frame)
        known = _seen[id(code), frame.f_lasti] = (code, tree, called)
    return known[1:]


_seen: dict[tuple[int, int], tuple[Any, ...]] = Bounded(256)  # by a code, which each item keeps


def _source(frame: FrameType) -> ast.expr | None:
    """Return the source expression of the instruction that a frame runs; None without a source."""
    text = source_text(frame)
    try:
        return ast.parse(f"({text}\n)", mode="eval").body if text else None
    except (SyntaxError, ValueError):
        return None


def source_text(frame: FrameType) -> str:
    """Return the source of the instruction that a frame runs; nothing without a source."""
    places = islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    first, last, begin, end = next(places, (None,) * 4)
    if first is None or last is None or begin is None or end is None:
        return ""
    lines = [line.encode() for line in lines_of(frame)[first - 1 : last]]
    if not lines:
        return ""
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][begin:]
    return b"".join(lines).decode()


def lines_of(frame: FrameType) -> list[str]:
    """Return the lines of the source file whose code a frame runs."""
    return linecache.getlines(frame.f_code.co_filename, frame.f_globals)


# What it names ------------------------------------------------------------------------------------


def _name_of(tree: ast.AST | None, frame: FrameType) -> tuple[str | None, ast.expr | None]:
    """Return the public name of the function for which an expression stands, and the part of the
    expression whose object was looked up; see `UserCall`."""
    value = _value(tree, frame)
    name = public_name(value)
    if name is not None:
        return name, tree  # type: ignore[return-value]  it is a name or an attribute
    if isinstance(tree, ast.Call):
        name, named = _name_of(tree.func, frame)
        return name and f"{name}()", named
    if isinstance(tree, ast.Attribute):
        name, named = _name_of(tree.value, frame)
        return name and f"{name}.{tree.attr}", named
    return None, None


def value_in(tree: ast.AST | None, frame: FrameType) -> Any:
    """Return the object of an expression in a frame; see `UserCall.value_of`."""
    value = _value(tree, frame)
    return None if value is _ABSENT else value


def _value(tree: ast.AST | None, frame: FrameType) -> Any:
    if isinstance(tree, ast.Name):
        for names in (frame.f_locals, frame.f_globals, vars(builtins)):
            if tree.id in names:
                return names[tree.id]
    if isinstance(tree, ast.Attribute):
        base = _value(tree.value, frame)
        if base is _ABSENT:
            return _ABSENT
        if isinstance(base, ModuleType) or _library_of(type(base)):
            try:
                return getattr(base, tree.attr, _ABSENT)
            except Exception:  # whatever a library raises
                return _ABSENT
        return getattr(base, "__dict__", {}).get(tree.attr, _ABSENT)
    return _ABSENT


def _library_of(kind: Any) -> str | None:
    """Return the library of a class; None unless attributes of its objects can be read without
    running code of the user."""
    library = str(getattr(kind, "__module__", "")).partition(".")[0]
    return library if library in _KNOWN or library.startswith("_cython") else None


def public_name(value: Any) -> str | None:
    """Return the name by which a program reaches a function, class, module, or object of a library;
    None for any other object.

    In the name of an object, ``()`` stands for the call that has made the object.
    """
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, np.ufunc):
        homes = filter(None, map(sys.modules.get, ("numpy", "scipy.special")))
        home = next((h for h in homes if getattr(h, value.__name__, None) is value), None)
        return home and f"{home.__name__}.{value.__name__}"
    if not isinstance(value, _FUNCTIONS) and _library_of(type(value)) is None:
        return None  # an object of the user, whose attributes may run code
    if isinstance(value, np.vectorize):  # its __name__ is that of the wrapped function
        return "numpy.vectorize()"
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType):
        name, method = public_name(owner), getattr(value, "__name__", "")
        if getattr(sys.modules.get("numpy.random"), method, None) == value:  # the global generator
            return f"numpy.random.{method}"
        return name and f"{name}.{method}"
    name, module = getattr(value, "__name__", None), getattr(value, "__module__", None)
    if callable(value) and isinstance(name, str) and isinstance(module, str):
        return _public(module, name, value)
    return _name_of_object(value)


def _public(module: str, name: str, value: Any) -> str:
    """Return the shortest path by which an object is found in its package."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        home = ".".join(parts[:count])
        if getattr(sys.modules.get(home), name, None) is value:
            return f"{home}.{name}"
    return f"{module}.{name}"


def _name_of_object(value: Any) -> str:
    """Return the public name of an object of a library: its own, as of ``numpy.r_``, or else that
    of its class with ``()``."""
    kind = type(value)
    if kind.__module__.startswith("scipy.stats"):
        of_one = getattr(getattr(value, "dist", value), "name", "")
        name = str(of_one or kind.__name__).removesuffix("_gen").removesuffix("_frozen")
        home = sys.modules["scipy.stats"]
        if hasattr(home, name):
            return f"scipy.stats.{name}{'' if getattr(home, name) is value else '()'}"
    if value is np.r_ or value is np.c_:
        return f"numpy.{'r_' if value is np.r_ else 'c_'}"
    return f"{_public(kind.__module__, kind.__name__, kind)}()"
