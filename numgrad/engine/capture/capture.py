"""Capturing: a function is run once on values that will be known later, and all it does is kept.

Arguments are placeholders, so every operation on them is an expression. What a replay could not
repeat, because it happens outside the graph, is refused here with the line that asks for it.
"""

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..._errors import CaptureError
from ...process.interruptible import Block
from ..graph.callsite import user_site
from ..graph.value import Alias, Expr, ForeignStorage, Spec, Storage, Value, View, next_number
from ..lower.placeholder import ARGUMENT, LEFT_BEHIND, Placeholder
from ..record.apply import changing, mode, runtime
from ..record.guards import Elements, Seen, seen
from .concrete import Constants
from .escapes import derivative_of

WAYS_OUT = (
    "Choose by value with ng.where or ng.cond, keep loops and checks that depend on values, and "
    "what is printed, outside of the captured function, or make the argument static "
    "(static_argnums, static_argnames)."
)

_INDEX = " As an index it is read at each call where a tensor is indexed: ng.asarray(table)[index]."


class Passage(Placeholder):
    """Between a value with rows and the same value with the batch as its first axis.

    A captured function is cut into programs here: one has a row axis, the other has not.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def memory_order(self, operands: Sequence[np.ndarray], static: Any) -> list[np.ndarray]:
        """Return the order of a row, or of rows that are put together."""
        (rows,) = operands
        return [rows[0] if self is TO_ROWS and len(rows) else rows]


TO_ROWS = Passage("to_rows")
TO_AXIS = Passage("to_axis")

_FOREIGN = (
    "a tensor takes part that belongs to another call of a captured function. What was kept of an "
    "earlier call has no value: return it from the function instead. What an ensemble needs of the "
    "function around it must be one of its arguments."
)


def argument(index: int, spec: Spec) -> Value:
    """Return a placeholder for argument ``index`` of a captured function."""
    return runtime.value.deferred(Expr(ARGUMENT, {"index": index}, (), (spec,)), 0, spec)


def convert(passage: Passage, value: Value, spec: Spec) -> Value:
    """Return a deferred value on the other side of a passage, outside of any graph."""
    return runtime.value.deferred(Expr(passage, {}, (value.detached(),), (spec,)), 0, spec)


_ONCE = ((0, 0), (0, 1))  # the copy alone was written, if anything


class Copied:
    """Elements that were copied out of a value at a key, and the versions at which both agree."""

    def __init__(self, base: Value, copy: Value, key: Any) -> None:
        self.base, self.copy, self.key = base, copy, key
        self.agree()

    def agree(self) -> None:
        """Note that both have the same elements now."""
        self.versions = self.base.version, self.copy.version

    def writes(self) -> tuple[int, int]:
        """Return how often each of both was written since."""
        before, after = self.versions, (self.base.version, self.copy.version)
        return after[0] - before[0], after[1] - before[1]


class Capture:
    """Watches one function while it is captured.

    Attributes
    ----------
    what : str
        How errors say what is going on.
    ways_out : str
        How they say what to do about a value that is asked for.
    arguments : sequence of Value
        The placeholders it was called with.
    used : dict
        The tensors from outside that took part, by id.
    read : list
        The storages whose numbers Python has seen, with their versions then.
    seen : Seen
        The arrays of the user whose elements Python has seen.
    adopted : list of callable
        The guards of other recordings that became part of this one.
    aliases : list of weakref
        The tensors that share memory with others and are not in their graph.
    views : list of weakref
        The views of tensors that do not have rows, where arguments have.
    replayed : list of View
        The views of which the function has been the first to see that their bases were written.
    gates : set of Node
        Those between the branches of choices and what is outside of them.
    has_rows : bool
        Whether arguments have rows, the members of an ensemble.
    constants : Constants
        What is known of values that depend on no argument.
    copies : list of Copied
        Elements that were copied by an index that is to be computed, where a number would have
        given a view.
    """

    what = "ng.jit is capturing a function"
    ways_out = f"which is known only when the function is replayed. {WAYS_OUT}"

    def __init__(self, arguments: Sequence[Value], parent: "Capture | None" = None) -> None:
        self.arguments = arguments
        self.parent = parent
        if parent is not None and type(self) is Capture:  # of a branch in the function
            self.what, self.ways_out = parent.what, parent.ways_out
        self.has_rows: bool = parent is not None and parent.has_rows
        self.token = object()
        self.used: dict[int, Value] = {}
        self.elements = Elements()
        self.read: list[tuple[Storage, int]] = []
        self.seen = Seen()
        self.adopted: list[Callable[[], bool]] = []
        self.aliases: list[weakref.ref[Value]] = []
        self.views: list[weakref.ref[Value]] = []
        self.replayed: list[View] = []
        self.gates: set[Any] = set()
        self.stream: Any = mode.stream if parent is None else parent.stream  # of the call
        self.constants: Constants = Constants() if parent is None else parent.constants
        self.copies: list[Copied]
        self.copies = [] if parent is None else parent.copies

    def running(self) -> Block:
        """Capture what this thread does inside the block."""
        return changing(capture=self, deferring=True, kept=None)

    def use(self, values: Iterable[Value]) -> None:
        """Note the operands of an operation that are tensors from outside."""
        if self.parent is not None:
            self.parent.use(value for value in values if not self.made(value))
            return
        for value in values:
            if value.array is not None and not self.made(value) and id(value) not in self.used:
                self.used[id(value)] = value
                if isinstance(value.storage, ForeignStorage):
                    self._compare(value.array)

    def _compare(self, array: np.ndarray) -> None:
        before = self.elements.note(array)
        if before is not None:
            refuse(_work_array(array, before))

    def require_unwritten(self) -> None:
        """Raise if the function has written an array of the user's that it has computed with."""
        found = self.elements.written()
        if found is not None:
            raise CaptureError(f"{self.what}: {_work_array(*found)}")

    def note_copy(self, base: Value, copy: Value, key: Any) -> None:
        """Note a copy of elements that would have been a view of them for a known index."""
        self.copies.append(Copied(base, copy, key))

    def copied(self, base: Value, copy: Value) -> "Copied | None":
        """Return how a copy was made, if that was out of ``base``, it was written once at most, and
        nothing was computed since: then nobody has seen that ``base`` was not written."""
        made = [item.number for item in (copy.expr, copy.node) if item is not None]
        if copy.array is not None or max(made) + 1 != next_number():
            return None
        for note in reversed(self.copies):
            if note.copy is copy:
                return note if note.base is base and note.writes() in _ONCE else None
        return None

    def copies_are_views(self) -> bool:
        """Whether nobody can tell them apart: nothing was written since, or what was written to a
        copy was written where it came from as well."""
        return all(note.writes() == (0, 0) for note in self.copies)

    def look(self, value: Value) -> None:
        """Note that Python sees the numbers of a value that is computed."""
        if self.parent is not None and not self.made(value):
            self.parent.look(value)
            return
        if isinstance(value.storage, ForeignStorage):
            seen(value.array)
        elif not self.made(value):
            self.read.append((value.storage, value.storage.version))

    def adopt(self, values: Iterable[Value], guards: Sequence[Callable[[], bool]]) -> None:
        """Note that another recording, with these tensors from outside, becomes part of this."""
        self.use(values)
        self.root.adopted += [
            guard for guard in guards if not (isinstance(guard, Unchanged) and guard.is_about(self))
        ]

    @property
    def root(self) -> "Capture":
        """The capture of the outermost function."""
        return self if self.parent is None else self.parent.root

    def note_alias(self, value: Value) -> None:
        """Note that a tensor shares memory with another one, whose graph it is not in."""
        self.root.aliases.append(weakref.ref(value))

    def note_view(self, value: Value) -> None:
        """Note a view, whose base may get rows when it is written."""
        if self.has_rows and not value.rows:
            self.root.views.append(weakref.ref(value))

    def refresh_views(self, base: Value) -> None:
        """Let the views of a tensor see at once that it has got rows."""
        for reference in self.root.views:
            value = reference()
            if value is not None and isinstance(value._view, View) and value._view.base is base:
                value._view.refresh(value)

    def forget_replayed(self) -> None:
        """Let others find out themselves what was written: the branch may not have been chosen."""
        for view in self.replayed:
            view.forget()

    def is_outer(self, value: Value) -> bool:
        """Whether a change of ``value`` could be seen outside of the captured function."""
        arguments = self.arguments  # of a branch there are none: what it gets may be seen outside
        if any(value is argument for argument in arguments):
            return True
        # The function itself has detached what has the expression of an argument and is none.
        is_detached = value.array is None and any(value.expr is a.expr for a in arguments)
        return not is_detached and not self.made(value)

    def made(self, value: Value) -> bool:
        """Whether the function itself has made a value."""
        storage = value._storage
        if storage is None:
            return value.expr is not None and value.expr.token is self.token
        return getattr(storage, "token", None) is self.token

    def require_inner(self, value: Value, what: str) -> None:
        """Raise if ``what`` happens to a value from outside: a replay would not repeat it."""
        if self.is_outer(value):
            refuse(
                f"{what} of a tensor from outside of the captured function (an argument, or one "
                f"that it closes over) would happen now, and not again when it is replayed. "
                f"Return the new value instead, or work on a copy (x.clone())."
            )

    def require_writeable(self, value: Value) -> None:
        """Raise if the memory of ``value`` is also known outside of the captured function."""
        storages = [argument.storage for argument in self.arguments]
        shared = any(value.storage is storage for storage in storages)
        if shared or not self.made(value):
            refuse(
                "writing into memory from outside of the captured function (an argument, or a "
                "tensor or array that it closes over) would happen now, and not again when it is "
                "replayed. Write into a copy (x.clone()) and return it."
            )
        if self._is_shared(value):
            refuse(
                "writing into memory that two tensors share without a common graph (one of them "
                "is detached, or a view that was made under no_grad): nothing is in memory yet, "
                "so the other one would not see it. Write into a copy (x.clone())."
            )

    def _is_shared(self, value: Value) -> bool:
        """Whether a tensor that is alive shares memory with this one, but no graph."""
        base = value._view.base if isinstance(value._view, View) else value
        owners = base._view.owners if isinstance(base._view, Alias) else ()
        for reference in (*owners, *self.root.aliases):
            other = reference()
            if other is None or other is base or other is value:
                continue
            if other.storage is value.storage:
                return True
        return False

    def guards(self) -> list[Callable[[], bool]]:
        """Return what must hold so that a replay does what the function would do."""
        used = [weakref.ref(value) for value in self.used.values()]
        self.used.clear()
        alive = [value for value in (reference() for reference in used) if value is not None]
        checks: list[Callable[[], bool]] = list(map(Unchanged, alive))
        checks += self.adopted
        checks += self.seen.guards()
        for storage, version in self.read:
            checks.append(lambda s=storage, v=version: s.version == v)
        return checks


class Unchanged:
    """Whether a tensor, as long as it exists, has the memory and the flag it had, and whether the
    derivative goes on in which it was made: the function would find another one in its place."""

    __slots__ = ("_array", "_derivative", "_flag", "_reference")

    def __init__(self, value: Value) -> None:
        self._reference = weakref.ref(value)
        self._array, self._flag = value.array, value.requires_grad
        self._derivative = derivative_of(value)

    def __call__(self) -> bool:
        if self._derivative is not None and not self._derivative.is_running:
            return False
        value = self._reference()
        return value is None or (value.array is self._array and value.requires_grad == self._flag)

    def is_over(self) -> bool:
        """Whether the tensor is gone, so that nothing can change any more."""
        return self._derivative is None and self._reference() is None

    def is_about(self, capture: Capture) -> bool:
        """Whether the tensor was made in a capture, which makes it anew when it is replayed."""
        value = self._reference()
        return value is not None and capture.made(value)


def require_own(exprs: Iterable[Expr], arguments: Iterable[Value]) -> None:
    """Raise if expressions read placeholders of another recording than that of ``arguments``: a
    replay would take its own arguments for them."""
    own = {value.expr for value in arguments}
    for expr in exprs:
        if expr.operator is ARGUMENT and expr not in own:
            refuse(_FOREIGN)


def _work_array(array: np.ndarray, before: str) -> str:
    return (
        f"an array of NumPy (shape {array.shape}, {array.dtype}), which was used at {before}, has "
        f"been written since, while the function runs. A replay reads its elements once for all "
        f"uses. Use a new array each time (np.zeros, array.copy()), or a tensor (ng.zeros), whose "
        f"writes are part of what is captured."
    )


def refuse(reason: str, here: str = "") -> NoReturn:
    """Raise for what cannot be captured, with the line of user code."""
    raise CaptureError(f"{(mode.capture or Capture).what}; {here or where()}: {reason}")


def known(value: Value) -> np.ndarray | None:
    """Return the elements of a value that is to be computed, if they are the same at each call."""
    if mode.capture is None:
        return None
    if value._view is not None:
        value._view.refresh(value)
    return mode.capture.constants.of(value)


def refuse_reading(value: Value) -> NoReturn:
    """Raise for a value that Python wants to see before it is computed."""
    if mode.capture is None:
        raise CaptureError(LEFT_BEHIND if mode.kept is None else _in_a_rule(value))
    from .advice import refused_reading  # not needed before there is an error

    hint = _INDEX if value.dtype.kind in "iu" else ""
    tensor = f"the value of a tensor (shape {value.shape}, {value.dtype})"
    refuse(*refused_reading(tensor, f"is asked for, {mode.capture.ways_out}{hint}"))


def _in_a_rule(value: Value) -> str:
    recorded = f" of the operation recorded at {mode.site}" if mode.site is not None else ""
    return (
        f"{where()}: the value of a tensor (shape {value.shape}, {value.dtype}) is asked for in a "
        f"backward function{recorded}. It is called once for all rows of a batch, before anything "
        f"is computed: choose by value with ng.where, or write the function as a kernel under "
        f"@njit, or the operator as an ng.Function, whose backward is called for each row."
    )


def where() -> str:
    site = user_site()
    return f"at {site}" if site is not None else "somewhere"
