"""Copies that kernels use in place of `overload` implementations and of jitclasses by users."""

import types as pytypes
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import types
from numba.core.registry import cpu_target
from numba.core.typing.templates import make_overload_template
from numba.experimental.jitclass.base import JitClassType
from numba.experimental.jitclass.decorators import jitclass

from ..platform.numba_extensions import implementation, overloads_of
from ..platform.numba_internals import has

__all__ = ["JitClassType", "class_of", "function_of", "replaced"]

_OF_TEMPLATES = ("_inline", "_jit_options", "_strict")


def function_of(function: Any, pipeline: Any) -> Any:
    """Return a stand-in for a function, with the implementations that users gave by `overload`.

    Numba compiles the implementations of the stand-in by ``pipeline``. The result is None if users
    registered no implementation, if Numba has implementations of its own, or if Numba keeps the
    options of implementations under other names.
    """
    context: Any = cpu_target.typing_context  # a property of Numba's own kind
    templates = getattr(context.resolve_value_type(function), "templates", ())
    given = overloads_of(function)
    if not given or any(template not in given for template in templates):
        return None
    if not all(has(template, *_OF_TEMPLATES) for template in templates):
        return None

    def stand_in(*args: Any) -> Any:
        raise NotImplementedError(f"{name} is called in kernels only")

    name = getattr(function, "__name__", "function")
    stand_in.__name__ = stand_in.__qualname__ = name
    within = {"pipeline_class": pipeline, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    made = [
        make_overload_template(
            stand_in, implementation(one), {**one._jit_options, **within}, one._strict,
            one._inline.value, one.prefer_literal, **one.metadata,
        )
        for one in templates
    ]  # fmt: skip
    context.insert_global(stand_in, types.Function(made))
    return stand_in


@contextmanager
def replaced(functions: Iterable[Any], copy: Callable[[Any], Any]) -> Iterator[None]:
    """Let Numba use ``copy(function)`` in place of each function, within the ``with`` block.

    ``copy`` may return the function itself, which then stays in use. All stay where Numba has no
    way to forget a function.
    """
    context: Any = cpu_target.typing_context
    if not has(context, "_remove_global"):
        yield
        return
    before: list[tuple[Any, Any]] = []
    context.refresh()  # functions may have been registered just now
    try:
        for source in functions:
            known, stand_in = context.resolve_value_type(source), copy(source)
            if known is not None and source is not stand_in:
                before.append((source, known))
                _set(context, source, context.resolve_value_type(stand_in))
        yield
    finally:
        for source, known in before:
            _set(context, source, known)


def _set(context: Any, source: Any, kind: Any) -> None:
    context._remove_global(source)
    context.insert_global(source, kind)


def class_of(source: Any, copy: Callable[[Any], Any]) -> Any:
    """Return a copy of a class of `numba.experimental.jitclass`, with copies of its methods."""
    kind = source.class_type
    body: dict[str, Any] = dict(kind.methods)
    body |= {name: staticmethod(method) for name, method in kind.static_methods.items()}
    for name, both in kind.jit_props.items():
        body[name] = property(*(both[which].py_func for which in ("get", "set") if which in both))
    plain = pytypes.new_class(source.__name__, exec_body=lambda scope: scope.update(body))
    plain.__module__ = source.__module__
    made: Any = jitclass(list(kind.struct.items()))(plain)
    ours = made.class_type
    tables = [(ours.jit_methods, kind.jit_methods)]
    tables.append((ours.jit_static_methods, kind.jit_static_methods))
    tables += [(ours.jit_props[name], both) for name, both in kind.jit_props.items()]
    for mine, theirs in tables:
        mine |= {name: copy(method) for name, method in theirs.items()}
    return made
