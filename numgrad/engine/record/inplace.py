"""Writes in place: which are allowed, and how the graph records them.

The caller writes the elements of an array. `commit_write` then records an operation whose result is
the whole base after the write: the base moves to the new node, and its views are recorded anew when
they are next used. The *root* of a value is its base, or the value itself if it is no view. The
*chain* of a value is the sequence of view operators that leads from the root to the value, and is
empty for the root. The *region* of a write is the part of the value that is written.
"""

import math
import sys
from typing import Any, NamedTuple

import numpy as np

from ..._errors import DeviceError, InplaceError, LeafInplaceError
from ...ir.broadcasting import broadcast_shapes
from ...ir.memory_order import standing_in
from ...process.bounded_dict import Bounded
from ..graph.callsite import user_frame
from ..graph.kind import MOST_KINDS, KeyedStatic
from ..graph.lease import is_seen, lease_of
from ..graph.memory_order import is_view_of_array, stand_in
from ..graph.node import Node, Value, View
from ..graph.saved import detach_saved_values, preserve
from ..graph.value import Alias, is_movable
from ..graph.view import ELEMENT, Chain, view_through
from .apply import apply, deferring, grad_mode, mode, other_modes, runtime
from .writes import record_in_place


class Positions(NamedTuple):
    """A region of a value: the elements at certain positions along one or several axes.

    Attributes
    ----------
    vector : ndarray or Value
        The positions, in one vector; a value if they are still to be computed.
    flattened : int
        The number of adjacent axes to which the positions refer. These axes count as a single one,
        in C order.
    tail : int
        The number of axes behind the flattened ones. The region takes all elements along them.
    shape : tuple of int
        The axes that the region has in place of the flattened ones.
    unique : bool
        Whether no position occurs twice; else the last write to a position counts.
    """

    vector: np.ndarray | Value
    flattened: int
    tail: int
    shape: tuple[int, ...]
    unique: bool


def is_recorded(target: Value, value: Value | None = None) -> bool:
    """Whether the graph has to record that ``value`` is written into ``target``."""
    if (other_modes and not mode.grad) or target.dtype.kind not in "fc":
        return False
    return target.requires_grad or (value is not None and value.requires_grad)


def check_write(target: Value, value: Value) -> None:
    """Raise unless ``value`` may be written into ``target``.

    Raises
    ------
    LeafInplaceError
        When ``target`` is a leaf that requires grad, or a view of one, and grad mode is on.
    InplaceError
        When the memory cannot be written, or gradients would miss the write.
    DeviceError
        When ``value`` is on another device.
    """
    if other_modes and mode.deferring and mode.kept is not None:
        _refuse_in_a_rule()
    root = root_of(target)[0]
    if target._view is ELEMENT or (root is not target and root.is_scalar):
        raise InplaceError(
            "this tensor cannot be written in place: it is an element that was read, or a view "
            "of a result without axes, values as in NumPy. Write x = value; to write into another "
            "tensor, x[i] = value, or take a view of it, x[i, ...] or x[i : i + 1]; a copy, "
            "x.clone(), can be written."
        )
    if value.spec.device != target.spec.device and not is_movable(value):
        _refuse_another_device(target.spec.device, value.spec.device)
    if other_modes and mode.capture is not None:
        mode.capture.require_writeable(target)
    if not _stand_in(target).flags.writeable:
        raise InplaceError(
            "this tensor cannot be written in place: its elements are repeated, as by "
            "broadcast_to, or its memory is read-only. Write to a copy (x.clone()) instead."
        )
    if root.node is None and root.requires_grad:
        _check_leaf(root, target)
    if other_modes and not mode.grad:
        return
    if target.dtype.kind in "fc":
        _check_lease(target, value)
    for alias in (target._view, root._view):
        if isinstance(alias, Alias) and (alias.strict or value.requires_grad):
            _check_alias(alias)


def _check_leaf(root: Value, target: Value) -> None:
    """Raise unless writing into ``root``, a leaf that requires grad, is allowed.

    A variable of a transform may never be written: the gradient of the written elements would count
    as that of the variable. Other leaves may be written while gradients are switched off.
    """
    what = "a leaf" if root is target else "a view of a leaf"
    if root.leaf.is_variable:
        raise LeafInplaceError(
            f"{what} tensor that requires grad is being used in an in-place operation: it is an "
            "argument that the function is differentiated by; write to a copy (x.clone())"
        )
    if mode.grad:
        raise LeafInplaceError(
            f"{what} tensor that requires grad is being used in an in-place operation; write under "
            "ng.no_grad(), or to a copy (x.clone())"
        )


def _check_lease(target: Value, value: Value) -> None:
    lease = lease_of(target.array)
    # Whether a view requires grad may take a replay of what it is a view of: it is asked last.
    if lease is None or not value.requires_grad or not is_seen(lease, user_frame(sys._getframe(1))):
        return
    raise InplaceError(
        "this tensor has the memory of an array that the program still has, which would get the "
        "values without their gradients. Make a tensor where the array is made, with ng.zeros or "
        "the like; or write to a copy (x.clone()) and use that instead of the array."
    )


def _refuse_another_device(device: str, here: str) -> None:
    raise DeviceError(
        f"a value on {here} cannot be written into a tensor on {device}; move it there, with "
        f"x.to({device!r})"
    )


def _refuse_in_a_rule() -> None:
    where = f" of the operation recorded at {mode.site}" if mode.site is not None else ""
    raise InplaceError(
        f"the backward function{where} writes in place. It is called once for all rows of a "
        f"batch, on values that are not computed yet: return new values, as ng.where, ng.stack "
        f"and arithmetic make them, or write the function as a kernel under @njit, or the "
        f"operator as an ng.Function, whose backward is called for each row."
    )


def _check_alias(alias: Alias) -> None:
    if any(owner() is not None for owner in alias.owners):
        raise InplaceError(
            f"this tensor cannot be written in place: {alias.reason}, so gradients of the tensor "
            f"whose memory it shares would not see the write. Write to that tensor, or to a copy "
            f"(x.clone())."
        )


def preserve_saved_values(target: Value) -> None:
    """Copy the elements that nodes have saved in the memory of ``target``, which is about to be
    written.

    Nothing is copied where gradients are switched off.
    """
    if not other_modes or mode.grad:
        preserve(target)


def is_deferred(target: Value, *values: Value) -> bool:
    """Whether a write of ``values`` changes no elements now, but gives ``target`` another
    expression.

    That is so if an array is not computed yet, or if expressions are being built.
    """
    if target.array is None or (other_modes and mode.deferring):
        return True
    return any([value.array is None for value in values])  # noqa: C419  a list is faster


def _stand_in(target: Value) -> np.ndarray:
    """Return the array of ``target``; for a value that is still to be computed, an array with the
    same shape and strides."""
    if target.array is not None:
        return target.array
    root, chain = root_of(target)
    return view_through(chain, stand_in(root))


def root_of(target: Value) -> tuple[Value, Chain]:
    """Return the root and the chain of ``target``."""
    view = target._view
    return (view.base, view.chain) if isinstance(view, View) else (target, ())


def commit_write(target: Value, value: Value, region: Chain | Positions) -> None:
    """Count a write of ``value`` into a region of ``target``, and record the write in the graph;
    see `record_write`."""
    target.storage.version += 1
    record_write(target, value, region)


def record_write(target: Value, value: Value, region: Chain | Positions) -> None:
    """Record a write of ``value`` into a region of ``target``, by a new node or expression for the
    root.

    Parameters
    ----------
    target : Value
        The value whose array has been written.
    value : Value
        The new elements, in the dtype of ``target``. They have the rank of the region if the region
        is a chain, and its shape if the region is `Positions`.
    region : chain of view operators or Positions
        The part of ``target`` that was written.
    """
    root, chain = root_of(target)
    for n, (operator, _) in enumerate(chain):
        if operator.completed is not None:
            value = _completed(root, chain, n, target, value, region)
            chain, region = chain[:n], ()
            break
    operator, static, inputs = _overwriting(root, chain, target, value, region)
    if is_deferred(target, value):
        _adopt_expression(root, apply(operator, inputs, static)[0])
    else:
        before = root.node, root.slot
        record_in_place(operator, static, inputs, root)
        _leave_node(root, *before)


def _completed(
    root: Value, chain: Chain, n: int, target: Value, value: Value, region: Chain | Positions
) -> Value:
    """Return the complex elements after a write to their real or imaginary parts.

    The result is a new value in place of the complex view that ``chain[:n]`` makes of ``root``. The
    operator ``chain[n]`` takes the real or imaginary parts of that view, and the rest of the chain
    leads on to ``target``, in which ``region`` is written.
    """
    whole = _apply_chain(root, chain[:n])
    part = _apply_chain(whole, chain[n : n + 1])
    operator, static, inputs = _overwriting(part, chain[n + 1 :], target, value, region)
    return chain[n][0].completed(whole, apply(operator, inputs, static)[0])


def _apply_chain(value: Value, chain: Chain) -> Value:
    """Apply a chain of view operators to a value, and return the last view."""
    for operator, static in chain:
        value = apply(operator, (value,), static)[0]
    return value


def _overwriting(
    root: Value, chain: Chain, target: Value, value: Value, region: Chain | Positions
) -> tuple[Any, dict[str, Any], tuple[Value, ...]]:
    """Return an operation that computes ``root`` after ``value`` was written into a region of
    ``target``.

    ``chain`` leads from ``root`` to ``target``. The operation is returned as its operator, static
    parameters and inputs.
    """
    if isinstance(region, Positions):
        return _put_at(root, chain, target, value, region)
    return _put(root, (*chain, *region), value)


def _put(root: Value, chain: Chain, value: Value) -> tuple[Any, dict[str, Any], tuple[Value, ...]]:
    """Return an operation that computes ``root`` after ``value`` was written into a view of
    ``root``.

    ``chain`` makes the view. The operator ``put_view`` applies the chain to an array in C order. If
    a reshape in the chain would copy such an array, the positions of the view's elements are listed
    instead.
    """
    contiguous = root.array is not None and root.array.flags.c_contiguous
    if not contiguous and not is_view_of_array(standing_in(root.shape, root.dtype), chain):
        vector = _positions_in_root(root, chain).reshape(-1)
        shape = broadcast_shapes(value.shape, _positions_in_root(root, chain).shape)
        full = runtime.roles.broadcast_to(value, shape)
        return _put_at(root, (), root, full, Positions(vector, root.ndim, 0, shape, True))
    return runtime.roles.put_view, _parameters_of_put(root.ndim, value.ndim, chain), (root, value)


_puts: dict[Any, tuple[KeyedStatic, Chain]] = Bounded(MOST_KINDS)


def _parameters_of_put(ncore: int, nregion: int, chain: Chain) -> KeyedStatic:
    """Return the static parameters of ``put_view`` for a chain.

    They are the same object for chains with the same parameters, which views by one plan share. The
    table refers to these parameters, so that no others get their ids.
    """
    key = (ncore, nregion, *[(operator, id(static)) for operator, static in chain])
    known = _puts.get(key)
    if known is None:
        steps = tuple([(operator, tuple(static.items())) for operator, static in chain])
        static = KeyedStatic({"ncore": ncore, "nregion": nregion, "chain": steps})
        known = _puts[key] = static, chain
    return known[0]


def _put_at(
    root: Value, chain: Chain, target: Value, value: Value, region: Positions
) -> tuple[Any, dict[str, Any], tuple[Value, ...]]:
    """Return an operation that computes ``root`` after ``value`` was written to positions of
    ``target``.

    ``chain`` leads from ``root`` to ``target``. Unless the chain is empty, the positions are
    translated to positions of ``root``.
    """
    if chain:
        last = target.ndim - region.tail
        flat = _positions_in_root(root, chain).reshape(
            *target.shape[: last - region.flattened],
            math.prod(target.shape[last - region.flattened : last]),
            math.prod(target.shape[last:]),
        )
        vector = _table_entries(flat, region.vector)
        region = Positions(vector, root.ndim, 0, value.shape, region.unique)
    last = root.ndim - region.tail
    whole = math.prod(root.shape[last - region.flattened : last]) == math.prod(region.shape)
    static = {
        "count": region.flattened, "tail": region.tail, "shape": region.shape,
        "whole": whole and region.unique,
    }  # fmt: skip
    return runtime.roles.put_at, static, (root, value, _as_value(region.vector))


def _table_entries(flat: np.ndarray, vector: np.ndarray | Value) -> np.ndarray | Value:
    """Return the entries ``flat[..., vector, :]`` of a table in one vector.

    ``vector`` may still have to be computed; then the result has to be, too.
    """
    if isinstance(vector, np.ndarray):
        return flat[..., vector, :].reshape(-1)
    found = runtime.roles.gather(_as_value(flat), vector, count=1, tail=1, shape=vector.shape)
    return runtime.roles.reshape(found, ncore=found.ndim, shape=(math.prod(found.shape),))


def _as_value(array: np.ndarray | Value) -> Value:
    return array if isinstance(array, Value) else runtime.value(array)


def _positions_in_root(root: Value, chain: Chain) -> np.ndarray:
    """Return the positions of a view's elements in the flattened root, as an array with the view's
    shape."""
    array = np.arange(np.prod(root.shape, dtype=int)).reshape(root.shape)
    for operator, static in chain:
        (array,) = operator.run(None, [array], static)
    return array


def adopt_result(target: Value, result: Value) -> None:
    """Record that all elements of ``target`` have been overwritten by those of ``result``.

    ``target`` gets the node of ``result``. If ``target`` is a view, a write into its root is
    recorded instead.
    """
    if not isinstance(target._view, View):
        _adopt_expression(target, result)
    elif is_recorded(target, result) or is_deferred(target, result):
        record_write(target, result, ())


def _adopt_expression(value: Value, result: Value) -> None:
    """Give a value the node of ``result``, and its expression if ``result`` is still to be
    computed."""
    if result.array is None:
        value.array, value.expr, value.expr_slot = None, result.expr, result.expr_slot
        if result.rows and not value.rows:  # a value shared by all rows is now one for each row
            value.spec = result.spec
            mode.capture.refresh_views(value)
    if not mode.grad or not (value.requires_grad or result.requires_grad):
        return
    _adopt_place(value, result)


def _adopt_place(value: Value, other: Value) -> None:
    """Give a value the node and slot of ``other``, as the last step of a write in place."""
    before = value.node, value.slot
    value.move(other.node, other.slot, other.requires_grad)
    _leave_node(value, *before)


def replay_view(view: View, value: Value, stays: bool) -> None:
    """Record the view ``value`` anew, after a write has given its base another node or expression.

    With ``stays`` the base has another expression but the same node, so the view keeps its node,
    too.
    """
    with grad_mode(not stays), deferring(False):
        current = _apply_chain(view.base, view.chain)
    value.array, value.expr, value.expr_slot = current.array, current.expr, current.expr_slot
    value.spec = current.spec
    if not stays:
        _adopt_place(value, current)
    if mode.capture is not None:
        mode.capture.replayed.append(view)


View.replay = replay_view


def _leave_node(value: Value, node: Node | None, slot: int) -> None:
    """Finish a write in place that has moved a value from the given node and slot to another node.

    The values that earlier nodes saved are detached, see `detach_saved_values`. ``retain_grad``
    moves along to the new node; hooks stay with the former node.
    """
    detach_saved_values(value)
    if node is None or node is value.node or not node.retained or slot not in node.retained:
        return
    reference = node.retained.pop(slot)
    if value.node is not None:
        value.node.own_extras().retained[value.slot] = reference
