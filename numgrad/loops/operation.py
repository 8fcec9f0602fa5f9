"""The operation that a function of loops is for tensors: its values, and its derivatives."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._autograd.custom import Function
from .._errors import ArgTypeError, CaptureError, DeviceError, NotDifferentiableError
from .._tensor import Tensor, placed
from ..engine.graph.value import CPU
from ..engine.record.apply import mode
from .pullback import pulled


def has_tensors(thing: Any) -> bool:
    """Whether an argument is a tensor, or a tuple that holds one."""
    if isinstance(thing, tuple):
        return any(map(has_tensors, thing))
    return isinstance(thing, Tensor)


def call(dispatcher: Any, arguments: Sequence[Any]) -> Any:
    """Call a function of loops with tensors among its arguments."""
    name = dispatcher.py_func.__name__
    values = tuple(_replaced(a, lambda t: _value_of(t, name)) for a in arguments)
    given = [part for argument in arguments for part in _parts(argument)]
    floating = [n for n, p in enumerate(given) if isinstance(p, Tensor) and p.dtype.kind in "fc"]
    wanted = [n for n in floating if given[n].requires_grad] if mode.grad else []
    if not wanted:
        return _without_gradient(dispatcher, values, given)
    derived = _derived(dispatcher, values, wanted)
    _refuse_written_arrays(derived, given, name)
    asked = _Call(dispatcher, values, given, derived)
    outputs = _Loops.apply(asked, *asked.tensors)
    outputs = iter(outputs)
    result = _filled(asked.result, outputs)
    for place in asked.written:
        given[place][...] = next(outputs)
    return result


class _Call:
    """One call with tensors: what the operation and its derivative have to know."""

    def __init__(
        self, dispatcher: Any, values: tuple[Any, ...], given: list[Any], derived: Any
    ) -> None:
        self.dispatcher, self.values, self.derived = dispatcher, values, derived
        self.tensors = [part for part in given if isinstance(part, Tensor)]
        self.fixed = [None if isinstance(part, Tensor) else part for part in given]
        self.places = [n for n, part in enumerate(given) if isinstance(part, Tensor)]
        self.written = [n for n in derived.written if isinstance(given[n], Tensor)]
        self.result: Any = None

    def parameters(self, tensors: Sequence[Any]) -> list[Any]:
        """Return the arrays and numbers of the arguments, tensors at the places of tensors."""
        found = list(self.fixed)
        for place, tensor in zip(self.places, tensors, strict=True):
            found[place] = tensor
        return found


class _Loops(Function):
    """The results of a call, and then the arrays that it has written."""

    @staticmethod
    def forward(ctx: Any, asked: _Call, *tensors: Any) -> tuple[Any, ...]:
        """Call the compiled function."""
        from .._adjoint.kernel import parts

        ctx.asked = asked
        ctx.save_for_backward(*tensors)
        values = _with_copies(asked.values, asked.written)
        result = asked.dispatcher(*values)
        flat = [part for value in values for part in parts(value)]
        asked.result, outputs = _taken_apart(result, flat, asked.derived.results)
        return (*outputs, *(placed(flat[n], CPU) for n in asked.written))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """Call the derived adjoint."""
        asked, derived = ctx.asked, ctx.asked.derived
        count = len(grads) - len(asked.written)
        starts = dict(zip(asked.written, grads[count:], strict=True))
        starts = {n: g for n, g in starts.items() if n in derived.shadows}
        found = pulled(derived, asked.parameters(ctx.saved_tensors), starts, grads[:count])
        return (None, *(found.get(place) for place in asked.places))


# Arguments ----------------------------------------------------------------------------------------


def _value_of(tensor: Tensor, name: str) -> Any:
    """Return the array of a tensor, or its number."""
    if tensor.spec.device != CPU:
        raise DeviceError(
            f"{name} runs on the CPU and got a tensor on {tensor.spec.device}: write x.cpu()"
        )
    try:
        array = tensor._computed()
    except CaptureError as error:
        raise CaptureError(
            f"{name} is a function of loops under njit, which is called with values: where ng.jit "
            f"or vmap captures a function there are none. Call it outside of the captured "
            f"function; for samples write ng.stack([{name}(row) for row in x]), or put the loop "
            f"over them into {name}"
        ) from error
    return array[()] if array.ndim == 0 else array


def _replaced(thing: Any, replace: Callable[[Tensor], Any]) -> Any:
    if isinstance(thing, tuple) and has_tensors(thing):
        inner = [_replaced(part, replace) for part in thing]
        return type(thing)(*inner) if hasattr(thing, "_fields") else tuple(inner)
    return replace(thing) if isinstance(thing, Tensor) else thing


def _parts(argument: Any) -> list[Any]:
    """The tensors, arrays and numbers of an argument, as ``parts`` has those of its value."""
    from .._adjoint.kernel import parts

    if isinstance(argument, tuple):
        return [part for inner in argument for part in _parts(inner)]
    return [argument] if isinstance(argument, Tensor) else parts(argument)


def _with_copies(values: tuple[Any, ...], written: Sequence[int]) -> tuple[Any, ...]:
    """Return the arguments with copies of the arrays that are written."""
    from .._adjoint.kernel import parts

    counter = iter(range(sum(len(parts(value)) for value in values)))

    def copied(thing: Any) -> Any:
        if isinstance(thing, tuple):
            inner = [copied(part) for part in thing]
            return type(thing)(*inner) if hasattr(thing, "_fields") else tuple(inner)
        is_written = bool(parts(thing)) and next(counter) in written
        return thing.copy() if is_written else thing

    return tuple(map(copied, values)) if written else values


def _refuse_written_arrays(derived: Any, given: Sequence[Any], name: str) -> None:
    for place in derived.written:
        if place in derived.shadows and not isinstance(given[place], Tensor):
            argument = derived.parameters[place]
            raise ArgTypeError(
                f"{name} writes what depends on tensors to its argument {argument}, an array of "
                f"NumPy, through which no gradient flows: hand it a tensor, such as "
                f"ng.zeros({given[place].shape}), or make the array in {name} and return it"
            )


def _derived(dispatcher: Any, values: tuple[Any, ...], wanted: Sequence[int]) -> Any:
    """Return the adjoint of a function of loops for arguments of these types; it is made once."""
    from .._adjoint import AdjointError, derive, type_of
    from .._adjoint.kernel import key_of, parts, refuse_aliases
    from .trust import trust

    known = vars(dispatcher).setdefault("_derived", {})
    types = [type_of(value) for value in values]
    key = key_of(types), tuple(wanted)
    try:
        if key not in known:
            known[key] = derive(dispatcher, types, wanted)
            trust(known[key], [part for value in values for part in parts(value)])
        refuse_aliases(known[key], [part for value in values for part in parts(value)])
    except AdjointError as error:
        raise NotDifferentiableError(str(error)) from error
    return known[key]


# Results ------------------------------------------------------------------------------------------


class _Place:
    """Where in the result the next tensor stands."""


_PLACE = _Place()


def _taken_apart(
    result: Any, flat: Sequence[Any], types: Sequence[Any] = ()
) -> tuple[Any, list[Tensor]]:
    """Return the result with places instead of floats and arrays of floats, and these as tensors.

    Arrays that share memory with an argument are copied.
    """
    outputs: list[Tensor] = []
    count = iter(range(len(types)))

    def taken(thing: Any) -> Any:
        if isinstance(thing, tuple):
            inner = [taken(part) for part in thing]
            return type(thing)(*inner) if hasattr(thing, "_fields") else tuple(inner)
        if thing is None:
            return None
        place = next(count, None)
        dtype = None if place is None else types[place].dtype
        if np.asarray(thing).dtype.kind not in "fc":
            return thing
        outputs.append(placed(_own(np.asarray(thing, dtype), flat), CPU))
        return _PLACE

    return taken(result), outputs


def _own(array: np.ndarray, flat: Sequence[Any]) -> np.ndarray:
    shared = (a for a in flat if isinstance(a, np.ndarray) and np.may_share_memory(a, array))
    return array.copy() if any(True for _ in shared) else array


def _filled(result: Any, outputs: Iterator[Any]) -> Any:
    """Return a result with tensors at their places."""
    if isinstance(result, tuple):
        inner = [_filled(part, outputs) for part in result]
        return type(result)(*inner) if hasattr(result, "_fields") else tuple(inner)
    return next(outputs) if result is _PLACE else result


def _without_gradient(dispatcher: Any, values: tuple[Any, ...], given: list[Any]) -> Any:
    """Call a function with the values of tensors; those that it has written are written."""
    from .._adjoint.kernel import parts

    arrays = [n for n, part in enumerate(given) if isinstance(part, Tensor) and part.ndim]
    before = [part for value in values for part in parts(value)]
    copies = _with_copies(values, arrays)
    result, outputs = _taken_apart(dispatcher(*copies), before)
    after = [part for value in copies for part in parts(value)]
    for n in arrays:
        if not np.array_equal(before[n], after[n], equal_nan=before[n].dtype.kind in "fc"):
            given[n][...] = after[n]
    return _filled(result, iter(outputs))
