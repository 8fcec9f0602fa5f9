"""The write ``holder[key] = value`` that a frame is running, as expressions read from bytecode.

The instructions before the write are carried out on expressions in place of values. The value of an
expression is found by looking up its variables in the frame again, and by applying operators to
numbers and arrays again. Nothing is done that could run code of the user, such as a property. The
source of the program is not needed.
"""

import builtins
import dis
import inspect
import operator
import sys
from collections.abc import Callable
from functools import lru_cache
from inspect import getattr_static
from types import CodeType, FrameType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from .instructions import CONSTANTS

LOCAL, NAME, GLOBAL = "local", "name", "global"
"""Kinds of variables: of a function, of the body of a module or class, and global ones."""


class Variable(NamedTuple):
    """A variable of a frame."""

    name: str
    kind: str


class Member(NamedTuple):
    """An attribute of an object."""

    holder: Any
    name: str


class Applied(NamedTuple):
    """An operator applied to operands, or a call.

    For a call, ``function`` is None, and the operands are the called function and its arguments.
    """

    function: Callable[..., Any] | None
    operands: tuple[Any, ...]


class Constant(NamedTuple):
    """A constant of the code."""

    value: Any


class Store(NamedTuple):
    """A write of elements ``holder[key] = value``.

    Attributes
    ----------
    holder, key, value : Variable, Member, Applied, Constant or None
        The expressions of the written array, of the key and of what is written; None for an
        expression that is not known.
    is_augmented : bool
        Whether the write ends a statement like ``holder[key] += x``, which has read holder and key
        before ``x``.
    """

    holder: Any
    key: Any
    value: Any
    is_augmented: bool


class UnreadableError(Exception):
    """The value of an expression cannot be found again without running code of the user."""


_STORES = ("STORE_SUBSCR", "STORE_SLICE")
_NULL = Constant(None)


def is_storing(frame: FrameType) -> bool:
    """Whether a frame is running a write ``holder[key] = value``."""
    place = frame.f_lasti
    return place >= 0 and dis.opname[frame.f_code.co_code[place]] in _STORES


def store_of(frame: FrameType) -> Store:
    """Return the expressions of the write that a frame runs."""
    return _store(frame.f_code, frame.f_lasti)


@lru_cache(maxsize=1024)
def augmented_target(code: CodeType, place: int) -> Any:
    """Return the expression ``target`` of a running statement ``target += x``; None where it is not
    known.

    ``place`` is the offset of the instruction of the operator.
    """
    *_, target, _ = (None, None, *_before(code, place)[0].items)
    return target


@lru_cache(maxsize=1024)
def first_argument(code: CodeType, place: int) -> Any:
    """Return the expression of the first argument of the call at the offset ``place``; None where
    it is not known."""
    stack, steps = _before(code, place)
    count = steps[-1].arg or 0
    if steps[-1].opname == "CALL_KW":
        stack.pop()  # the names of arguments
    elif steps[-1].opname != "CALL":
        return None
    return stack.items[-count] if 0 < count <= len(stack.items) else None


@lru_cache(maxsize=1024)
def bound_after(code: CodeType, place: int) -> Variable | None:
    """Return the variable that the next storing instruction after the offset ``place`` binds.

    The result is None where that instruction stores into anything but a variable of a function.
    """
    stores = (
        step
        for step in dis.get_instructions(code)
        if step.offset > place and step.opname.startswith("STORE_")
    )
    step = next(stores, None)
    if step is None or not step.opname.startswith(("STORE_FAST", "STORE_DEREF")):
        return None
    name = step.argval[0] if isinstance(step.argval, tuple) else step.argval
    return Variable(name, LOCAL)


def _before(code: CodeType, place: int) -> tuple["_Stack", list[dis.Instruction]]:
    """Return the stack of expressions before the instruction at the offset ``place``, and all
    instructions up to that one."""
    stack = _Stack()
    steps = [step for step in dis.get_instructions(code) if step.offset <= place]
    for step in steps[:-1]:
        stack.run(step)
    return stack, steps


@lru_cache(maxsize=1024)
def _store(code: CodeType, place: int) -> Store:
    stack, steps = _before(code, place)
    if steps[-1].opname == "STORE_SLICE":
        stop, start = stack.pop(), stack.pop()
        key: Any = Applied(slice, (start, stop))
    else:
        key = stack.pop()
    holder, value = stack.pop(), stack.pop()
    return Store(holder, key, value, steps[-2].opname == "SWAP")


def read(expression: Any, frame: FrameType) -> Any:
    """Return the value of an expression in a frame; raise UnreadableError where computing the value
    could run code of the user."""
    if isinstance(expression, Constant):
        return expression.value
    if isinstance(expression, Variable):
        return _variable(expression, frame)
    if isinstance(expression, Member):
        return _member(read(expression.holder, frame), expression.name)
    if not isinstance(expression, Applied):
        raise UnreadableError
    function, parts = function_of(expression, frame)
    operands = [read(one, frame) for one in parts]
    if not all(map(is_plain, operands)):
        raise UnreadableError
    try:
        return function(*map(_read_only, operands))
    except Exception as error:  # of a function that writes, or of operands that have changed
        raise UnreadableError from error


def _read_only(value: Any) -> Any:
    """Return a read-only view of an array; any other value unchanged.

    The functions of an expression have run once in the user's program and must not write a second
    time.
    """
    if type(value) is not np.ndarray:
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def function_of(applied: Applied, frame: FrameType) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the function that an expression applies, and the expressions of its arguments.

    UnreadableError is raised for a called function that may have an effect beside its result.
    """
    if applied.function is not None:
        return applied.function, applied.operands
    called, *parts = [one for one in applied.operands if one is not _NULL]
    function = read(called, frame)
    if not _is_pure(function):
        raise UnreadableError
    return function, tuple(parts)


_PURE = (len, int, float, abs, min, max, round, slice, range, sum, divmod)
_METHODS = (
    "argmax", "argmin", "argsort", "astype", "copy", "flatten", "item", "max", "min", "nonzero",
    "ravel", "reshape", "searchsorted", "sum", "tolist", "transpose",
)  # fmt: skip


def _is_pure(function: Any) -> bool:
    """Whether a called function may be called once more, as it only computes a result.

    Such functions are those in `_PURE`, the functions of NumPy, and the methods of arrays in
    `_METHODS`.
    """
    if not (_is_builtin(type(function)) or _package(type(function)) == "numpy"):
        return False  # its attributes may be computed
    name = getattr(function, "__name__", "")
    if isinstance(getattr(function, "__self__", None), np.ndarray):
        return name in _METHODS
    return any(function is known for known in (*_PURE, vars(np).get(name)))


def _variable(variable: Variable, frame: FrameType) -> Any:
    if variable.kind == LOCAL and not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        raise UnreadableError  # of a comprehension that runs in the frame of a module or class
    scopes = (frame.f_globals, vars(builtins))
    for names in scopes if variable.kind == GLOBAL else (frame.f_locals, *scopes):
        if variable.name in names:
            return names[variable.name]
    raise UnreadableError


def _member(holder: Any, name: str) -> Any:
    """Return an attribute of an object; raise UnreadableError where that could run code of the
    user."""
    if is_plain(holder) or (type(holder) is ModuleType and name in vars(holder)):
        return getattr(holder, name)
    found = getattr_static(holder, name, UnreadableError)
    kind = type(found)
    if found is UnreadableError or (hasattr(kind, "__get__") and not _is_builtin(kind)):
        raise UnreadableError
    reads = getattr_static(type(holder), "__getattribute__")
    is_plain_holder = type(holder) is SimpleNamespace or reads is object.__getattribute__
    if isinstance(found, property) or not is_plain_holder:
        raise UnreadableError
    return getattr(holder, name)


_IMMUTABLE = (bool, int, float, complex, str, bytes, range, type(None), type(...))
_INDEXERS = tuple({type(one) for one in (np.s_, np.r_, np.c_, np.mgrid, np.ogrid)})


def is_plain(value: Any) -> bool:
    """Whether operators and functions of NumPy may be applied to a value once more.

    They must not run code of the user, and must give the same result each time. So iterators,
    functions, and arrays and lists of objects are not plain.
    """
    kind = type(value)
    if kind in (list, tuple):
        return all(map(is_plain, value))
    if kind is slice:
        return all(map(is_plain, (value.start, value.stop, value.step)))
    if isinstance(value, (np.ndarray, np.generic)):
        return _package(kind) == "numpy" and not value.dtype.hasobject
    is_class = kind is type and (_is_builtin(value) or _package(value) == "numpy")
    is_data = kind in (*_IMMUTABLE, *_INDEXERS, dict) or isinstance(value, np.dtype)
    return is_data or is_class or _package(kind) == "numgrad"


def is_immutable(value: Any) -> bool:
    """Whether nobody can change a value."""
    if type(value) is slice:
        return all(map(is_immutable, (value.start, value.stop, value.step)))
    return type(value) in _IMMUTABLE or (isinstance(value, np.generic) and is_plain(value))


_IS_OF_PYTHON = 1 << 9
"""The flag of classes that Python code has made. Code that runs outside of any module makes classes
whose module is said to be `builtins`."""


def _is_builtin(kind: type) -> bool:
    return _package(kind) == "builtins" and not kind.__flags__ & _IS_OF_PYTHON


def _package(kind: type) -> str:
    """Return the name of the package of a class; empty for a class without a module."""
    return str(getattr(kind, "__module__", "")).partition(".")[0]


# The instructions ---------------------------------------------------------------------------------


_METHODS_BY_ATTRIBUTE = sys.version_info >= (3, 12)
_NOTHING = ("NOP", "CACHE", "RESUME", "EXTENDED_ARG", "PRECALL", "NOT_TAKEN")
_ONE_RESULT = (
    "CALL", "BINARY_", "UNARY_", "BUILD_", "COMPARE_OP", "IS_OP", "CONTAINS_OP", "FORMAT_", "LIST_",
    "MAKE_FUNCTION", "LOAD_CLOSURE", "CONVERT_VALUE",
)  # fmt: skip
"""The instructions that take operands from the stack and leave one result there."""

_SYMBOLS: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "@": operator.matmul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "<": operator.lt, "<=": operator.le, "==": operator.eq,
    "!=": operator.ne, ">": operator.gt, ">=": operator.ge, "[]": operator.getitem,
}  # fmt: skip
_UNARY: dict[str, Callable[..., Any]] = {
    "UNARY_NEGATIVE": operator.neg, "UNARY_INVERT": operator.invert, "UNARY_NOT": operator.not_,
    "UNARY_POSITIVE": operator.pos,
}  # fmt: skip


def _tuple(*items: Any) -> tuple[Any, ...]:
    return items


def _list(*items: Any) -> list[Any]:
    return list(items)


def _part(values: Any, start: Any, stop: Any) -> Any:
    return values[start:stop]


DISPLAYS = (_tuple, _list, list)
"""The functions of `Applied` that build a list or tuple."""

_BUILT: dict[str, Callable[..., Any]] = {
    "BUILD_SLICE": slice, "BUILD_TUPLE": _tuple, "BUILD_LIST": _list, "BINARY_SLICE": _part,
    "BINARY_SUBSCR": operator.getitem,
}  # fmt: skip


class _Stack:
    """The known top of the interpreter's stack, with an expression in place of each value."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.has_keywords = False

    def pop(self) -> Any:
        return self.items.pop() if self.items else None

    def take(self, count: int) -> tuple[Any, ...]:
        return tuple(self.pop() for _ in range(count))[::-1]

    def run(self, step: dis.Instruction) -> None:
        """Carry out an instruction on the expressions of the stack.

        All expressions are forgotten at the target of a jump, and after an instruction that is not
        known.
        """
        name = step.opname
        if step.is_jump_target:
            self.items.clear()
        if name in _NOTHING:
            return
        if name == "KW_NAMES":
            self.has_keywords = True
        elif name.startswith("LOAD_") and self._load(step):
            pass
        elif name == "PUSH_NULL":
            self.items.append(_NULL)
        elif name in ("COPY", "SWAP"):
            self._move(name == "SWAP", step.arg or 0)
        elif name.startswith(_ONE_RESULT):
            self._apply(step)
        else:
            self.items.clear()
            if name == "STORE_FAST_LOAD_FAST":
                self.items.append(Variable(step.argval[1], LOCAL))

    def _load(self, step: dis.Instruction) -> bool:
        """Push the expression that an instruction loads; return False for an instruction that is
        not known."""
        name, value = step.opname, step.argval
        if name in CONSTANTS:
            self.items.append(Constant(value))
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            holder = self.pop()
            is_method = name == "LOAD_METHOD" or (_METHODS_BY_ATTRIBUTE and (step.arg or 0) & 1)
            self.items += [Member(holder, value), *([_NULL] if is_method else [])]
        elif name == "LOAD_GLOBAL":
            null = [_NULL] if (step.arg or 0) & 1 else []
            self.items += [*null, Variable(value, GLOBAL)]
        elif name == "LOAD_NAME":
            self.items.append(Variable(value, NAME))
        elif name == "LOAD_DEREF" or (name.startswith("LOAD_FAST") and "CLEAR" not in name):
            names = value if isinstance(value, tuple) else (value,)
            self.items += [Variable(one, LOCAL) for one in names]
        else:
            return False
        return True

    def _move(self, is_swap: bool, depth: int) -> None:
        missing = depth - len(self.items)
        self.items[:0] = [None] * max(missing, 0)
        if is_swap:
            self.items[-1], self.items[-depth] = self.items[-depth], self.items[-1]
        else:
            self.items.append(self.items[-depth])

    def _apply(self, step: dis.Instruction) -> None:
        """Replace the operands of an instruction on the stack by the expression of its result."""
        name = step.opname
        is_call = name == "CALL"  # which Python 3.11 does in two instructions
        effect = -1 - (step.arg or 0) if is_call else dis.stack_effect(step.opcode, step.arg)
        operands = self.take(1 - effect)
        function = _BUILT.get(name) or _UNARY.get(name)
        if name == "BINARY_OP":
            function = _SYMBOLS.get(step.argrepr.removesuffix("="))
        elif name == "COMPARE_OP":
            function = _SYMBOLS.get(step.argval)
        if is_call and not self.has_keywords:
            found: Any = Applied(None, operands)
        elif name == "LIST_EXTEND" and operands[0] == Applied(_list, ()):
            found = Applied(list, operands[1:])
        else:
            found = None if function is None else Applied(function, operands)
        self.has_keywords = self.has_keywords and not is_call
        self.items.append(found)


def names_in(expression: Any) -> list[Any]:
    """Return the variables and attributes that an expression reads."""
    if isinstance(expression, (Variable, Member)):
        return [expression]
    operands = expression.operands if isinstance(expression, Applied) else ()
    return [name for one in operands for name in names_in(one)]


def is_safe(expression: Any, frame: FrameType) -> bool:
    """Whether an expression can be computed without running code of the user."""
    try:
        if isinstance(expression, Member):
            read(expression, frame)
        elif isinstance(expression, Applied):
            return all(_is_safe_operand(one, frame) for one in function_of(expression, frame)[1])
    except UnreadableError:
        return False
    return expression is not None


def _is_safe_operand(expression: Any, frame: FrameType) -> bool:
    if isinstance(expression, Applied):
        return is_safe(expression, frame)
    return is_plain(read(expression, frame))


__all__ = [
    "DISPLAYS", "LOCAL", "NAME", "Applied", "Member", "Store", "UnreadableError", "Variable",
    "augmented_target", "bound_after", "first_argument", "function_of", "is_immutable", "is_plain",
    "is_safe", "is_storing", "names_in", "read", "store_of",
]  # fmt: skip
