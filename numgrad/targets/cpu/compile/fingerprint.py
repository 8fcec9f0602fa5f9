"""Fingerprints: digests of all values that decide the code of a compiled Python function.

Numba freezes globals and closures when it compiles, so a cached kernel is valid only as long as
the function, the values it reads and the functions it calls are all the same. The walk below covers
them, however deep; it stops at installed packages whose versions are part of the cache key anyway.
"""

import dataclasses
import dis
import enum
import hashlib
import inspect
import struct
import sys
import types
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from ..platform import numba_extensions
from ..platform.numba_extensions import is_versioned
from ..platform.numba_setup import is_loaded

# Functions of this package count by name, as its sources are part of every key; what is in their
# closures is digested.
_OWN = (__package__ or "").rpartition(".")[0]
_CODE_FIELDS = (
    "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags",
    "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_exceptiontable",
)  # fmt: skip


_OF_GENERALIZED = ("targetoptions", "signature", "writable_args")


class UnstableValueError(Exception):
    """A value has no identity that another process would recognise."""


def fingerprint(function: Any) -> str:
    """Digest a function, the values it refers to and, recursively, its callees.

    Parameters
    ----------
    function : callable or value
        A plain function, a Numba dispatcher, or any value that such a function may refer to
        (numbers, strings, arrays, dtypes, Numba types, tuples of these, ...).

    Returns
    -------
    str
        A hexadecimal SHA-256: equal in every process where the function compiles to the same code.

    Raises
    ------
    UnstableValueError
        For an object that cannot be recognised in another process.

    Examples
    --------
    >>> scale = lambda x: 2.0 * x
    >>> fingerprint(scale) == fingerprint(lambda x: 2.0 * x)
    True
    >>> fingerprint(scale) == fingerprint(lambda x: 3.0 * x)
    False
    """
    walk = _Fingerprinter()
    walk.visit(function)
    return walk.sha.hexdigest()


class _Fingerprinter:
    """The state of one fingerprint: the hash so far, and the objects that were met.

    An object that is met again is digested by its number, as functions may be recursive.
    """

    def __init__(self) -> None:
        self.sha = hashlib.sha256()
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # ids in `seen` stay valid only while the objects live
        self.attributes: tuple[str, ...] = ()

    def tag(self, kind: str, *texts: str) -> None:
        for text in (kind, *texts):
            raw = text.encode("utf-8", "surrogatepass")
            self.sha.update(struct.pack("<q", len(raw)))
            self.sha.update(raw)

    def met_before(self, value: Any) -> bool:
        if id(value) in self.seen:
            self.tag("again", str(self.seen[id(value)]))
            return True
        self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        return False

    def visit(self, value: Any) -> None:
        for kinds, method in _VISITORS:
            if isinstance(value, kinds):
                method(self, value)
                return
        self.visit_other(value)

    def visit_atom(self, value: Any) -> None:
        self.tag(type(value).__name__, repr(value))

    def visit_float(self, value: float) -> None:
        self.tag("float", struct.pack("<d", value).hex())

    def visit_complex(self, value: complex) -> None:
        self.tag("complex", struct.pack("<dd", value.real, value.imag).hex())

    def visit_slice(self, value: slice) -> None:
        self.tag("slice")
        for bound in (value.start, value.stop, value.step):
            self.visit(bound)

    def visit_sequence(self, value: Any) -> None:
        self.tag(type(value).__qualname__, str(len(value)), *getattr(value, "_fields", ()))
        if not self.met_before(value):
            for item in value:
                self.visit(item)

    def visit_set(self, value: Any) -> None:
        self.tag("set", *sorted(fingerprint(item) for item in value))

    def visit_dict(self, value: dict) -> None:
        self.tag("dict", str(len(value)))
        if not self.met_before(value):
            for key, item in value.items():
                self.visit(key)
                self.visit(item)

    def visit_array(self, value: np.ndarray) -> None:
        if value.dtype.hasobject:
            raise UnstableValueError("an array of objects")
        self.tag("array", value.dtype.str, str(value.shape), str(value.strides))
        self.sha.update(value.tobytes())

    def visit_scalar(self, value: np.generic) -> None:
        self.tag("scalar", value.dtype.str, value.tobytes().hex())

    def visit_module(self, value: types.ModuleType) -> None:
        """Digest a module: its name, and the attributes that the code names."""
        self.tag("module", value.__name__)
        if is_versioned(value.__name__) or self.met_before((value, self.attributes)):
            return
        for name in self.attributes:
            if name in vars(value):
                self.tag("attribute", name)
                self.visit(vars(value)[name])

    def visit_class(self, value: type) -> None:
        self.tag("class", value.__module__, value.__qualname__, *getattr(value, "_fields", ()))
        if issubclass(value, enum.Enum):
            self.tag("members", *(f"{item.name}={item.value!r}" for item in value))
        elif not (is_versioned(value.__module__) or issubclass(value, (BaseException, tuple))):
            raise UnstableValueError(f"the class {value.__qualname__}")

    def visit_function(self, value: types.FunctionType) -> None:
        self.tag("function")
        if self.met_before(value):
            return
        if is_versioned(value.__module__ or "") or _is_own(value):
            self.tag("library", value.__module__, value.__qualname__)
            if "<" in value.__qualname__:  # several functions within another one may have one name
                self.visit_code(value.__code__)
        else:
            self.visit_body(value)
        for cell in value.__closure__ or ():
            self.visit_cell(cell)
        self.visit_templates(numba_extensions.overloads_of(value))

    def visit_templates(self, templates: list[Any]) -> None:
        for template in templates:
            self.tag("overload")
            if not self.met_before(template):
                self.visit(numba_extensions.implementation(template))
                self.visit(getattr(template, "_jit_options", None))

    def visit_body(self, value: types.FunctionType) -> None:
        self.visit(value.__defaults__)
        self.visit(value.__kwdefaults__)
        outer, self.attributes = self.attributes, tuple(sorted(set(_names(value.__code__))))
        self.visit(value.__code__)
        for name in self.attributes:
            self.visit_templates(numba_extensions.attributes().get(name, []))
        for name in _globals(value.__code__):
            if name in value.__globals__:
                self.tag("global", name)
                self.visit(value.__globals__[name])
        self.attributes = outer

    def visit_cell(self, cell: Any) -> None:
        try:
            content = cell.cell_contents
        except ValueError:  # a recursive inner function whose name is not bound yet
            self.tag("empty")
        else:
            self.visit(content)

    def visit_code(self, code: types.CodeType) -> None:
        self.tag("code", *(repr(getattr(code, field, None)) for field in _CODE_FIELDS))
        for index, constant in enumerate(code.co_consts):
            # Editing a docstring must not recompile anything.
            if not (index == 0 and isinstance(constant, str) and _has_docstring(code)):
                self.visit(constant)

    def visit_other(self, value: Any) -> None:
        """Digest an object by its contents: a dispatcher, an intrinsic, a Numba type."""
        if self.met_before(value):
            return
        kind = type(value)
        self.tag("object", kind.__module__, kind.__qualname__)
        if hasattr(value, "py_func"):
            self.visit(value.py_func)
            self.visit_declaration(value)
        elif is_versioned(kind.__module__) and hasattr(value, "_defn"):  # @intrinsic
            self.visit(value._defn)
        elif hasattr(value, "_dispatcher") or hasattr(value, "_pyfunc"):  # @vectorize, @cfunc
            self.visit(getattr(value, "_dispatcher", None) or value._pyfunc)
            self.visit_declaration(value)
        elif dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                self.visit(getattr(value, field.name))
        elif _is_compiler_type(value):
            self.tag("type", str(value))
        else:
            raise UnstableValueError(f"an object of {kind.__module__}.{kind.__qualname__}")

    def visit_declaration(self, value: Any) -> None:
        """Digest how a function was declared to Numba: its options and the types of its variables.

        Signatures are digested only for a function that is restricted to its declared signatures.
        """
        builder = getattr(value, "gufunc_builder", None)
        names = ("targetoptions", "locals") if builder is None else _OF_GENERALIZED
        for name in names:
            self.visit(getattr(builder or value, name, None))
        if getattr(value, "_frozen", False) or not getattr(value, "_can_compile", True):
            overloads = getattr(value, "_dispatcher", value).overloads
            self.visit([str(result.signature) for result in overloads.values()])


def _names(code: types.CodeType) -> Iterator[str]:
    """Return the global and attribute names of a code object and of the functions nested in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


@lru_cache(maxsize=4096)
def _globals(code: types.CodeType) -> tuple[str, ...]:
    """Return the names that a code object and the functions nested in it look up as globals.

    ``co_names`` has attributes too: the ``exp`` of ``math.exp`` is no global called ``exp``.
    """
    looked_up = ("LOAD_GLOBAL", "LOAD_NAME")
    names = {one.argval for one in dis.get_instructions(code) if one.opname in looked_up}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(_globals(constant))
    return tuple(sorted(names))


def _has_docstring(code: types.CodeType) -> bool:
    """Whether the first constant of a code object, a string, is its docstring."""
    if sys.version_info >= (3, 14):  # without a docstring the first constant may be any string
        return bool(code.co_flags & inspect.CO_HAS_DOCSTRING)
    return not code.co_name.startswith("<")  # a def without a docstring has None there


def _is_own(function: types.FunctionType) -> bool:
    """Whether a function is defined at the top level of a module of this package."""
    module = function.__module__ or ""
    if not module.startswith(_OWN + "."):
        return False
    found = getattr(sys.modules.get(module), function.__qualname__, None)
    originals = (found, getattr(found, "py_func", None), getattr(found, "_defn", None))
    return any(original is function for original in originals)


def _is_compiler_type(value: Any) -> bool:
    """Whether a value is a type of Numba or LLVM, which its text describes in full."""
    if not is_loaded():
        return False
    from llvmlite import ir
    from numba.core import types as numba_types

    return isinstance(value, (numba_types.Type, ir.Type))


def _visit_builtin(walk: _Fingerprinter, value: Any) -> None:
    walk.tag("builtin", str(getattr(value, "__module__", "")), value.__name__)
    walk.visit_templates(numba_extensions.overloads_of(value))


_VISITORS: tuple[tuple[Any, Any], ...] = (
    (enum.Enum, lambda walk, value: walk.tag("enum", type(value).__qualname__, repr(value))),
    (np.generic, _Fingerprinter.visit_scalar),  # before float: np.float64 is both
    ((bool, int, str, bytes, type(None), type(Ellipsis), np.dtype), _Fingerprinter.visit_atom),
    (float, _Fingerprinter.visit_float),
    (complex, _Fingerprinter.visit_complex),
    (slice, _Fingerprinter.visit_slice),  # since Python 3.14 slices are constants of code
    ((tuple, list), _Fingerprinter.visit_sequence),
    ((set, frozenset), _Fingerprinter.visit_set),
    (dict, _Fingerprinter.visit_dict),
    (np.ndarray, _Fingerprinter.visit_array),
    (types.ModuleType, _Fingerprinter.visit_module),
    (type, _Fingerprinter.visit_class),
    (types.FunctionType, _Fingerprinter.visit_function),
    (types.CodeType, _Fingerprinter.visit_code),
    ((types.BuiltinFunctionType, np.ufunc), _visit_builtin),
)
