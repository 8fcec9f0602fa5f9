"""Where results go, and which elements take part: ``out=`` and ``where=`` of NumPy's functions."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._declare.operands import Selection
from ..._errors import ArgTypeError, DtypeError
from ..._tensor import ArrayLike, Tensor
from ...engine.record.apply import mode
from ...ir.broadcasting import broadcast_shapes
from ...operators.elementwise import arithmetic as _elementwise
from ..indexing import inplace
from .operands import as_tensor, is_known


def delivered(result: Tensor, out: Any, called: str, casting: Any = "same_kind") -> Tensor:
    """Write a result into ``out``, a tensor; without one return the result.

    Raises
    ------
    TypeError
        If ``out`` is an array, which has no gradients, or cannot hold the dtype.
    ValueError
        If it has another shape.
    """
    if out is None:
        return result
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(out, Tensor):
        raise no_target(called, (), out)
    if out.shape != result.shape:
        raise ValueError(
            f"{called}: a result of shape {result.shape} cannot be written to out= of shape "
            f"{out.shape}"
        )
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise DtypeError(
            f"{called}: a result of {result.dtype} cannot be written to out= of {out.dtype} with "
            f"casting={casting!r}"
        )
    inplace.setitem(out, ..., result)
    return out


def target_of(out: Any, values: Iterable[Any]) -> Tensor | None:
    """Return the tensor that is written where values go to ``out``; for an array one that shares
    its memory, if the values have no gradients to lose, else None."""
    if isinstance(out, Tensor):
        return out
    if type(out) is not np.ndarray or not all(map(_is_constant, values)):
        return None
    shared = as_tensor(out)  # a copy, where the machine reads its bytes in another order
    return shared if np.shares_memory(shared.array, out) or not out.size else None


def writable(array: Any, called: str, *values: Any) -> Tensor:
    """Return what a function that writes into its first argument is to write into."""
    target = target_of(array, values)
    if target is None:
        from ...engine.capture.advice import advice  # not needed before there is an error

        found = advice()
        if found is not None and found.name != f"numpy.{called}":  # a function of NumPy calls it
            raise ArgTypeError(
                f"{found.typed} would write into an array, which has no gradients, at "
                f"{found.site}: write {found.write}"
            )
        raise ArgTypeError(
            f"{called} writes into tensors, not into {type(array).__name__}, which has no "
            f"gradients{_made(array) or ': write ng.zeros(...) where it is made'}; "
            f"{way_out(called)}"
        )
    return target


def _made(array: Any) -> str:
    """Return how to make an array a tensor, and on which line; nothing where that is not seen."""
    from ...engine.capture.array_origin import target_edit  # not needed before there is an error

    try:
        found = target_edit(array)
    except Exception:  # objects of libraries may raise anything
        return ""
    return "" if found is None else f", at {found[1]}: write {found[0]}"


def _is_part_written() -> bool:
    from ...engine.capture.array_origin import is_part_written  # as above

    try:
        return is_part_written()
    except Exception:  # as above
        return False


def _is_constant(value: Any) -> bool:
    """Return whether ``np.asarray(value)`` is all there is to a value."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_constant, value))
    if not isinstance(value, Tensor):
        return not isinstance(value, Selection)
    return is_known(value) and not (value.requires_grad and mode.grad)


def no_target(called: str, inputs: Any, out: Any) -> TypeError:
    """Return the error for ``out=`` that is no tensor, and for ``array += tensor``, which comes
    here as well."""
    made = _made(out)
    if isinstance(out, bool):
        instead = "write keepdims=True by name"
    elif made:
        is_whole = any(out is operand for operand in inputs) and not _is_part_written()
        here = ", or a = a + t for a += t" if is_whole else ""
        instead = f"an array has no gradients{made}{here}"
    elif any(out is operand for operand in inputs):
        instead = "an array has no gradients: write a = a + t for a += t, or make a a tensor before"
    else:
        instead = f"an array has no gradients: write a = {called}(...), or make a a tensor before"
    kind = type(out).__name__
    return TypeError(f"{called}: out= must be a tensor, got {kind}; {instead}; {way_out(called)}")


def way_out(called: str) -> str:
    """Return how to compute without gradients what tensors do not have."""
    name = called.rpartition(".")[2]
    if called.startswith("np.lib.scimath.") and hasattr(np, name):
        return f"write np.{name}(x + 0j), which is complex for every x"
    from ...engine.capture.detaching import detached_call  # not needed before there is an error

    typed = detached_call(called)
    if typed is not None:
        return f"for values without gradients write {typed}"
    numpys = called if called.startswith(("np.", "scipy.")) else f"np.{called}"
    return f"for values without gradients write {numpys}(t.detach().numpy(), ...) for a tensor t"


def mask_of(where: ArrayLike, called: str) -> Tensor:
    """Return ``where=`` as a tensor of booleans."""
    mask = None if where is None else as_tensor(where)
    if mask is None or mask.dtype != np.bool_:
        kind = "None" if mask is None else f"an array of {mask.dtype}"
        raise TypeError(f"{called} does not take where= that is {kind}: it must be booleans")
    return mask


def present(x: Tensor, where: ArrayLike, absent: Any, called: str) -> Tensor:
    """Return the elements of a reduction, ``absent`` in place of those that take no part."""
    mask = mask_of(where, called)
    if broadcast_shapes(mask.shape, x.shape) != x.shape:
        raise ValueError(f"{called}: where= of shape {mask.shape} does not fit shape {x.shape}")
    return _elementwise.where(mask, x, np.asarray(absent).astype(x.dtype))


def initial_of(value: ArrayLike, dtype: np.dtype, called: str) -> Tensor:
    """Return ``initial=``, the number with which a reduction begins, in its dtype."""
    initial = as_tensor(value)
    if initial.ndim:
        raise ValueError(f"{called}: initial= must be a number, got shape {initial.shape}")
    if initial.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"{called}: initial= is complex, where the result is of {dtype}")
    return initial.astype(dtype, copy=False)
