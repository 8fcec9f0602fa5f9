"""Numba's dispatcher, which compiles for types of arguments, and calls an operation for tensors."""

import inspect
from collections.abc import Mapping
from typing import Any

from numba.core import types
from numba.core.dispatcher import OmittedArg
from numba.core.registry import CPUDispatcher

from .._tensor import Tensor
from .calls import call, has_tensors


class Dispatcher(CPUDispatcher):
    """A dispatcher of Numba to which tensors are an unknown type: arrays take the way that they
    always take, and where there is nothing compiled, tensors are looked for."""

    def typeof_pyval(self, val: Any) -> Any:
        """Return the type of an argument that is no array or number."""
        return types.pyobject if has_tensors(val) else super().typeof_pyval(val)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """Return what is to be called: a compiled function, or the operation."""
        if not any(map(has_tensors, args)):
            parent: Any = super()
            return parent._compile_for_args(*args, **kws)
        given = [a.value if isinstance(a, OmittedArg) else a for a in args]
        return lambda *_args, **_kws: call(self, given)


class ClosedDispatcher(Dispatcher):
    """A dispatcher with given signatures, which compiles nothing more: it looks before the call."""

    def __call__(self, *args: Any, **kws: Any) -> Any:
        if any(isinstance(a, (Tensor, tuple)) and has_tensors(a) for a in (*args, *kws.values())):
            bound = inspect.signature(self.py_func).bind(*args, **kws)
            bound.apply_defaults()
            return call(self, bound.args)
        return super().__call__(*args, **kws)


def is_plain(function: Any) -> bool:
    """Whether a function is one of Numba's for the processor, without derivatives."""
    return isinstance(function, CPUDispatcher) and not isinstance(function, Dispatcher)


def differentiable(made: Any, options: Mapping[str, Any]) -> Any:
    """Return the dispatcher of a function that is compiled already, with its options and others;
    a function that is not compiled is returned itself, as where NUMBA_DISABLE_JIT is set."""
    if not hasattr(made, "py_func"):
        return made
    kind = Dispatcher if made._can_compile else ClosedDispatcher
    given = dict(options)
    is_cached = given.pop("cache", getattr(made._cache, "_enabled", False))
    pipeline = made._compiler.pipeline_class
    found = kind(made.py_func, made.locals, {**made.targetoptions, **given}, pipeline)
    if is_cached:
        found.enable_caching()
    if kind is ClosedDispatcher:
        for compiled in made.overloads.values():
            found.add_overload(compiled)
        found.disable_compile()
    return found
