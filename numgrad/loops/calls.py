"""Calls of functions under ``njit`` with tensors among their arguments.

The ``form`` of arguments is nested tuples of them, with the object `PLACE` in place of each array
or number. These arrays and numbers are a flat list, ``given``.
"""

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .._adjoint.ssa.refusal import AdjointError
from .._errors import ArgTypeError, CaptureError, DeviceError, NotDifferentiableError
from .._tensor import Tensor, constant, placed
from ..engine.graph.value import CPU
from ..engine.record.apply import mode
from ..process.bounded_dict import Bounded
from .interface import PLACE, Core, Interface, filled
from .operation import Loops


def has_tensors(thing: Any) -> bool:
    """Whether an argument is a tensor, or a tuple that holds one."""
    if isinstance(thing, tuple):
        return any(map(has_tensors, thing))
    return isinstance(thing, Tensor)


def call(dispatcher: Any, arguments: Sequence[Any]) -> Any:
    """Call a function under ``njit`` as an operation of tensors."""
    given: list[Any] = []
    form = tuple([_form(argument, given) for argument in arguments])
    name = dispatcher.py_func.__name__
    wanted, is_later = _looked_at(name, given)
    operator = _operator(dispatcher, form, given)
    if isinstance(operator, AdjointError):
        return _without_operator(dispatcher, form, given, operator, wanted, is_later)
    interface = operator.interface
    if not operator.nout:
        return _without_outputs(dispatcher, interface, given, is_later)
    if wanted:
        _refuse_written_arrays(operator, given, wanted)
    if interface.written:
        _refuse_aliases(interface, given)
    if is_later:
        outputs = operator(*given, shapes=_shapes(interface, given))
    else:
        outputs = operator(*[p if type(p) is Tensor else _constant(p) for p in given])
    outputs = outputs if operator.nout > 1 else (outputs,)
    count = len(interface.returned)
    for n, output in zip(interface.written, outputs[count:], strict=True):
        _write(given[n], output, interface, n)
    returned = outputs[:count] if is_later else list(map(_plain, outputs[:count]))
    return filled(interface.result, iter(returned).__next__)


# Arguments ----------------------------------------------------------------------------------------


def _form(thing: Any, given: list[Any]) -> Any:
    """Return an argument with `PLACE` instead of arrays and numbers, which are appended to
    ``given``."""
    if isinstance(thing, tuple):
        inner = [_form(part, given) for part in thing]
        return type(thing)(*inner) if hasattr(thing, "_fields") else tuple(inner)
    if isinstance(thing, (Tensor, np.ndarray, np.generic, bool, int, float, complex)):
        given.append(thing)
        return PLACE
    return thing


def _core(part: Any) -> Core:
    kind = type(part)
    if kind in _NUMBERS:
        return _NUMBERS[kind]
    if isinstance(part, Tensor):
        return Core(part.dtype, len(part.shape))
    array = np.asarray(part)
    return Core(array.dtype, array.ndim)


_NUMBERS = {kind: Core(np.asarray(kind()).dtype, 0) for kind in (bool, int, float, complex)}


def _constant(part: Any) -> Tensor:
    """Return an array or a number as a tensor; numbers of Python with the same bits share one
    tensor.

    Complex numbers share none: they are equal also where the signs of their zeros differ, by which
    a branch cut is on one side or the other.
    """
    kind = type(part)
    if kind not in _NUMBERS or kind is complex:
        return constant(part)
    key = kind, part, math.copysign(1.0, part) if kind is float else 0.0
    found = _constants.get(key)
    if found is None:
        found = _constants[key] = placed(np.asarray(part), CPU)
    return found


_constants: dict[Any, Tensor] = Bounded(1024)


def _looked_at(name: str, given: Sequence[Any]) -> tuple[tuple[int, ...], bool]:
    """Return the positions of the inputs whose gradients are wanted, and a bool.

    The bool says whether values are known only later, as while a function is captured. If not, the
    tensors are computed now. Raise for a tensor that is not on the CPU.
    """
    wanted, is_later = [], mode.deferring or mode.capture is not None
    for n, part in enumerate(given):
        if not isinstance(part, Tensor):
            continue
        if part.spec.device != CPU:
            raise DeviceError(
                f"{name} runs on the CPU and got a tensor on {part.spec.device}: write x.cpu()"
            )
        if part.array is None and not is_later:
            part._computed()
        if part.requires_grad and mode.grad and part.dtype.kind in "fc":
            wanted.append(n)
    return tuple(wanted), is_later


def _operator(
    dispatcher: Any, form: tuple[Any, ...], given: Sequence[Any]
) -> Loops | AdjointError:
    """Return the operator for arguments of these types, made once.

    If the source of the function is not understood, return the error that says so.
    """
    known = vars(dispatcher).setdefault("_operators", {})
    cores = tuple([_core(part) for part in given])
    key = _key(form), cores
    found = known.get(key)
    if found is None:
        try:
            found = Loops(dispatcher, Interface(dispatcher, form, cores))
        except AdjointError as error:
            found = error
        known[key] = found
    return found


def _key(form: Any) -> Hashable:
    if isinstance(form, tuple):
        return (type(form), *map(_key, form))
    return form if form is PLACE else (type(form), repr(form))


def _refuse_written_arrays(operator: Loops, given: Sequence[Any], wanted: tuple[int, ...]) -> None:
    """Raise if gradients would have to flow through an array of NumPy that the function writes.

    The adjoint is derived here, so an error of the derivation is raised by the call of the
    function.
    """
    shadows = operator.derived(wanted).shadows
    for n in operator.interface.written:
        if n in shadows and not isinstance(given[n], Tensor):
            name, argument = operator.name, operator.interface.names[n]
            raise ArgTypeError(
                f"{name} writes what depends on tensors to its argument {argument}, an array of "
                f"NumPy, through which no gradient flows: hand it a tensor, such as "
                f"ng.zeros({given[n].shape}), or make the array in {name} and return it"
            )


def _refuse_aliases(interface: Interface, given: Sequence[Any]) -> None:
    """Raise if an array that the function writes shares memory with another argument."""
    for n in interface.written:
        for m, other in enumerate(given):
            if n != m and _share(given[n], other):
                raise NotDifferentiableError(
                    f"{interface.name}: the arguments {interface.names[n]} and "
                    f"{interface.names[m]} share memory, and one of them is written: copy one"
                )


def _share(one: Any, other: Any) -> bool:
    first, second = [part.array if isinstance(part, Tensor) else part for part in (one, other)]
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.may_share_memory(first, second)
    both = isinstance(one, Tensor) and isinstance(other, Tensor)
    return both and one.storage is other.storage


def _shapes(interface: Interface, given: Sequence[Any]) -> Any:
    """Return the shapes of the results of a call whose values are known only later."""
    shapes = [tuple(np.shape(p)) if not isinstance(p, Tensor) else p.shape for p in given]
    kinds = (bool, int, np.integer)
    integers: dict[int, Any] = {n: p for n, p in enumerate(given) if isinstance(p, kinds)}
    constants = {
        n: p.array.item()
        for n, p in enumerate(given)
        if isinstance(p, Tensor) and p.dtype.kind in "biu" and not p.ndim and p.array is not None
        and not p.rows
    }  # fmt: skip
    return interface.shapes(shapes, {**integers, **constants})


# Results ------------------------------------------------------------------------------------------


def _write(target: Any, output: Any, interface: Interface, place: int) -> None:
    """Write to an argument the elements that the function has written to a copy of it."""
    if isinstance(target, Tensor):
        target[...] = output
    elif output.array is None:
        name, argument = interface.name, interface.names[place]
        raise CaptureError(
            f"{name} writes to its argument {argument}, an array of NumPy, and ng.jit or vmap "
            f"captures the call, which is run later: hand it a tensor, such as "
            f"ng.zeros({target.shape}), or make the array in {name} and return it"
        )
    else:
        target[...] = output.array


def _plain(output: Tensor) -> Any:
    """Return a result as a tensor if it is floating, else as the array or number that Numba
    returns."""
    if output.dtype.kind in "fc":
        return output
    return output.array if output.ndim else output.item()


def _without_outputs(
    dispatcher: Any, interface: Interface, given: Sequence[Any], is_later: bool
) -> Any:
    """Call a function without results: the function returns nothing and writes no array."""
    if is_later:
        raise CaptureError(
            f"{interface.name} returns nothing and writes no argument: a function that ng.jit or "
            f"vmap captures cannot call it later; call it outside"
        )
    dispatcher(*interface.arguments([_value(part) for part in given]))
    return interface.result


# Functions whose source is not understood ---------------------------------------------------------


def _without_operator(
    dispatcher: Any, form: Any, given: Sequence[Any], reason: AdjointError,
    wanted: tuple[int, ...], is_later: bool,
) -> Any:  # fmt: skip
    """Call a function whose source is not understood with the values of the tensors.

    Arrays of tensors that the function has written are written to the tensors. Raise if a gradient
    is wanted or the call is captured, where the values are no help.
    """
    if wanted:
        raise NotDifferentiableError(str(reason)) from reason
    name = dispatcher.py_func.__name__
    if is_later:
        raise CaptureError(
            f"{name} is a function of loops under njit, and where ng.jit or vmap captures a call "
            f"of it, its source has to be understood: {reason}\nCall {name} outside of the "
            f"captured function"
        ) from reason
    values = [_value(part) for part in given]
    before = [_copy(value) if isinstance(p, Tensor) else value
              for p, value in zip(given, values, strict=True)]  # fmt: skip
    result = dispatcher(*filled(form, iter(before).__next__))
    outputs = _tensors_of(result, before)
    for part, old, new in zip(given, values, before, strict=True):
        if isinstance(part, Tensor) and part.ndim and not _same(old, new):
            part[...] = new
    return outputs


def _value(part: Any) -> Any:
    array = part._computed() if isinstance(part, Tensor) else part
    return array[()] if isinstance(array, np.ndarray) and array.ndim == 0 else array


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _same(old: np.ndarray, new: np.ndarray) -> bool:
    return np.array_equal(old, new, equal_nan=old.dtype.kind in "fc")


def _tensors_of(result: Any, given: Sequence[Any]) -> Any:
    """Return a result with tensors in place of floats and arrays of floats."""
    if isinstance(result, tuple):
        inner = [_tensors_of(part, given) for part in result]
        return type(result)(*inner) if hasattr(result, "_fields") else tuple(inner)
    if result is None or np.asarray(result).dtype.kind not in "fc":
        return result
    array = np.asarray(result)
    shared = any(isinstance(a, np.ndarray) and np.may_share_memory(a, array) for a in given)
    return placed(array.copy() if shared else array, CPU)


