"""``ng.jit``: choose the specialization that serves a call, or capture the function for its kind of
arguments."""

import functools
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..._declare import registry
from ..._errors import ArgTypeError, CaptureError
from ..._settings import settings
from ..._tensor import Tensor
from ...containers import optree_calls as optree
from ...engine.capture.capture import refuse
from ...engine.graph.value import capturing, next_number
from ...engine.record.apply import mode, unusual
from ...functions.creation.memory_order import in_order
from ...process.bounded_dict import Bounded
from ...process.transformed_function import Transformed, name_of
from ..guards.random_guard import Draws, Watch
from ..pytree import require_function
from .arguments import Call, Signature
from .pytree_entry import MISSED, Nested
from .specialization import Recorded
from .symbolic_integers import Uses
from .varying_integers import Varying

FUSE = ("auto", "now", "never")
_ATTEMPTS = 2  # to record with integers that are known later, without those that were asked for
_MOST_ATTEMPTS = 3  # to record what other threads disturb
_MOST_RECORDINGS = 512  # of one function; the least recently used makes room
_MOST_KINDS = 256  # of arguments whose entries are found again
_MOST_ENTERED = 256  # recordings that have an entry, which keeps the memory of a run


def jit(
    f: Callable[..., Any] | None = None,
    *,
    fuse: str = "auto",
    static_argnums: int | Iterable[int] = (),
    static_argnames: str | Iterable[str] = (),
    donate_argnums: int | Iterable[int] = (),
    ensemble: bool = False,
) -> Any:
    """Return a function that does what ``f`` does, as one program.

    The first call with arguments of a kind records what ``f`` computes, gradients included, without
    computing it; every call replays the record with its own arguments. Nothing is compiled for
    that, so that other shapes cost no more than another recording.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, tensors, numbers and containers of them. Its operations must be
        those of tensors: ``ng.sin``, not ``math.sin``; NumPy's functions work where they come to
        `Tensor`. Without ``f``, `jit` returns a decorator.
    fuse : {"auto", "now", "never"}
        When stretches of the program are compiled into kernels of their own: after they have run
        for longer than that will take, at once, or not at all.
    static_argnums, static_argnames : int or str, or sequences of them
        Arguments that are part of the recording: ``f`` sees the value itself, and is recorded once
        for each. They must be hashable. Booleans, strings and ``None`` are static without being
        named, because they are mostly options; so are integers whose number ``f`` asks for, as
        that of a size or an axis.
    donate_argnums : int or sequence of int
        Positional arguments whose memory may become that of a result of the same shape and dtype:
        arrays in C order that may be written and share no memory with another argument, where the
        program has read them by then. What is in them afterwards is undefined.
    ensemble : bool
        Map ``f`` over the leading axis of every array: ``f`` is written for one member, and a run
        takes as many of them at a time as fit into a core's cache.

    Returns
    -------
    callable
        Takes what ``f`` takes, and ``out=``, arrays in the structure of the result to write it to.
        Results are arrays if no argument is a tensor, else tensors, which can be differentiated
        with respect to every tensor that requires grad, to any order.

    Raises
    ------
    CaptureError
        When ``f`` wants to see a value while it is recorded (``if x > 0``, ``float(x)``), or
        changes something outside. The error names the line.
    ArgTypeError
        For an argument that is neither an array nor a number and is not static.

    See Also
    --------
    cond : A choice by value.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> @ng.jit
    ... def slope(x):
    ...     return ng.func.grad(lambda x: (ng.sin(x) * x).sum())(x)
    >>> slope(np.array([0.0, 1.0])).round(3)
    array([0.   , 1.382])
    """
    if f is None:
        return functools.partial(
            jit, fuse=fuse, static_argnums=static_argnums, static_argnames=static_argnames,
            donate_argnums=donate_argnums, ensemble=ensemble,
        )  # fmt: skip
    f = require_function(f, "jit")
    if fuse not in FUSE:
        raise ValueError(f"jit: fuse must be one of {', '.join(FUSE)}, got {fuse!r}")
    signature = Signature(f, static_argnums, static_argnames, donate_argnums)
    return _captured(f, signature, fuse, bool(ensemble))


class Captured(Transformed):
    """A captured function. Another process, where a copy of it arrives, captures it anew."""

    __slots__ = ("replayer",)

    def __repr__(self) -> str:
        return f"<jit of {name_of(vars(self)['__wrapped__'])}: {self.replayer.described()}>"


def _captured(f: Callable[..., Any], *options: Any) -> Captured:
    """Return the function that users call: the latest recording is tried first, with no more
    Python than it takes to make the result."""
    replayer = Replayer(f, *options)

    def jitted(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        fast = None if kwargs or capturing else replayer.fast
        while fast is not None:
            entry, make, rebuild, version, is_valid, grad = fast
            is_alike = version == settings.entries and (mode.grad if unusual else True) is grad
            if is_alike and (is_valid is None or is_valid()):
                if out is None:
                    made = make()
                else:
                    made = out if rebuild is None or type(out) is rebuild else ()
                if rebuild is None:
                    if entry(*args, made) is None:
                        return made
                elif entry(*args, *made) is None:
                    return rebuild(made)
            fast = replayer.another(fast, args)
        nested = replayer.nested
        if nested is not None and out is None and not capturing:
            result = nested(args, kwargs)
            if result is not MISSED:
                return result
        return replayer(args, kwargs, out)

    captured = Captured(jitted, f, "jit", _captured, (f, *options))
    captured.replayer = replayer
    return captured


class Replayer:
    """The recordings of one function, by the kind of arguments."""

    def __init__(
        self, function: Callable[..., Any], signature: Signature, fuse: str, ensemble: bool
    ) -> None:
        self.function = function
        self.signature = signature
        self.fuse = fuse
        self.ensemble = ensemble
        self.name = f"jit({getattr(function, '__name__', type(function).__name__)})"
        self.recordings: dict[Any, Recorded] = {}  # the latest used last
        self.entered: dict[int, Recorded] = {}  # by id, likewise
        self.varying = Varying()
        self.fast: Any = None  # of the latest call
        self.known: Bounded[Any, Any] = Bounded(_MOST_KINDS)
        self.nested: Nested | None = None

    def described(self) -> str:
        """Return how many recordings there are, and how many of them run fused."""
        recordings = list(self.recordings.values())
        count = f"{len(recordings)} recording{'' if len(recordings) == 1 else 's'}"
        fused = sum([recorded.is_fused for recorded in recordings])
        if not recordings or not fused:
            return count if not recordings else f"{count}, not fused"
        return f"{count}, fused" if fused == len(recordings) else f"{count}, {fused} of them fused"

    def __call__(self, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> Any:
        if mode.capture is not None and out is not None:
            refuse(f"{self.name} would write to out= now, and not again when it is replayed. "
                   f"Return its result instead.")
        if out is not None and self.signature.has_out:
            raise ArgTypeError(
                f"{self.name}: out= says where the results go, and the function has a parameter "
                f"out of its own; give that one another name, or pass it by its position"
            )
        inside = mode.deferring or mode.capture is not None
        if inside and not self.ensemble:  # part of another recording
            return _own(self.function, args, kwargs)
        call, recorded, is_beyond = self._serving(args, kwargs)
        if recorded is None or not recorded.is_valid():
            record = self._recorded_beyond if is_beyond else self._recorded
            call, recorded = record(call, args, kwargs)
        self._use(call.key, recorded)
        result = recorded.replay(call, out)
        entry = recorded.entry(call)
        if entry is not None:
            self._enter(recorded)
        self.fast = entry and recorded.fast(call, *entry) if not self.signature.has_out else None
        if self.fast is not None and not kwargs:
            self.known[_kind(args)] = self.fast
        self.nested = entry and recorded.nested(call, *entry) if out is None else None
        return result

    def _use(self, key: Any, recorded: Recorded) -> None:
        """Make a recording the latest used, and drop the one that was not used for longest."""
        before = self.recordings.pop(key, None)  # one step each: other threads may call as well
        if before is not recorded:  # it was no longer valid
            self.entered.pop(id(before), None)
        self.recordings[key] = recorded
        if len(self.recordings) > _MOST_RECORDINGS:
            dropped = self.recordings.pop(next(iter(self.recordings)), None)
            self.entered.pop(id(dropped), None)

    def _enter(self, recorded: Recorded) -> None:
        """Note that a recording has an entry; those that were used before many others lose theirs.
        """
        self.entered.pop(id(recorded), None)
        self.entered[id(recorded)] = recorded
        if len(self.entered) > _MOST_ENTERED:
            oldest = self.entered.pop(next(iter(self.entered)), None)
            if oldest is not None:
                oldest.forget_entries()

    def another(self, latest: Any, args: Sequence[Any]) -> Any:
        """Return the entry of an earlier call with such arguments, which is the latest from now on;
        None if it is the latest."""
        found = self.known.get(_kind(args))
        if found is None or found is latest:
            return None
        self.fast = found
        return found

    def _serving(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Call, Recorded | None, bool]:
        """Return a call and the recording that serves it, None if there is none yet; and whether
        the call is beyond the limits of the recording for others, so that it has one of its own:
        for all integers that are within them, or for these very numbers."""
        call = Call(self.signature, args, kwargs, self.varying.later)
        recorded = self.recordings.get(call.key)
        if recorded is None or recorded.holds_for(call):
            return call, recorded, False
        call = self._with(args, kwargs, recorded.within(call))
        for own in (call, self._with(args, kwargs, frozenset())):
            recorded = self.recordings.get(own.key)
            if recorded is not None and recorded.holds_for(own):
                return own, recorded, True
        return call, None, True

    def _recorded_beyond(
        self, call: Call, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Call, Recorded]:
        """Return a new recording for a call with integers beyond the limits of another one."""
        recorded = self._tried(call, Uses())
        if recorded is None:
            call = self._with(args, kwargs, frozenset())
            recorded = self._record(call, Uses())
        return call, recorded

    def _recorded(
        self, call: Call, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Call, Recorded]:
        """Return a new recording and the call that it is for: integers that differ from call to
        call are known later, but for those whose number Python asks for."""
        candidates = later = self.varying.candidates(call) if call.integers else frozenset()
        for _ in range(_ATTEMPTS if later else 0):
            tried, uses = self._with(args, kwargs, later), Uses()
            recorded = self._tried(tried, uses)
            if recorded is not None:
                self.varying.settle(call, later, candidates - later)
                return tried, recorded
            asked = uses.asked or set(range(len(tried.positions)))
            later -= {tried.positions[n] for n in asked}
            if uses.is_outside:  # of an axis, as others need not be
                call = self._with(args, kwargs, frozenset())
                return call, self._record(call, Uses())
            if not later:
                break
        self.varying.settle(call, frozenset(), candidates)
        call = Call(self.signature, args, kwargs, self.varying.later)
        return call, self._record(call, Uses())

    def _tried(self, call: Call, uses: Uses) -> Recorded | None:
        """Return a recording that needs no number of what is known later; None if there is none."""
        try:
            recorded = self._record(call, uses)
        except Exception:  # of any kind, as the function may react to the first one: it is raised
            return None  # again by a recording with the numbers, if at all
        return None if uses.asked or not recorded.recording.copies_are_views else recorded

    def _with(self, args: Sequence[Any], kwargs: dict[str, Any], later: frozenset[int]) -> Call:
        """Return a call with these integers known later."""
        return Call(self.signature, args, kwargs, lambda outline: later)

    def _record(self, call: Call, uses: Uses) -> Recorded:
        """Return a recording; a second one if the function keeps a tensor that it has made and that
        requires grad, which is one from outside from then on, or if random numbers were drawn
        meanwhile that another thread may have drawn."""
        donated = self.signature.donated
        draws: Draws | None = None
        for _ in range(_MOST_ATTEMPTS):
            watch = None if draws is None else Watch()
            with watch or nullcontext():
                recorded = Recorded(
                    self.function, self.name, call, self.ensemble, self.fuse, donated, uses
                )
            draws = recorded.draws
            if draws is not None and watch is not None and draws.are_of_others(watch):
                draws = None
            if not recorded.keeps_leaves and draws is None:
                return recorded
        if draws is not None:
            draws.require_none(self.name)
        raise CaptureError(
            f"{self.name}: the function makes a tensor that requires grad and keeps it, at each "
            f"call another one. A replay would not make it anew, and its gradient would be lost. "
            f"Make the tensor outside of the function."
        )


def _kind(args: Sequence[Any]) -> tuple[Any, ...]:
    """Return what arguments have in common that are likely to have the same entry; the entry looks
    at all that matters."""
    return tuple(
        [
            x.shape if type(x) is np.ndarray else x if type(x) in _OPTIONS else type(x)
            for x in args
        ]
    )


_OPTIONS = frozenset({bool, int, str})


def _own(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return the results of a function that becomes part of another recording: copies of what it
    was given and of views, so that they share no memory here either, in C order."""
    first = next_number()

    def owned(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or leaf.expr is None or leaf.array is not None:
            return leaf
        is_new = leaf.expr.number > first and leaf._view is None
        return in_order(leaf if is_new else registry["copy"](leaf), "C")

    return optree.tree_map(owned, function(*args, **kwargs), none_is_leaf=True)
