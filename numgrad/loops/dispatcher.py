"""Numba's dispatcher, which compiles for types of arguments, extended by calls with tensors."""

import inspect
from collections.abc import Mapping
from typing import Any

from numba.core import types
from numba.core.compiler import Compiler
from numba.core.dispatcher import OmittedArg
from numba.core.registry import CPUDispatcher

from .._tensor import Tensor
from ..targets.cpu.compile.dispatcher_cache import quickly
from ..targets.cpu.platform.numba_setup import compiler_lock
from .calls import call, has_tensors


class Dispatcher(CPUDispatcher):
    """A dispatcher of Numba that calls the operation where arguments are tensors.

    Numba takes a tensor for an unknown type. So calls with arrays are dispatched as ever, and
    tensors are looked for only where nothing has been compiled for the types of the arguments.
    """

    def typeof_pyval(self, val: Any) -> Any:
        """Return Numba's type of an argument; for a tensor, the type of any Python object."""
        return types.pyobject if has_tensors(val) else super().typeof_pyval(val)

    def compile(self, sig: Any) -> Any:
        """Compile for the types of arguments; return the compiled function.

        A thread that holds Numba's lock must not wait for numgrad's, whose holder may wait for
        Numba's.
        """
        if not compiler_lock.acquire(blocking=False):
            return super().compile(sig)
        try:
            with quickly():
                return super().compile(sig)
        finally:
            compiler_lock.release()

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """Return what Numba is to call for new types of arguments: a compiled function, or the
        operation."""
        if not any(map(has_tensors, args)):
            parent: Any = super()
            return parent._compile_for_args(*args, **kws)
        given = [a.value if isinstance(a, OmittedArg) else a for a in args]
        return lambda *_args, **_kws: call(self, given)


class ClosedDispatcher(Dispatcher):
    """A dispatcher with given signatures, which compiles nothing for other types of arguments.

    Tensors are looked for before each call.
    """

    def __call__(self, *args: Any, **kws: Any) -> Any:
        if any(isinstance(a, (Tensor, tuple)) and has_tensors(a) for a in (*args, *kws.values())):
            bound = inspect.signature(self.py_func).bind(*args, **kws)
            bound.apply_defaults()
            return call(self, list(bound.arguments.values()))
        return super().__call__(*args, **kws)


def is_plain(function: Any) -> bool:
    """Whether a function is compiled by Numba for the processor, and has no derivatives yet."""
    return isinstance(function, CPUDispatcher) and not isinstance(function, Dispatcher)


def differentiable(made: Any, options: Mapping[str, Any]) -> Any:
    """Return a dispatcher with derivatives for a function of Numba, with its options and
    ``options``.

    A function that is not compiled is returned itself, as where NUMBA_DISABLE_JIT is set.
    """
    if not hasattr(made, "py_func"):
        return made
    kind = Dispatcher if getattr(made, "_can_compile", True) else ClosedDispatcher
    given = dict(options)
    is_cached = given.pop("cache", getattr(getattr(made, "_cache", None), "_enabled", False))
    pipeline = getattr(getattr(made, "_compiler", None), "pipeline_class", Compiler)
    found = kind(made.py_func, made.locals, {**made.targetoptions, **given}, pipeline)
    if is_cached:
        found.enable_caching()
    if kind is ClosedDispatcher:
        for compiled in made.overloads.values():
            found.add_overload(compiled)
        found.disable_compile()
    return found
