"""Capturing: a function is run once on placeholders, and its operations are kept as expressions.

An effect outside of the graph, which a replay could not repeat, is refused here with the user's
line. Tensors from outside, and elements of arrays that Python has read, get guards: if a guard
fails at a later call, the function is captured anew.
"""

import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..._errors import CaptureError
from ...process.interruptible import Block
from ..graph.callsite import Site, user_frame
from ..graph.value import Alias, Expr, ForeignStorage, Spec, Storage, Value, View, next_number
from ..lower.placeholder import ARGUMENT, LEFT_BEHIND, Placeholder
from ..record.apply import changing, mode, runtime
from ..record.guards import OperandCopies, ReadArrays, guarded
from .concrete import Constants
from .escapes import transform_call_of

WAYS_OUT = (
    "Choose by value with ng.where or ng.cond, keep loops and checks that depend on values, and "
    "what is printed, outside of the captured function, or make the argument static "
    "(static_argnums, static_argnames)."
)

_INDEX = " As an index it is read at each call where a tensor is indexed: ng.asarray(table)[index]."


class Passage(Placeholder):
    """An operator that turns the rows of a value into an ordinary first axis (`TO_AXIS`), or the
    first axis into rows (`TO_ROWS`); the elements stay the same.

    A captured function is split into programs at its passages, as only the program on one side of a
    passage runs on rows.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def memory_order(self, operands: Sequence[np.ndarray], static: Any) -> list[np.ndarray]:
        """Return a list with one array that has the memory order of the result.

        For `TO_ROWS` that is the first row of the operand if there is one, as the order of a value
        with rows is the order of one row. Else it is the operand itself.
        """
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


def apply_passage(passage: Passage, value: Value, spec: Spec) -> Value:
    """Return the result of applying a passage to a value: an expression that is not connected to a
    graph."""
    return runtime.value.deferred(Expr(passage, {}, (value.detached(),), (spec,)), 0, spec)


_ONCE = ((0, 0), (0, 1))  # of `IndexCopy.writes`: none, or one into the copy


class IndexCopy:
    """A note that one value is a copy of the part ``base[key]`` of another value.

    The key is known only at the replay, so the part is copied; for a known key NumPy would make a
    view. Copy and base *agree* as long as a view would have the elements of the copy. The counts of
    writes into both tell whether they agree.
    """

    def __init__(self, base: Value, copy: Value, key: Any) -> None:
        self.base, self.copy, self.key = base, copy, key
        self.agree()

    def agree(self) -> None:
        """Note that the copy and its base agree now."""
        self.versions = self.base.version, self.copy.version

    def writes(self) -> tuple[int, int]:
        """Return the numbers of writes into the base and into the copy since both last agreed."""
        before, after = self.versions, (self.base.version, self.copy.version)
        return after[0] - before[0], after[1] - before[1]


class Capture:
    """The capture of one function: what the function uses, reads and writes while it runs.

    Attributes
    ----------
    what : str
        The first words of errors: what numgrad is doing.
    ways_out : str
        The end of the error for a value that Python reads before it is computed: why the value is
        not known, and what to write instead.
    arguments : sequence of Value
        The placeholders with which the function is called.
    used : dict
        The tensors from outside on which the function computes, by id.
    read : list
        The storages whose elements Python has read, with their versions at that time.
    arrays_read : ReadArrays
        The arrays of the user whose elements Python has read.
    adopted : list of callable
        The guards of other captured functions that this function calls.
    aliases : list of weakref
        The tensors that share memory with a tensor to which no graph connects them.
    views : list of weakref
        The views without rows, kept only if an argument has rows. If a later write gives the base
        of such a view rows, the view is recorded anew.
    replayed : list of View
        The views that were recorded anew in the function because their bases were written.
    gates : set of Node
        The nodes through which cotangents leave the branches of `ng.cond`.
    has_rows : bool
        Whether arguments have rows: one row for each member of an ensemble.
    notes_all : bool
        Whether `note_operands` is also told of operands that are still to be computed.
    constants : Constants
        The elements of values that depend on no argument.
    copies : list of IndexCopy
        The copies that stand for views, as the index of each is known only at the replay.
    lent : list of weakref
        The views of the user's arrays that operands of elementwise operators hold, and nobody else.
    """

    what = "ng.jit is capturing a function"
    ways_out = f"which is known only when the function is replayed. {WAYS_OUT}"

    def __init__(self, arguments: Sequence[Value], parent: "Capture | None" = None) -> None:
        self.arguments = arguments
        self.parent = parent
        if parent is not None and type(self) is Capture:  # the capture of a branch
            self.what, self.ways_out = parent.what, parent.ways_out
        self.has_rows: bool = parent is not None and parent.has_rows
        self.notes_all: bool = parent is not None and parent.notes_all
        self.token = object()
        self.used: dict[int, Value] = {}
        self.elements = OperandCopies()
        self.read: list[tuple[Storage, int]] = []
        self.arrays_read = ReadArrays()
        self.adopted: list[Callable[[], bool]] = []
        self.aliases: list[weakref.ref[Value]] = []
        self.views: list[weakref.ref[Value]] = []
        self.replayed: list[View] = []
        self.gates: set[Any] = set()
        self.stream: Any = mode.stream if parent is None else parent.stream  # of the call
        self.constants: Constants = Constants() if parent is None else parent.constants
        self.copies: list[IndexCopy]
        self.copies = [] if parent is None else parent.copies
        self.lent: list[weakref.ref[np.ndarray]] = [] if parent is None else parent.lent

    def running(self) -> Block:
        """Capture the operations of this thread inside the block."""
        return changing(capture=self, deferring=True, kept=None)

    def note_operands(self, values: Iterable[Value]) -> None:
        """Note those of an operation's operands that the captured function has not made."""
        if self.parent is not None:
            self.parent.note_operands(value for value in values if not self.made(value))
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

    def borrow(self, value: Value) -> None:
        """Let an operand, which the user does not see, read an array of the user through a view of
        its own: `count_lent` then knows that no code of the user holds the view."""
        assert isinstance(value.array, np.ndarray)
        value.array = value.array.view()
        self.lent.append(weakref.ref(value.array))

    def count_lent(self, array: np.ndarray) -> int:
        """Return how many references to an array are those of views that operands hold."""
        views = [reference() for reference in self.lent]
        return sum(view is not None and view.base is array for view in views)

    def require_unwritten(self) -> None:
        """Raise if the function has written into a user's array after computing with it."""
        found = self.elements.written()
        if found is not None:
            raise CaptureError(f"{self.what}: {_work_array(*found)}")

    def note_copy(self, base: Value, copy: Value, key: Any) -> None:
        """Note that ``copy`` is a copy of ``base[key]``, for a key that is known only at the
        replay; see `IndexCopy`."""
        self.copies.append(IndexCopy(base, copy, key))

    def find_copy(self, base: Value, copy: Value) -> "IndexCopy | None":
        """Return the `IndexCopy` of ``copy`` if writing ``copy`` back into ``base`` would make both
        agree; else None.

        So ``x[key] += v``, which writes into a copy and then back into ``x``, does what a view
        would do. The copy must have been written at most once and ``base`` not at all, and nothing
        may have been recorded since that could have read the old elements of ``base``.
        """
        made = [item.number for item in (copy.expr, copy.node) if item is not None]
        if copy.array is not None or max(made) + 1 != next_number():
            return None
        for note in reversed(self.copies):
            if note.copy is copy:
                return note if note.base is base and note.writes() in _ONCE else None
        return None

    def copies_are_views(self) -> bool:
        """Whether each copy still agrees with its base, so that a view would have had the same
        elements.

        That is so unless the base or the copy was written and the copy was not written back into
        the base.
        """
        return all(note.writes() == (0, 0) for note in self.copies)

    def note_read(self, value: Value) -> None:
        """Note that Python reads the elements of a computed value; elements from outside of the
        function get a guard."""
        if self.parent is not None and not self.made(value):
            self.parent.note_read(value)
            return
        if isinstance(value.storage, ForeignStorage):
            guarded(value.array)
        elif not self.made(value):
            self.read.append((value.storage, value.storage.version))

    def adopt(self, values: Iterable[Value], guards: Sequence[Callable[[], bool]]) -> None:
        """Note that another captured function becomes part of this one, with its guards and the
        tensors that it closes over."""
        self.note_operands(values)
        self.root.adopted += [
            guard
            for guard in guards
            if not (isinstance(guard, UnchangedTensor) and guard.is_about(self))
        ]

    @property
    def root(self) -> "Capture":
        """The capture of the outermost function."""
        return self if self.parent is None else self.parent.root

    def note_alias(self, value: Value) -> None:
        """Note a tensor that shares memory with another one although no graph connects the two."""
        self.root.aliases.append(weakref.ref(value))

    def note_view(self, value: Value) -> None:
        """Note a view without rows: a later write may give its base rows, see `refresh_views`."""
        if self.has_rows and not value.rows:
            self.root.views.append(weakref.ref(value))

    def refresh_views(self, base: Value) -> None:
        """Record all views of ``base`` anew, after a write of a value with rows has given ``base``
        rows."""
        for reference in self.root.views:
            value = reference()
            if value is not None and isinstance(value._view, View) and value._view.base is base:
                value._view.refresh(value)

    def forget_replayed(self) -> None:
        """Mark the views that were recorded anew in this branch, so that the code after the branch
        records them again.

        What a branch has recorded must not be read outside of the branch, which may not be the
        chosen one.
        """
        for view in self.replayed:
            view.forget()

    def is_outer(self, value: Value) -> bool:
        """Whether a change of ``value`` would be seen outside of the captured function."""
        arguments = self.arguments  # empty for a branch, whose operands are seen outside
        if any(value is argument for argument in arguments):
            return True
        # A value that has the expression of an argument, and is none, was detached in the function.
        is_detached = value.array is None and any(value.expr is a.expr for a in arguments)
        return not is_detached and not self.made(value)

    def made(self, value: Value) -> bool:
        """Whether a value was made in the captured function."""
        storage = value._storage
        if storage is None:
            return value.expr is not None and value.expr.token is self.token
        return getattr(storage, "token", None) is self.token

    def require_inner(self, value: Value, what: str) -> None:
        """Raise if the operation ``what`` changes a value from outside of the function, as a replay
        would not repeat the change."""
        if self.is_outer(value):
            refuse(
                f"{what} of a tensor from outside of the captured function (an argument, or one "
                f"that it closes over) would happen now, and not again when it is replayed. "
                f"Return the new value instead, or work on a copy (x.clone())."
            )

    def require_writeable(self, value: Value) -> None:
        """Raise if ``value`` shares memory with a tensor outside of the captured function, or with
        a tensor to which no graph connects it."""
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
        """Whether ``value`` shares memory with a living tensor to which no graph connects it."""
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
        """Return the guards of the function: a replay is allowed only while all of them return
        True."""
        used = [weakref.ref(value) for value in self.used.values()]
        self.used.clear()
        alive = [value for value in (reference() for reference in used) if value is not None]
        checks: list[Callable[[], bool]] = list(map(UnchangedTensor, alive))
        checks += self.adopted
        checks += self.arrays_read.guards()
        for storage, version in self.read:
            checks.append(lambda s=storage, v=version: s.version == v)
        return checks


class UnchangedTensor:
    """A guard: as long as a tensor lives, it has the same array and the same ``requires_grad``.

    If the tensor was made in the function of a transform, that function must still be running: its
    next call would make another tensor.
    """

    __slots__ = ("_array", "_call", "_flag", "_reference")

    def __init__(self, value: Value) -> None:
        self._reference = weakref.ref(value)
        self._array, self._flag = value.array, value.requires_grad
        self._call = transform_call_of(value)

    def __call__(self) -> bool:
        if self._call is not None and not self._call.is_running:
            return False
        value = self._reference()
        return value is None or (value.array is self._array and value.requires_grad == self._flag)

    def is_over(self) -> bool:
        """Whether the tensor was deleted, so that the guard can never fail again and may be
        dropped."""
        return self._call is None and self._reference() is None

    def is_about(self, capture: Capture) -> bool:
        """Whether ``capture`` has made the tensor; then a guard is needless, as a replay makes the
        tensor anew."""
        value = self._reference()
        return value is not None and capture.made(value)


def require_own_placeholders(exprs: Iterable[Expr], arguments: Iterable[Value]) -> None:
    """Raise if an expression reads a placeholder that is not among ``arguments``.

    Such a placeholder belongs to another captured function, and a replay would put the wrong
    argument in its place.
    """
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
    """Raise the error for an operation that cannot be captured, with the user's line."""
    raise CaptureError(f"{(mode.capture or Capture).what}; {here or user_line()}: {reason}")


def constant_elements(value: Value) -> np.ndarray | None:
    """Return the elements of a value that is still to be computed if they depend on no argument of
    the captured function; else None."""
    if mode.capture is None:
        return None
    if value._view is not None:
        value._view.refresh(value)
    return mode.capture.constants.of(value)


def refuse_reading(value: Value) -> NoReturn:
    """Raise the error for a value whose elements Python reads before they are computed."""
    if mode.capture is None:
        raise CaptureError(LEFT_BEHIND if mode.kept is None else _in_a_rule(value))
    from .advice import refused_reading  # not needed before there is an error

    hint = _INDEX if value.dtype.kind in "iu" else ""
    tensor = f"the value of a tensor (shape {value.shape}, {value.dtype})"
    refuse(*refused_reading(tensor, f"is asked for, {mode.capture.ways_out}{hint}"))


def _in_a_rule(value: Value) -> str:
    recorded = f" of the operation recorded at {mode.site}" if mode.site is not None else ""
    return (
        f"{user_line()}: the value of a tensor (shape {value.shape}, {value.dtype}) is asked for "
        f"in a backward function{recorded}. It is called once for all rows of a batch, before "
        f"anything is computed: choose by value with ng.where, or write the function as a kernel "
        f"under @njit, or the operator as an ng.Function, whose backward is called for each row."
    )


def user_line() -> str:
    """Return the user's line as text; where SciPy has called numgrad, that of the call of SciPy."""
    frame = user_frame(sys._getframe(1))
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("scipy."):
        frame = user_frame(frame.f_back)
    return f"at {Site(frame.f_code, frame.f_lasti)}" if frame is not None else "somewhere"
