"""Recording: operators are applied to values, now or later, and nodes are made for derivatives."""

import sys
import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial
from threading import get_ident
from typing import Any

from ..._errors import CaptureError, HookTypeError, InplaceError
from ..._settings import on_change, settings
from ...process.interruptible import Action, Block
from ..graph.callsite import Site, user_frame, user_stack
from ..graph.callsite import user_site as user_site
from ..graph.integrity import require_own_arrays
from ..graph.kind import loose_kind
from ..graph.memory_order import is_view
from ..graph.node import Node, accumulator_of
from ..graph.runtime import require_one_device
from ..graph.runtime import runtime as runtime
from ..graph.saved import saved
from ..graph.value import (
    Alias,
    CapturedStorage,
    Expr,
    ForeignStorage,
    Storage,
    Value,
    View,
    capturing,
    device_of,
    spec_of,
)
from ..graph.view import ELEMENT, RESULT
from ..lower.placeholder import LEFT_BEHIND

# The threads whose mode is not the usual one: compute at once, and record gradients. While there
# are none, no operation reads its thread's mode. An entry that stays too long costs time only.
other_modes: dict[int, bool] = {}


class Mode(threading.local):
    """The settings of one thread that say how its operations are recorded; see also `changing`."""

    grad: bool = True
    deferring: bool = False  # operations become expressions
    kept: list[Node] | None = None  # gets the nodes that are made while a pass builds expressions
    saved_hooks: tuple[tuple[Callable[..., Any], Callable[..., Any]], ...] = ()
    saved_hooks_disabled: str | None = None
    site: Site | None = None  # the user's line of the node whose derivative is being built
    capture: Any = None  # the `Capture` of the function that is being captured
    # The calls of transforms whose functions are running, the innermost last; see `escapes`.
    transform_calls: tuple[Any, ...] = ()
    stream: Any = None  # the stream of a device that the user has chosen
    showing: Any = None  # the pass that shows numbers to a function of the user
    home: Any = None  # the stream of a pass as a whole: what runs there is noted without a stream
    direct: bool = True  # operations are computed at once, and nothing but the grad mode matters
    unwatched: bool = True  # the same, but for the stream
    trace: Any = None  # is told of every operation; see `recorded_plan`
    plain_capture: Any = None  # the capture, if nothing matters beside it and the grad mode

    def present(self) -> dict[str, Any]:
        """Return all fields of the mode, with defaults for fields that were never set."""
        return _DEFAULTS | vars(self)

    def changed(self, present: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
        """Return all fields of the mode: those of ``present``, after ``changes``, with `_DERIVED`
        worked out anew.

        The new mode may need entries for this thread in `other_modes` and `capturing`. They are
        made here, before the mode begins.
        """
        new = present | changes
        deferring, capture = new["deferring"], new["capture"]
        plain = settings.path == "default"
        if new["saved_hooks"] or new["kept"] is not None or new["trace"] is not None:
            plain = False
        new["unwatched"] = plain and not deferring
        stream = new["stream"]
        new["plain_capture"] = None
        if deferring and plain and (stream is None or (capture and stream is capture.stream)):
            new["plain_capture"] = capture
        if stream is not None:  # nodes have to note the stream
            plain = False
        new["direct"] = plain and not deferring
        if deferring or not (plain and new["grad"]):
            other_modes[get_ident()] = True
        if capture is not None:
            capturing[get_ident()] = capture.token
        return new

    def set(self, **changes: Any) -> None:
        """Change fields of this thread's mode until they are changed again, or a block that changes
        them ends."""
        vars(self).update(self.changed(self.present(), changes))
        self.settle()

    def settle(self) -> None:
        """Make the thread's entries in `other_modes` and `capturing` agree with its mode.

        The mode of a block that has just ended may have left entries, which make operations slower.
        """
        if self.direct and self.grad:
            other_modes.pop(get_ident(), None)
        else:  # the end of an inner block may have removed the entry
            other_modes[get_ident()] = True
        if self.capture is not None:
            capturing[get_ident()] = self.capture.token
        elif capturing:
            capturing.pop(get_ident(), None)


_DERIVED = ("direct", "unwatched", "plain_capture")
# Fields from which no other field is derived; `other_modes` has threads without gradients, though.
_UNDERIVED = {"grad", "saved_hooks_disabled", "transform_calls", "showing"}
_DEFAULTS = {
    name: value
    for name, value in vars(Mode).items()
    if not (name.startswith("_") or callable(value))
}


def _follow_path() -> None:
    """Apply ``settings.path`` to the mode of this thread and of threads that begin later."""
    Mode.direct = _DEFAULTS["direct"] = settings.path == "default"
    Mode.unwatched = _DEFAULTS["unwatched"] = Mode.direct
    if Mode.direct:
        other_modes.pop(_PATH, None)
    else:
        other_modes[_PATH] = True
    mode.set()


_PATH = 0  # the entry in `other_modes` that stands for the path; no thread has this number


WITHOUT_GRADIENTS = "it is a view made where gradients were switched off"

mode = Mode()
_follow_path()
on_change(_follow_path)


def is_direct() -> bool:
    """Whether operations of this thread are computed at once, and nothing looks at them."""
    return not other_modes or mode.direct


def is_unwatched() -> bool:
    """Whether operations of this thread are computed at once, on whatever stream, and nothing looks
    at them."""
    return not other_modes or mode.unwatched


class changing(Block):  # noqa: N801  it is used like a function
    """Change fields of this thread's mode inside the block; the end of the block restores them."""

    def __init__(self, **changes: Any) -> None:
        super().__init__()
        self.changes = changes

    def prepare(self) -> tuple[Action, Action]:
        update, changes = vars(mode).update, self.changes
        # Only the changed fields are restored: a generator may leave its block late.
        if changes.keys() <= _UNDERIVED:
            if not changes.get("grad", True):
                other_modes[get_ident()] = True
            before = {name: getattr(mode, name) for name in changes}
            return partial(update, changes), partial(update, before)
        present = mode.present()
        before = {name: present[name] for name in (*changes, *_DERIVED)}
        return partial(update, mode.changed(present, changes)), partial(update, before)

    def settle(self) -> None:
        mode.settle()


class grad_mode(changing):  # noqa: N801  it is used like a function
    """Switch the recording of gradients on or off inside the block, in this thread."""

    def __init__(self, enabled: bool) -> None:
        super().__init__(grad=enabled)

    def prepare(self) -> tuple[Action, Action]:
        update, changes = vars(mode).update, self.changes
        if not changes["grad"]:
            other_modes[get_ident()] = True
        return partial(update, changes), partial(update, _GRAD if mode.grad else _NO_GRAD)


_GRAD, _NO_GRAD = {"grad": True}, {"grad": False}


def deferring(enabled: bool = True, kept: list[Node] | None = None) -> Block:
    """Build expressions inside the block instead of computing arrays.

    The nodes that are recorded inside the block are appended to the list ``kept``, if there is one.
    """
    return changing(deferring=enabled, kept=kept)


def apply(operator: Any, inputs: tuple[Value, ...], static: dict[str, Any]) -> list[Value]:
    """Apply an operator to values, record a node if one requires grad, and return the results.

    The operator has converted the operands to ``inputs`` before. Nothing is recorded while
    gradients are switched off.
    """
    deferring, grad = (mode.deferring, mode.grad) if other_modes else (False, True)
    arrays = [value.array for value in inputs]
    for array in arrays:
        deferring = deferring or array is None
    if deferring:
        outputs = _defer(operator, inputs, static)
    else:
        require_own_arrays(inputs)
        require_one_device(operator, inputs)
        outputs = list(map(runtime.value, runtime.run(operator, arrays, static)))
        if operator.is_view:
            _link_view(operator, static, inputs[0], outputs[0])
    if operator.gives_scalars:
        for output in outputs:
            if not output.spec.shape:
                output._view = ELEMENT if operator.reads_elements else RESULT
    if grad and operator.differentiable:
        for value in inputs:
            if value.requires_grad:
                record(operator, static, inputs, outputs)
                break
    if other_modes and mode.trace is not None:
        mode.trace.applied(operator, static, inputs, outputs)
    return outputs


def require_deferring() -> None:
    """Raise an error for a placeholder or expression that is used outside of its capture."""
    if mode.capture is None and not mode.deferring:
        raise CaptureError(LEFT_BEHIND)


def _defer(operator: Any, inputs: tuple[Value, ...], static: dict[str, Any]) -> list[Value]:
    base = inputs[0] if inputs else None
    if mode.capture is not None:
        mode.capture.note_operands(inputs)
        require_one_device(operator, inputs)
    elif not operator.is_view:  # a view may be refreshed after the captured function has ended
        require_deferring()
    # An expression reads snapshots: user code may write in place, and a captured value may get
    # a row axis later.
    read: Sequence[Any] = inputs
    if mode.kept is None or mode.capture is not None:
        read = tuple([snapshot(value) for value in inputs])
    rows = any([value.rows for value in inputs])  # noqa: C419  a list is faster
    device = device_of([value.spec for value in inputs])
    made = operator.infer(inputs, static)
    specs = tuple([spec_of(shape, dtype, rows, device) for shape, dtype in made])
    expr = Expr(operator, static, read, specs)
    expr.site = mode.site
    if mode.capture is not None and expr.site is None:
        expr.site = user_site()  # for the error of a kernel that raises in a replay
    expr.site = on_stream(expr.site)
    outputs = [runtime.value.deferred(expr, slot, spec) for slot, spec in enumerate(specs)]
    if operator.is_view and mode.kept is None and base is not None:
        _link_view(operator, static, base, outputs[0])
    return outputs


def on_stream(site: Site | None) -> Site | None:
    """Return ``site`` with the stream that the user has chosen, if any; a line that is not known,
    if there is a stream but no ``site``."""
    stream = chosen_stream() if other_modes else None
    if stream is None:
        return site
    return Site(None, 0, stream) if site is None else site._replace(stream=stream)


def with_stream(site: Site | None) -> Site | None:
    """Return the site of an expression that is copied here: with the stream that the user has
    chosen here, unless ``site`` has a stream of its own."""
    return on_stream(site) if site is None or site.stream is None else site


def chosen_stream() -> Any:
    """Return the stream of a device that the user has chosen, None for the default stream.

    In a captured function only a stream that the function itself chooses is returned: all other
    work of a replay runs on the stream that is current at the call. So it is in a pass whose plan
    is kept: None stands for the stream that is current when the pass begins.
    """
    stream, capture = mode.stream, mode.capture
    if stream is mode.home:
        return None
    return None if capture is not None and stream is capture.stream else stream


def snapshot(value: Value) -> Value | Expr:
    """Return a value or expression that will always stand for the present elements of ``value``.

    A later write in place may give ``value`` another expression. If ``value`` is a view whose base
    was written, the view is recorded anew first.
    """
    if value._view is not None:
        value._view.refresh(value)
    expr = value.expr
    return expr if expr is not None and value.expr_slot == 0 else value.snapshot()


def record(
    operator: Any, static: dict[str, Any], inputs: tuple[Value, ...], outputs: list[Value]
) -> Node:
    """Record the node of an application of ``operator``.

    The node gets the saved values that the derivative reads, and the outputs get the node.
    """
    node = Node()
    specs = tuple([value.spec for value in inputs]), tuple([value.spec for value in outputs])
    node._kind = loose_kind(operator, static, *specs)
    node.parents = parents_of(inputs)
    node.slots = tuple([value.slot for value in inputs])
    node.blank()
    reads = operator.saves(node.needs)
    if True in reads:
        count = len(inputs)
        kept = [pack(v) if read else None for v, read in zip(inputs, reads, strict=False)]
        for value, read in zip(outputs, reads[count:], strict=True):
            kept.append(pack(value.detached()) if read else None)
        node.save(kept)
    attach(node, outputs)
    return node


def parents_of(inputs: Sequence[Value]) -> tuple[Node | None, ...]:
    """Return the node of each input: the accumulator for a leaf, ``None`` for an input that does
    not require grad."""
    return tuple(
        [
            (value.node or accumulator_of(value)) if value.requires_grad else None
            for value in inputs
        ]
    )


def attach(node: Node, outputs: Sequence[Value], constant: Collection[int] = ()) -> None:
    """Make ``node`` the node of the outputs, and note the user's line in ``node``.

    Outputs in the slots ``constant``, and outputs of integers or booleans, do not require grad.
    """
    frame = user_frame(sys._getframe(1))
    if frame is not None:
        node.code, node.instruction = frame.f_code, frame.f_lasti
    if settings.call_stack_level >= 3:
        node.own_extras().stack = user_stack()
    if other_modes:
        if mode.kept is not None:
            mode.kept.append(node)
        if chosen_stream() is not None:
            node.own_extras().stream = mode.stream
    for slot, value in enumerate(outputs):
        if value.dtype.kind in "fc" and slot not in constant:
            value.move(node, slot, True)


def pack(value: Value) -> Value:
    """Return the object that a node saves for ``value``, so that later writes do not change what is
    saved.

    As a rule the object is the value itself, whose elements are copied before a write; see `saved`.
    The exceptions are:

    * the value of a user's array is copied at once;
    * for a value without an array, a snapshot is saved;
    * inside of `saved_tensors_hooks`, what the user's pack function returns is saved.
    """
    if value.array is None or (other_modes and mode.capture is not None):
        is_written = mode.capture is not None or mode.kept is None
        return _captured_snapshot(value) if is_written else saved(value)
    # Values with rows are packed at the end of the pass.
    if other_modes and mode.saved_hooks and not value.rows:
        return Packed(_copied(value), *mode.saved_hooks[-1])  # type: ignore[return-value]
    return _copied(value) if isinstance(value._storage, ForeignStorage) else saved(value)


def saved_result(result: Any) -> Any:
    """Return a detached value with the array of a result, for the result's own node to save.

    The result itself refers to that node, so saving it would make a reference cycle.
    """
    if result.array is None or result._storage is not None:
        return pack(result.detached())
    kept = object.__new__(type(result))
    kept.array = result.array
    kept.spec = result.spec
    kept._storage = result._storage = Storage()
    kept._storage.kept = True
    kept._requires_grad = kept._kept = False
    kept.node = kept._view = kept.expr = kept._leaf = None
    kept.slot = kept.expr_slot = 0
    return kept


def _copied(value: Value) -> Value:
    copy = value.detached()
    assert value.array is not None
    copy.array, copy.storage = value.array.copy(), Storage()
    return copy


def _captured_snapshot(value: Value) -> Value:
    """Return a detached value with the present expression of ``value``, for a node to save.

    The detached value has a storage of its own, so that a later write in the captured function does
    not count as a write into the saved value. The class of the storage stays, as `is_movable` reads
    it.
    """
    if value.array is None and value._storage is None:  # either gets one when it is asked for
        return value.deferred(value.expr, value.expr_slot, value.spec)  # type: ignore[arg-type]
    own, storage = value.detached(), value._storage
    if isinstance(storage, CapturedStorage):
        own._storage = CapturedStorage(storage.token)
    elif not isinstance(storage, ForeignStorage):  # no captured function writes a user's array
        own._storage = None
    return own


class Packed:
    """What the pack function of ``saved_tensors_hooks`` has returned for a saved value."""

    __slots__ = ("content", "shape", "unpack_function")

    version, _storage = 0, None  # the packed content belongs to the user: writes are not counted

    def __init__(self, value: Value, pack: Callable[..., Any], unpack: Callable[..., Any]) -> None:
        self.shape = value.shape
        with grad_mode(False), deferring(False):
            self.content = pack(value)
        if value.version:
            raise InplaceError("a pack function of saved_tensors_hooks has modified its argument")
        self.unpack_function = unpack

    def restore(self) -> Value:
        """Return the value that the user's unpack function makes of the packed content."""
        with grad_mode(False), deferring(False):
            value = self.unpack_function(self.content)
        if not isinstance(value, runtime.value):
            raise HookTypeError(
                f"an unpack function of saved_tensors_hooks must return a tensor, "
                f"got {type(value).__name__}"
            )
        return value


def _link_view(operator: Any, static: dict[str, Any], base: Value, view: Value) -> None:
    if view.array is not None and view.array.base is None and view.array is not base.array:
        return  # the operator had to copy, so the result is no view
    above = base._view if isinstance(base._view, View) else None
    root = base if above is None else above.base
    chain = (*(() if above is None else above.chain), (operator, static))
    if view.array is None and not is_view(root, chain):
        return
    view.storage = base.storage
    if root.requires_grad and not mode.grad:
        make_alias(view, root, WITHOUT_GRADIENTS, strict=True)
    else:
        view._view = View.of(root, chain)
        if mode.capture is not None:
            mode.capture.note_view(view)


def make_alias(value: Value, owner: Value, reason: str, strict: bool) -> None:
    """Mark a value as an `Alias` of ``owner``: both share memory, but no graph connects them."""
    value._view = Alias(owner, reason, strict)
    if mode.capture is not None:
        mode.capture.note_alias(value)
