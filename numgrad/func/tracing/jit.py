"""``ng.jit``: choose the specialization for the arguments of a call, or capture the function.

A function is captured for a new kind of arguments, and again where a guard no longer holds.
"""

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
from ...engine.record.apply import mode, other_modes
from ...functions.creation.memory_order import in_order
from ...process.bounded_dict import Bounded
from ...process.transformed_function import Transformed, name_of
from ..guards.closed_names import Binding, ClosedNames
from ..guards.random_guard import DrawProfiler, RandomGuard
from ..pytree import require_function
from .arguments import Call, Signature
from .pytree_entry import MISSED, PytreeEntry
from .specialization import Specialization
from .symbolic_integers import IntegerUses
from .varying_integers import VaryingIntegers

FUSE = ("auto", "now", "never")
_ATTEMPTS = 2  # to capture with symbolic integers; each leaves out integers that were asked for
_MOST_ATTEMPTS = 3  # to capture a function while other threads draw random numbers
_MOST_SPECIALIZATIONS = 512  # specializations of one function; the least recently used makes room
_MOST_KINDS = 256  # kinds of arguments whose entries are found again
_MOST_WITH_ENTRIES = 256  # specializations with an entry, which keeps the memory of a run


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
        those of tensors: ``ng.sin``, not ``math.sin``; NumPy's functions work where NumPy hands
        the call to `Tensor`. Without ``f``, `jit` returns a decorator.
    fuse : {"auto", "now", "never"}
        When stretches of the program are compiled into kernels of their own: after they have run
        for longer than that will take, at once, or not at all.
    static_argnums, static_argnames : int or str, or sequences of them
        Arguments that are part of the recording: ``f`` sees the value itself, and is recorded once
        for each. Static arguments must be hashable. Booleans, strings and ``None`` are static
        without being named, because they are mostly options; so are integers whose value ``f`` asks
        for, such as a size or an axis.
    donate_argnums : int or sequence of int
        Positional arguments whose memory may become that of a result of the same shape and dtype:
        arrays in C order that may be written and share no memory with another argument, if the
        program reads them no more when it writes the result. What is in them afterwards is
        undefined.
    ensemble : bool
        Map ``f`` over the leading axis of every array: ``f`` is written for one member, and a run
        takes as many of them at a time as fit into a core's cache.

    Returns
    -------
    callable
        Takes what ``f`` takes, and ``out=``, arrays in the structure of the result to write it to;
        for a result on a device, a tensor there.
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
    function: Any = require_function(f, "jit")
    if fuse not in FUSE:
        raise ValueError(f"jit: fuse must be one of {', '.join(FUSE)}, got {fuse!r}")
    signature = Signature(function, static_argnums, static_argnames, donate_argnums)
    return _jit_wrapper(function, signature, fuse, bool(ensemble))


class JitWrapper(Transformed):
    """A captured function.

    A pickle of it holds the original function and the options, so another process captures the
    function anew.
    """

    __slots__ = ("jit_function",)

    def __repr__(self) -> str:
        return f"<jit of {name_of(vars(self)['__wrapped__'])}: {self.jit_function.described()}>"


def _jit_wrapper(f: Callable[..., Any], *options: Any) -> JitWrapper:
    """Return the function that users call.

    A call first tries the entry of the latest call, with no more Python than it takes to make the
    arrays of the results.
    """
    jit_function = JitFunction(f, *options)

    def jitted(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        latest = None if kwargs or capturing else jit_function.latest_entry
        while latest is not None:
            entry, make, rebuild, version, is_valid, grad = latest
            is_alike = version == settings.entries and (mode.grad if other_modes else True) is grad
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
            latest = jit_function.entry_for(latest, args)
        pytree_entry = jit_function.latest_pytree_entry
        if pytree_entry is not None and out is None and not capturing:
            result = pytree_entry(args, kwargs)
            if result is not MISSED:
                return result
        return jit_function(args, kwargs, out)

    captured = JitWrapper(jitted, f, "jit", _jit_wrapper, (f, *options))
    captured.jit_function = jit_function
    return captured


class JitFunction:
    """The specializations of one captured function, by the kind of arguments."""

    def __init__(
        self, function: Callable[..., Any], signature: Signature, fuse: str, ensemble: bool
    ) -> None:
        self.function = function
        self.signature = signature
        self.fuse = fuse
        self.ensemble = ensemble
        self.name = f"jit({getattr(function, '__name__', type(function).__name__)})"
        self.specializations: dict[Any, Specialization] = {}  # by key, the latest used last
        self.with_entries: dict[int, Specialization] = {}  # by id, the latest used last
        self.varying = VaryingIntegers()
        self.latest_entry: Any = None  # the entry of the latest call
        self.entries: Bounded[Any, Any] = Bounded(_MOST_KINDS)
        self.latest_pytree_entry: PytreeEntry | None = None
        self.closed_names = ClosedNames(function)

    def described(self) -> str:
        """Return how many specializations there are, and how many of them run fused."""
        are_fused = [found.is_fused for found in list(self.specializations.values())]
        count = f"{len(are_fused)} recording{'' if len(are_fused) == 1 else 's'}"
        if not are_fused or not any(are_fused):
            return count if not are_fused else f"{count}, not fused"
        return f"{count}, fused" if all(are_fused) else f"{count}, {sum(are_fused)} of them fused"

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
        if inside and not self.ensemble:  # the call becomes a part of another trace
            return _inlined(self.function, args, kwargs)
        call, specialization, is_beyond = self._looked_up(args, kwargs)
        if specialization is None or not specialization.is_valid():
            record = self._specialize_beyond_limits if is_beyond else self._specialize
            call, specialization = record(call, args, kwargs)
        self._mark_used(call.key, specialization)
        result = specialization.replay(call, out)
        entry = specialization.entry(call)
        if entry is None:
            self.latest_entry = self.latest_pytree_entry = None
            return result
        self._mark_entered(specialization)
        has_out = self.signature.has_out
        self.latest_entry = None if has_out else specialization.flat_entry(call, *entry)
        if self.latest_entry is not None and not kwargs:
            self.entries[_entry_key(args)] = self.latest_entry
        is_new = out is None
        self.latest_pytree_entry = specialization.pytree_entry(call, *entry) if is_new else None
        return result

    def _mark_used(self, key: Any, specialization: Specialization) -> None:
        """Make a specialization the latest used; drop the least recently used one if there are too
        many."""
        before = self.specializations.pop(key, None)  # atomic steps: other threads may call as well
        if before is not specialization:  # it was no longer valid
            self.with_entries.pop(id(before), None)
        self.specializations[key] = specialization
        if len(self.specializations) > _MOST_SPECIALIZATIONS:
            dropped = self.specializations.pop(next(iter(self.specializations)), None)
            self.with_entries.pop(id(dropped), None)

    def _forget(self, binding: Binding) -> None:
        """Drop the specializations that hold for a binding of names which is no longer kept."""
        for key, specialization in list(self.specializations.items()):
            if specialization.binding is binding:
                self.specializations.pop(key, None)
                self.with_entries.pop(id(specialization), None)

    def _mark_entered(self, specialization: Specialization) -> None:
        """Note that a specialization has an entry.

        If too many specializations have one, the least recently used loses its entries.
        """
        self.with_entries.pop(id(specialization), None)
        self.with_entries[id(specialization)] = specialization
        if len(self.with_entries) > _MOST_WITH_ENTRIES:
            oldest = self.with_entries.pop(next(iter(self.with_entries)), None)
            if oldest is not None:
                oldest.forget_entries()

    def entry_for(self, latest: Any, args: Sequence[Any]) -> Any:
        """Return the entry for arguments of this kind, and make it the latest.

        Return None if there is no such entry, or if it is ``latest``, which has just been tried.
        """
        found = self.entries.get(_entry_key(args))
        if found is None or found is latest:
            return None
        self.latest_entry = found
        return found

    def _looked_up(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Call, Specialization | None, bool]:
        """Return the flattened call, its specialization (None if there is none yet), and a bool.

        The bool is true if there is a specialization for calls of this kind, but integers of the
        call are beyond its limits. Then another specialization is looked up, in which the integers
        beyond the limits are constants, or all integers are.
        """
        binding = self.closed_names.present(self._forget)
        call = Call(self.signature, args, kwargs, self.varying.symbolic, binding)
        specialization = self.specializations.get(call.key)
        if specialization is None or specialization.holds_for(call):
            return call, specialization, False
        call = self._with_symbolic(call, args, kwargs, specialization.within(call))
        for own in (call, self._with_symbolic(call, args, kwargs, frozenset())):
            specialization = self.specializations.get(own.key)
            if specialization is not None and specialization.holds_for(own):
                return own, specialization, True
        return call, None, True

    def _specialize_beyond_limits(
        self, call: Call, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Call, Specialization]:
        """Capture the function for a call whose integers are beyond the limits of a specialization.

        Return the call with the integers that became symbolic, and the new specialization.
        """
        specialization = self._try_symbolic(call, IntegerUses())
        if specialization is None:
            call = self._with_symbolic(call, args, kwargs, frozenset())
            specialization = self._capture(call, IntegerUses())
        return call, specialization

    def _specialize(
        self, call: Call, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Call, Specialization]:
        """Capture the function for a new kind of call; return the call and the specialization.

        Integers that differ from call to call are symbolic, except those whose value Python asks
        for. The returned call has the symbolic integers as arguments of the trace.
        """
        candidates = symbolic = self.varying.candidates(call) if call.integers else frozenset()
        for _ in range(_ATTEMPTS if symbolic else 0):
            tried, uses = self._with_symbolic(call, args, kwargs, symbolic), IntegerUses()
            specialization = self._try_symbolic(tried, uses)
            if specialization is not None:
                self.varying.settle(call, symbolic, candidates - symbolic)
                return tried, specialization
            asked = uses.asked or set(range(len(tried.positions)))
            symbolic -= {tried.positions[n] for n in asked}
            if uses.is_outside:  # integers of this call exceed an axis, others need not
                call = self._with_symbolic(call, args, kwargs, frozenset())
                return call, self._capture(call, IntegerUses())
            if not symbolic:
                break
        self.varying.settle(call, frozenset(), candidates)
        call = Call(self.signature, args, kwargs, self.varying.symbolic, call.binding)
        return call, self._capture(call, IntegerUses())

    def _try_symbolic(self, call: Call, uses: IntegerUses) -> Specialization | None:
        """Capture the function with symbolic integers; return None if that is not possible.

        That is so if the function asks for the value of such an integer, or if a copy stands for a
        view that was written afterwards. Any error counts, too: an error that has another cause is
        raised again by the next capture.
        """
        try:
            specialization = self._capture(call, uses)
        except Exception:  # of any kind, as the function may have caught ours and raised its own
            return None
        return None if uses.asked or not specialization.trace.copies_are_views else specialization

    def _with_symbolic(
        self, call: Call, args: Sequence[Any], kwargs: dict[str, Any], symbolic: frozenset[int]
    ) -> Call:
        """Return the call with exactly the integers at these places symbolic."""
        return Call(self.signature, args, kwargs, lambda outline: symbolic, call.binding)

    def _capture(self, call: Call, uses: IntegerUses) -> Specialization:
        """Capture the function, again where that is needed; return the specialization.

        The function is captured again in two cases. One is a function that keeps a tensor which it
        has made and which requires grad: from now on, the tensor comes from outside. In the other,
        random numbers were drawn meanwhile, perhaps by another thread or the import of a module.
        """
        donated = self.signature.donated
        draws: RandomGuard | None = None
        for _ in range(_MOST_ATTEMPTS):
            watch = None if draws is None else DrawProfiler()
            with watch or nullcontext():
                specialization = Specialization(
                    self.function, self.name, call, self.ensemble, self.fuse, donated, uses
                )
            draws = specialization.draws
            if draws is not None and watch is not None and draws.are_by_other_threads(watch):
                draws = None
            if not specialization.keeps_leaves and draws is None:
                return specialization
        if draws is not None:
            draws.require_none(self.name)
        raise CaptureError(
            f"{self.name}: the function makes a tensor that requires grad and keeps it, at each "
            f"call another one. A replay would not make it anew, and its gradient would be lost. "
            f"Make the tensor outside of the function."
        )


def _entry_key(args: Sequence[Any]) -> tuple[Any, ...]:
    """Return a key under which the entry for arguments of this kind is kept.

    The key may be coarse, since the entry itself checks everything that matters.
    """
    return tuple(
        [
            x.shape if type(x) is np.ndarray else x if type(x) in _OPTIONS else type(x)
            for x in args
        ]
    )


_OPTIONS = frozenset({bool, int, str})


def _inlined(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return the results of a captured function that is called while another function is captured.

    Results that are views, or values that existed before the call, are copied in C order, since
    results of a captured function share no memory with its arguments or with each other.
    """
    first = next_number()

    def owned(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or leaf.expr is None or leaf.array is not None:
            return leaf
        is_new = leaf.expr.number > first and leaf._view is None
        return in_order(leaf if is_new else registry["copy"](leaf), "C")

    return optree.tree_map(owned, function(*args, **kwargs), none_is_leaf=True)
