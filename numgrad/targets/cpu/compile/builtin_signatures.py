"""Signatures of Numba's own functions of numbers, each looked for once in a process.

For every ``+`` and every call Numba tries all templates that were ever registered for the function,
templates for arrays, lists and sets included: once to infer types, and again to lower code. For
numbers the answer is always the same, so this module keeps the answer. When a user extends a
function, Numba makes a new type for the function, and no answer is kept for that type yet.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import types
from numba.core.registry import cpu_target

_search: Any = types.Function.get_call_type
_found: dict[tuple[Any, ...], Any] = {}


@contextmanager
def kept(typing_context: Any = None) -> Iterator[None]:
    """Let Numba use the signatures that were found before, within the ``with`` block.

    They are those of a typing context, which has the functions of a target: of the processor unless
    another one is given. The caller holds Numba's lock.
    """
    chosen = cpu_target.typing_context if typing_context is None else typing_context

    def signature(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if context is not chosen:
            return _search(self, context, args, kws)
        return _signature(self, context, args, kws)

    function: Any = types.Function
    before = function.get_call_type
    function.get_call_type = signature
    try:
        yield
    finally:
        function.get_call_type = before


def _signature(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return the signature of a function for argument types, as Numba's own method does."""
    if kws or not all(isinstance(kind, types.Number | types.Boolean) for kind in args):
        return _search(self, context, args, kws)
    key = self, context, tuple(args)
    known = _found.get(key)
    if known is not None:
        return known
    signature = _search(self, context, args, kws)
    # With another key the code is that of an `overload`, and depends on the options of the caller.
    if self.get_impl_key(signature) is self.typing_key:
        _found[key] = signature
    return signature
