"""A specialization: the trace of a function for one kind of arguments, ready to be replayed."""

import functools
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import CellType
from typing import Any

import numpy as np

from ..._declare import registry
from ..._errors import ArgTypeError
from ..._settings import accelerator, settings
from ..._tensor import Tensor, constant
from ...containers import optree_calls as optree
from ...containers.unknown_leaves import how_to_register
from ...engine.derivatives.batching import make_explicit, require_one_batch, with_rows
from ...engine.graph.memory_order import strides_of_value_copy
from ...engine.graph.node import Accumulator, Spec, Value, next_number
from ...engine.graph.references import kept_leaves
from ...engine.graph.traversal import number_of, reachable
from ...engine.graph.value import CPU
from ...engine.lower.executable import watch
from ...engine.record.apply import mode, runtime
from ...engine.replay.plan_cache import drop_released, release
from ...functions.array.operands import as_scalar
from ...functions.array.pandas_operands import unframed
from ...functions.indexing.masked import Selected
from ...ir.device_array import DeviceArray
from ...ir.kernel_spec import Same
from ...process.gc_pause import paused
from ..guards.device_check import require_one_device
from ..guards.random_guard import RandomGuard
from .arguments import (  # fmt: skip
    COMPLEX,
    FIXED,
    FLOAT,
    INTEGER,
    INTEGERS,
    NUMPY,
    NUMPY_INTEGER,
    TENSOR,
    Call,
    Static,
)
from .destinations import run_donated, run_into
from .pytree_entry import PytreeEntry
from .symbolic_floats import PythonComplex, PythonFloat
from .symbolic_integers import MOST, IntegerUses, NumpyInt, PythonInt, bind_argument
from .trace import Trace, in_order, placeholder, record

_NUMBERS = {
    FLOAT: (PythonFloat, np.dtype(np.float64)),
    COMPLEX: (PythonComplex, np.dtype(np.complex128)),
    INTEGER: (PythonInt, np.dtype(np.int64)),
}
_TYPES = {FLOAT: float, COMPLEX: complex}  # an entry takes no subclass of them
_MOST_ENTRIES = 4  # of one specialization, for calls that differ in objects of equal value
_CUT = (
    "jit: {}, but an ensemble is not differentiated from outside; let the function of one member "
    "compute gradients (ng.func.grad inside), or {}"
)


class Specialization:
    """The trace of a function for calls of one kind, and the structure of its results.

    Parameters
    ----------
    function : callable
        The function of the user.
    name : str
        Its name in errors.
    call : Call
        The call for which the function is captured.
    ensemble : bool
        Whether the function is for one member, and arrays have an axis of members in front.
    fuse : str
        As in `jit`.
    donated : iterable of int
        The positional arguments whose memory may be used for results.
    uses : IntegerUses
        Filled in: how the function uses the symbolic integers among its arguments.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        call: Call,
        ensemble: bool,
        fuse: str,
        donated: Iterable[int],
        uses: IntegerUses,
    ) -> None:
        require_one_device(name, call.leaves)
        drop_released()  # by specializations that were dropped before
        self.as_numpy = call.as_numpy
        self.binding = call.binding
        self.donated = call.numbers_of(donated) if donated else frozenset()
        self.members = _members(call) if ensemble else None
        self.is_cut = False  # an ensemble whose results would require grad
        self.limits = uses.limits
        self._entries: dict[tuple[int, ...], Any] = {}
        self._latest: list[Any] = []  # the other arguments of the latest call: no arrays or numbers
        self._function = function
        self._call = call
        self._first = next_number()
        arguments = [
            _placeholder(n, leaf, kind, uses)
            for n, (leaf, kind) in enumerate(zip(call.leaves, call.kinds, strict=True))
        ]
        with paused():
            draws = RandomGuard(function, call.fixed)
            self.trace: Trace = record(name, self._run, arguments, fuse)
            draws.end()
            self.draws = draws if draws.may_be_of_others() else None
            if self.draws is None:
                draws.require_none(name)
            del arguments
            if self.members is not None:
                self.is_cut = bool(self.trace.reaching(self._of_members))
                del self._of_members
            released = weakref.finalize(self, release, self.trace.operators)
            released.atexit = False
            live = self.is_cut or bool(self.trace.live)
            # A closed-over tensor may require grad, and arrays do not say what they depend on.
            self.is_live = self.as_numpy and live
            if self.as_numpy and not ensemble and not live:
                self.trace.drop_expressions()  # else another trace may inline this one
        del self._function, self._call

    def _run(self, arguments: list[Tensor]) -> list[Tensor]:
        """Call the function on placeholders; return its outputs, and keep the containers of its
        result."""
        if self.members is not None:
            arguments = [with_rows(a) if a.shape else a for a in arguments]  # type: ignore[misc]
            mode.capture.has_rows = True
        args, kwargs = self._call.rebuild(arguments)
        result = self._function(*args, **kwargs)
        found, self.structure = optree.tree_flatten(result, none_is_leaf=True)
        leaves = list(map(unframed, found))
        self.positions = [n for n, leaf in enumerate(leaves) if _is_result(leaf)]
        self.fixed = [None if _is_result(leaf) else leaf for leaf in leaves]
        for leaf in self.fixed:
            _require_constant(leaf, self._call)
        for _, item in optree.settings_of(self.structure):
            _require_no_closure(item)
        outputs = [leaves[n] for n in self.positions]
        for output in outputs:
            if type(output) is PythonInt:  # the function is to return a Python integer
                output.refuse_value()
        outputs = [o if isinstance(o, Tensor) else constant(o) for o in outputs]
        self.keeps_leaves = leaves_are_kept(outputs, arguments, self._first)
        if self.members is None:
            return runtime.folded(outputs, self._first)  # type: ignore[no-any-return]
        self._of_members = outputs
        return [self._joined(o) for o in outputs]

    def _joined(self, output: Tensor) -> Tensor:
        """Return the results of all members of an ensemble as one tensor, given the output of one
        member."""
        assert self.members is not None
        if output.rows:
            output = output.detached()  # type: ignore[assignment]
            make_explicit(self.members, [output])
            return output
        lead = registry["expand_dims"](output, axes=(-output.ndim - 1,))
        return registry["copy"](registry["broadcast"](lead, sizes=(self.members, *output.shape)))

    def is_valid(self) -> bool:
        """Whether all guards hold: the function would still do what the trace does."""
        return self.trace.is_valid()

    @property
    def is_fused(self) -> bool:
        """Whether a program of the trace runs in fused kernels by now."""
        stages = vars(self.trace).get("stages")
        plans = [stage.plan for stage in stages.stages] if stages is not None else ()
        return any([plan.bound.program is not plan.program for plan in plans])  # noqa: C419

    def holds_for(self, call: Call) -> bool:
        """Whether the integers of a call are within the limits of the specialization."""
        return not self._beyond(call)

    def within(self, call: Call) -> frozenset[int]:
        """Return the places of those symbolic integers of a call that are within the limits."""
        beyond = self._beyond(call)
        late = [n for n, kind in enumerate(call.kinds) if kind in INTEGERS and n not in beyond]
        return frozenset(call.positions[n] for n in late)

    def _beyond(self, call: Call) -> list[int]:
        limits = self.limits.items()
        return [n for n, (low, high) in limits if not low <= call.leaves[n] <= high]

    def is_quick(self) -> bool:
        """Whether entries may serve calls now: no gradients are recorded, and all guards hold."""
        return not (self.is_live and mode.grad) and self.is_valid()

    def replay(self, call: Call, out: Any) -> Any:
        """Return the results of the function for the arguments of a call."""
        if self.members is not None and any(getattr(x, "rows", False) for x in call.leaves):
            require_one_batch()
        if out is not None:
            run_into(self, call, out)
            return out
        as_numpy = self.as_numpy and mode.capture is None
        recorded = mode.grad and (self.is_live or not as_numpy)
        if self.is_cut and recorded:
            raise ArgTypeError(_CUT.format(
                "the function of a member closes over a tensor that requires grad",
                "call under ng.no_grad(), or close over t.detach()",
            ))  # fmt: skip
        if not as_numpy or recorded:
            results: Sequence[Any] = self.trace.call(self.tensors(call))
            if as_numpy:
                results = [r if r.requires_grad else r.array for r in results]
        elif self.donated:
            results = run_donated(self, call)
        else:
            results = self.trace.stages(self.arrays(call))
        return self.rebuild(list(map(_result, results)))

    def arrays(self, call: Call) -> list[np.ndarray]:
        """Return the arguments as arrays in C order."""
        return [
            in_order(leaf.array if isinstance(leaf, Tensor) else np.asarray(leaf))
            for leaf in call.leaves
        ]

    def tensors(self, call: Call) -> list[Tensor]:
        """Return the arguments as tensors: arrays and numbers become constants."""
        return [leaf if isinstance(leaf, Tensor) else constant(leaf) for leaf in call.leaves]

    def rebuild(self, results: Sequence[Any]) -> Any:
        """Return results in the containers of the function's result."""
        leaves = list(self.fixed)
        for position, result in zip(self.positions, results, strict=True):
            leaves[position] = result
        return optree.tree_unflatten(self.structure, leaves)

    # Entries ------------------------------------------------------------------------------------

    @accelerator
    def entry(self, call: Call) -> tuple[Any, int] | None:
        """Return the entry for a call, and the version of the settings that the entry depends on.

        Return None if no entry can serve the call: for example if the trace has several programs or
        donated arguments, or while programs are watched.
        """
        version = settings.entries  # read first: a change from now on makes the entry invalid
        if watch.current is not None or self.donated or not self.positions or not call.is_lasting:
            return None
        if not self.trace.stages.can_enter:
            return None
        plan = self.trace.stages.stages[0].plan
        numbers = set(call.positions)
        fixed = [leaf for n, leaf in enumerate(call.fixed) if n not in numbers]
        again = list(map(id, fixed)) == list(map(id, self._latest))
        self._latest = fixed
        # A run of another thread, which a forked child does not have, may be in the parent's entry.
        kind = (id(plan.bound), plan.target.num_threads, os.getpid())
        key = (*kind, *map(id, fixed))
        if key not in self._entries:
            kept = {k: e for k, e in self._entries.items() if k[: len(kind)] == kind}
            if kept and not again:
                return None  # an entry takes the very objects, which may never come again
            while len(kept) >= _MOST_ENTRIES:
                del kept[next(iter(kept))]
            self._entries = {**kept, key: self._new_entry(call)}
        entry = self._entries.get(key)
        return None if entry is None else (entry, version)

    def forget_entries(self) -> None:
        """Drop the entries and the memory that they run in; a later call makes a new one."""
        self._entries, self._latest = {}, []

    def flat_entry(self, call: Call, entry: Any, version: int) -> Any:
        """Return the tuple of `_entry_call`, with which `jit` serves calls in little Python.

        Return None if an argument is a container or a tensor, or is not in C order, and for
        results on a device, which are tensors.
        """
        is_here = self.trace.stages.is_single
        if not (self.as_numpy and call.is_flat and is_here) or any(call.orders):
            return None  # an entry takes arrays in C order
        return self._entry_call(entry, version)

    def pytree_entry(self, call: Call, entry: Any, version: int) -> PytreeEntry | None:
        """Return an entry for calls with containers and leaves like those of ``call``.

        Return None if there are static arguments, or if results of an ensemble would require grad.
        """
        given: Any = (call.args, call.kwargs)
        if self.is_cut or any(isinstance(leaf, Static) for leaf in optree.tree_leaves(given)):
            return None
        return PytreeEntry(self, call, self._entry_call(entry, version))

    def _entry_call(self, entry: Any, version: int) -> tuple[Any, ...]:
        """Return all that a call by an entry needs, as a tuple.

        The items are the entry, the function that makes the arrays of the results, the function
        that arranges them (None for a single result), the version of the settings, a function that
        tells whether the guards hold (None if there are none), and the grad mode.
        """
        is_valid = self._validity()
        specs = self.trace.stages.specs
        empty = self.trace.stages.stages[0].plan.empty
        if self.structure.is_leaf():
            make: Callable[..., Any] = functools.partial(empty, *specs[0])
            return entry, make, None, version, is_valid, mode.grad
        rebuild: Any = self.rebuild
        if self.structure.type is tuple and self.structure.num_nodes == len(specs) + 1:
            rebuild = tuple
        elif len(self.positions) == len(self.fixed):
            rebuild = self.structure.unflatten
        return (
            entry, lambda: [empty(shape, dtype) for shape, dtype in specs], rebuild, version,
            is_valid, mode.grad,
        )  # fmt: skip

    def _validity(self) -> Callable[[], bool] | None:
        """Return a function that tells whether an entry may serve calls; None if it always may."""
        holds = self.binding.holds
        if not self.trace.is_guarded():
            return holds
        return self.is_quick if holds is None else lambda: holds() and self.is_quick()

    def _new_entry(self, call: Call) -> Any:
        if any(call.kinds[n] != INTEGER for n in self.limits):
            return None
        stages = self.trace.stages
        (stage,) = stages.stages
        kinds = dict(zip(call.positions, call.kinds, strict=True))
        limits = {call.positions[n]: limits for n, limits in self.limits.items()}
        expected: list[tuple[Any, Any]] = []
        for position, leaf in enumerate(call.fixed):
            kind = kinds.get(position)
            if kind is None:
                expected.append((Same(leaf), ()))
            elif kind in (NUMPY, TENSOR):
                expected.append((leaf.dtype, leaf.shape))
            elif kind == INTEGER:
                expected.append((int, limits.get(position, (1 - MOST, MOST - 1))))
            else:
                expected.append((_TYPES.get(kind) or type(leaf), ()))
        sources = [call.positions[n] for n in stage.sources]
        return stage.plan.entry(expected, sources, [shape for shape, _ in stages.specs])


def leaves_are_kept(outputs: Sequence[Value], arguments: Sequence[Value], first: int) -> bool:
    """Whether outputs depend on a leaf that the function has made and that is still referenced.

    Leaves with numbers above ``first`` that are no arguments were made by the function.
    """
    roots = [output.edge.node for output in outputs if output.requires_grad]
    nodes = reachable([node for node in roots if node is not None], ())
    known = {id(value) for value in (*arguments, *outputs)}
    made = [
        node for node in nodes
        if isinstance(node, Accumulator) and number_of(node) > first
        and not node.variable.leaf.is_variable and id(node.variable) not in known
    ]  # fmt: skip
    return bool(kept_leaves(made, nodes))


def _members(call: Call) -> int:
    """Return the length of the leading axis of all arrays of an ensemble."""
    sizes = {leaf.shape[0] for leaf in call.leaves if getattr(leaf, "shape", ())}
    if len(sizes) != 1:
        raise ArgTypeError(
            f"jit: the arrays of an ensemble need a leading axis of one length, found lengths "
            f"{sorted(sizes)}"
        )
    if any(isinstance(leaf, Tensor) and leaf.requires_grad and mode.grad for leaf in call.leaves):
        raise ArgTypeError(_CUT.format("an argument requires grad", "pass t.detach()"))
    return sizes.pop()


def _placeholder(index: int, leaf: Any, kind: str, uses: IntegerUses) -> Tensor:
    if kind in (NUMPY, TENSOR):
        requires_grad = kind == TENSOR and leaf.requires_grad
        device = leaf.spec.device if kind == TENSOR else CPU
        spec = Spec(leaf.shape, leaf.dtype, False, device)
        stand_in = placeholder(Tensor, index, spec, requires_grad)
        stand_in.expr.static["is_array"] = kind == NUMPY
        stand_in.expr.strides = (strides_of_value_copy(leaf),)
        return stand_in
    of_numpy = NumpyInt if kind == NUMPY_INTEGER else Tensor
    number, dtype = _NUMBERS.get(kind) or (of_numpy, leaf.dtype)
    value = as_scalar(placeholder(number, index, Spec((), dtype), False))
    return bind_argument(value, index, leaf, uses) if kind in INTEGERS else value


def _result(result: Any) -> Any:
    """Return a result as users get it: an array on a device becomes a tensor, as NumPy has no
    arrays there."""
    return Tensor(result) if type(result) is DeviceArray else result  # type: ignore[arg-type]


def _is_result(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, np.ndarray, np.generic))


def _require_no_closure(item: Any) -> None:
    """Raise for a function in the result that closes over a tensor of the captured call."""
    cells = getattr(item, "__closure__", None) or ()
    held = [cell.cell_contents for cell in cells if cell != CellType()]
    if any(isinstance(value, Tensor) and value.array is None for value in held):
        raise ArgTypeError(
            f"jit: the function returns a function, {item.__qualname__}, that reads tensors of the "
            f"call, which have no values outside of it. Return the tensors themselves"
        )


def _require_constant(leaf: Any, call: Call) -> None:
    """Raise for a result that is neither an array nor a number.

    Every call would return the very object that the captured call has returned.
    """
    if isinstance(leaf, Selected):
        leaf.refuse()
    if isinstance(leaf, (float, complex, *FIXED)):
        return
    if not any(leaf is argument for argument in call.fixed):
        raise ArgTypeError(
            f"jit: the function returns a {type(leaf).__name__}, which is neither an array, a "
            f"tensor, a number nor a container of them. Return what it holds in a tuple or a dict; "
            f"{how_to_register(leaf)}"
        )
