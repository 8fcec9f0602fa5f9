"""The backward pass: build the backward expressions of a graph, run them as one program, deliver.

The walk goes over the selected nodes, the latest first. Each node's operator turns the cotangents
of its outputs into expressions of the cotangents of its inputs; nothing is computed until the
program runs at the end, or earlier where a hook or a Python function needs numbers. A pass that is
recorded itself, or over a graph that was never met before, computes each operation at once where it
can. The loop over the nodes is in `walk`.
"""

import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ...process.gc_pause import paused
from ..derivatives.batching import make_explicit
from ..derivatives.region_gradients import Parts, zeros_behind
from ..graph.node import Edge, Node, Value, restore_saved
from ..graph.traversal import needed, reachable, reached_nodes, watched_nodes
from ..lower.lower import force
from ..record.apply import changing, mode, pack
from ..replay import recorded_plan
from ..replay.plan_cache import KnownPlan, recall, recognise, remember, times_met
from ..replay.structure import Structure, serves_watched, structure_of, times_outlined
from . import cut_plan, hooks
from .delivery import own_results
from .method import Method, careful_among, how, is_plain, is_usable
from .request import Outcome, Request
from .saved_values import take_saved
from .streams import Streams, streams_of
from .visits import Visits
from .walk import WatchedValues, evaluator_of, walk

_UNKNOWN = object()


class BackwardPass(Visits):
    """One backward pass over the selected nodes.

    Parameters
    ----------
    request : Request
    known : (Structure, KnownPlan) or None, optional
        The structure of the pass and its plan, as `recognise` finds them; None if no track fits.
        Looked for by default.
    """

    def __init__(self, request: Request, known: Any = _UNKNOWN) -> None:
        self.request = request
        self.saved: dict[Node, tuple[Any, ...]] = {}
        self.has_freed = False
        # A user's derivative function may run a pass over values that are still to be computed:
        # the inner pass is a part of the pass around it.
        is_part = mode.deferring and mode.capture is None
        self.around = mode.kept if is_part else None
        self.comes_again = False
        self.structure: Structure | None = None
        self.recalled: KnownPlan | None = None
        if known is _UNKNOWN:
            known = None if self.around is not None else recognise(request)
        if known is not None and is_usable(*known):
            self.structure, self.recalled = known
            order = known[0].order
        else:
            order = reachable(request.roots, request.cut, request.ends, request.first)
            self._look_for_plan(order)
        if self.recalled is None or self.recalled.is_cut:
            self._begin(order)

    def _look_for_plan(self, order: list[Node]) -> None:
        """Find the structure of the pass if the outline of the pass was met before, and a plan."""
        request = self.request
        watched = watched_nodes(order)
        has_structure = self.around is None and (not watched or serves_watched(request))
        times = times_outlined(request, order) if has_structure else 0
        self.is_second = times == 1  # most likely of the structure of the first one
        if times != 0:
            restore_saved(order)  # a structure refers to the arrays of saved values
            self.structure = structure_of(request, order)
        if self.structure is not None:
            recalled = self._recall(self.structure, order)
            if recalled is not None and is_usable(self.structure, recalled):
                self.recalled = recalled

    def _begin(self, order: list[Node]) -> None:
        """Prepare a pass that visits nodes."""
        request = self.request
        if self.recalled is None:
            self._select(order)
        else:
            self._select_again(order, self.recalled)
        self.pending: dict[Edge, Any] = {}  # what the evaluator takes for cotangents, see `walk`
        self.late: dict[Edge, Any] = {}
        self.grads: dict[Edge, Value] = {}
        self.retained: list[tuple[Edge, Value]] = []
        self.kept: list[Node] = [] if self.around is None else self.around
        self.shown: list[Value] = []
        self.uncomputed: dict[Edge, Any] = {}
        self.owned: dict[int, weakref.ref[Value]] = {}  # by id: values whose arrays nobody else has
        self.foreign: list[Value] = []  # values that functions of users have returned
        self.at_end: list[Callable[[], None]] = []
        self.notes: dict[Any, Any] = {}
        self.parts = Parts()
        self.sent: list[tuple[bool, ...]] | None = None
        self.method = Method() if self.around is not None else self._method()
        self.evaluator: Any = None  # while it walks
        self.trace: recorded_plan.Trace | None = None
        self.streams: Streams | None = None
        if self.method.is_traced and self.structure is not None:
            self.trace = recorded_plan.Trace(self.structure, [value for _, value in request.seeds])

    def _select(self, order: list[Node]) -> None:
        """Find the targets of the pass, and the nodes that the pass visits for them.

        ``wanted`` has the nodes whose derivatives are computed. A node of ``order`` that is not
        among them is visited only to take its own gradient as a result.
        """
        request = self.request
        self._find_targets(order)
        inside = [node for node in order if node not in request.ends] if request.ends else order
        self.wanted = needed(inside, self.targets, request.cut)
        touched = {edge.node for edge in self.targets}
        self.order = [node for node in order if node in self.wanted or node in touched]

    def _find_targets(self, order: Sequence[Node]) -> None:
        request = self.request
        self.targets = set(request.targets or ())
        if request.targets is None or request.extra_leaves:
            self.targets.update([Edge(node, 0) for node in order if node.is_accumulator])

    def _select_again(self, order: Sequence[Node], plan: KnownPlan) -> None:
        """Do what `_select` does, for a pass whose plan is known."""
        self._find_targets(order)
        self.wanted = dict(zip([order[n] for n in plan.executed], plan.masks, strict=True))
        self.order = [order[n] for n in plan.visited]

    def _method(self) -> Method:
        if self.recalled is not None:
            return Method(True, False, careful_among(self.order, self.recalled.watched), True, True)
        return how(self.request, self.order, self.structure, self.comes_again)

    def _recall(self, structure: Structure, order: Sequence[Node]) -> KnownPlan | None:
        """Return the plan that an earlier pass has left for this structure; None without a plan.

        Without a plan for the very indices of the graph, a plain pass (`is_plain`) looks for a plan
        whose program takes indices as data, and so serves other indices, too. As long as all
        graphs have had the same indices, the indices stay constants of the program.
        """
        recalled = recall(self.request, structure)
        if recalled is not None:
            return recalled
        times = times_met(structure)
        self.comes_again = times > 0 or self.is_second
        plain = bool(structure.indexed) and is_plain(self.request, order)
        other = structure.with_positions() if plain else None
        if other is not None:
            times_of_all = times_met(other)
            if times == 0 or times < times_of_all:
                self.structure, self.comes_again = other, times_of_all > 0
                return recall(self.request, other)
        return None

    def run(self) -> Outcome:
        """Execute the pass; on an error every node is as it was before."""
        if self.recalled is not None and not self.recalled.is_cut:
            return self._run_recalled(self.recalled)
        if self.request.batch is not None:
            hooks.refuse_retained(self)
        try:
            take_saved(self, self.wanted)
            if self.method.applies_rules:
                with np.errstate(all="ignore"):  # as kernels do
                    self._compute_results()
            else:
                # Without functions of users there are no cycles for the garbage collector.
                quiet = paused() if self._is_quiet() else nullcontext()
                with quiet, changing(grad=self.request.create_graph, showing=self):
                    self.streams = streams_of(self.order) if self.method.careful is None else None
                    with self._computing():
                        self._compute_results()
                    self._finish()
        except BaseException:
            self._outcome().restore_saved()
            raise
        finally:
            self.evaluator = None  # it refers to the pass
        return self._outcome()

    def _is_quiet(self) -> bool:
        structure = self.structure
        return structure is not None and not (structure.watched or self.method.is_cut)

    def _compute_results(self) -> None:
        self._seed()
        self._walk()
        own_results(self)

    def _walk(self) -> None:
        """Visit the nodes and put the gradients of the targets into ``grads``."""
        if self.recalled is not None:
            cut_plan.follow(self, self.recalled)  # type: ignore[arg-type]
        elif self.method.is_cut:
            cut_plan.build(self)
        else:
            walk(self)
        missing = self.targets.difference(self.grads)
        self.grads |= zeros_behind(missing, self.order, self.request)
        hooks.run_at_end(self)

    def _computing(self) -> Any:
        """Return a context manager that decides how operations of the walk are carried out.

        Operations are recorded for a plan, computed at once, or kept as expressions.
        """
        if self.trace is not None:
            return changing(trace=self.trace)
        if self.method.is_immediate:
            return nullcontext()
        home = mode.stream if self.structure else None
        return changing(deferring=True, kept=self.kept, home=home)

    def _run_recalled(self, recalled: KnownPlan) -> Outcome:
        """Return the outcome of the plan of an earlier pass of the same structure."""
        assert self.structure is not None
        order = self.structure.order
        executed = [order[n] for n in recalled.executed]
        wanted = dict(zip(executed, recalled.masks, strict=True))
        keepers = [order[n] for n in recalled.keepers]
        try:
            take_saved(self, keepers)
            seeds = [value for _, value in self.request.seeds]
            saved = [self.saved[node] for node in keepers]
            values = recalled.values(self.structure, seeds, saved)
        except BaseException:
            Outcome({}, [], [], {}, self.saved, self.has_freed).restore_saved()
            raise
        places = [Edge(order[n], slot) for n, slot in recalled.results]
        grads = dict(zip(places, values, strict=True))
        return Outcome(grads, [], list(order), wanted, self.saved, self.has_freed)

    def gradients_through(
        self, seeds: list[tuple[Edge, Value]], targets: list[Edge]
    ) -> dict[Edge, Value]:
        """Return the gradients of the edges ``targets``, from ``seeds`` in another graph.

        The derivative of a node calls this method if that derivative is itself a pass through some
        graph, such as that of a captured function. The pass through this graph becomes a part of
        the present pass, and ends at the nodes of the targets. No gradient is computed yet.
        """
        ends = {edge.node for edge in targets if edge.node is not None}
        request = Request(seeds, targets, True, True, ends=ends, batch=self.request.batch)
        return self.with_part(BackwardPass(request))

    def with_part(self, inner: "BackwardPass") -> dict[Edge, Value]:
        """Make another pass a part of this one; return its gradients, which are still to be
        computed."""
        inner.kept, inner.shown, inner.at_end = self.kept, self.shown, self.at_end
        inner.streams = self.streams or streams_of(inner.order)
        return inner.take_part()

    def take_part(self) -> dict[Edge, Value]:
        """Walk over the nodes as a part of another pass; return the gradients as expressions.

        The other pass computes the expressions together with its own.
        """
        take_saved(self, self.wanted)
        self._seed()
        try:
            self._walk_part()
        finally:
            self.evaluator = None  # it refers to the pass
        return self.grads

    def _walk_part(self) -> None:
        walk(self)

    def _outcome(self) -> Outcome:
        return Outcome(
            self.grads, self.retained, self.order, self.wanted, self.saved, self.has_freed
        )

    def _seed(self) -> None:
        """Add the seeds and the initial gradients to the sums of cotangents at their edges: before
        all other cotangents, or after them if the request has ``seeds_last``."""
        self.evaluator = evaluator_of(self)
        initial = [(edge, value) for edge, value in self.request.initial.items()]
        if mode.capture is not None:
            mode.capture.note_operands([value for _, value in (*self.request.seeds, *initial)])
        for edge, value in [*self.request.seeds, *initial]:
            self._add(self.late if self.request.seeds_last else self.pending, edge, value)

    def force(self, values: Sequence[Value]) -> None:
        """Compute values now, and with them all sums of cotangents that are not computed yet.

        The values and the sums may have expressions in common, which one program computes once.
        """
        if mode.capture is not None or self.evaluator.computes:
            return  # a captured function that needs numbers raises an error
        others = map(self.evaluator.value, self.uncomputed.values())
        retained = [value for _, value in self.retained]  # of saved values that may be written next
        values = [v for v in (*values, *others, *retained) if v.array is None]
        self.uncomputed.clear()
        self.note_owned(values)
        self._force(values)

    def note_read(self, node: Node) -> None:
        """Note that the cotangents of a node are read, so that `force` need not compute them unless
        they are gradients of the pass."""
        for slot in range(len(node.outputs)):
            if (node, slot) not in self.targets:
                self.uncomputed.pop(Edge(node, slot), None)

    def _force(self, values: Sequence[Value]) -> None:
        if self.streams is None:
            force(values, self.request.batch)
            return
        with self.streams.computing():
            force(values, self.request.batch)
        self.streams.show()

    def note_owned(self, values: Iterable[Value]) -> None:
        """Note values whose arrays nobody but this pass has, so that the arrays can be returned
        without a copy."""
        self.owned.update((id(value), weakref.ref(value)) for value in values)

    def show(self, values: Sequence[Value]) -> None:
        """Compute values that a Python function is going to see, and may keep."""
        if not self.evaluator.computes:
            self.force(values)
        self.watch_saved()
        if self.request.create_graph:
            self.shown.extend(values)

    def watch_saved(self) -> None:
        """Look at saved values when they are read from now on, as Python code may write them."""
        if type(self.saved) is dict:
            self.saved = self.evaluator.saved = WatchedValues(self.saved)

    def _finish(self) -> None:
        results = [*self.grads.values(), *(value for _, value in self.retained)]
        roots = [*results, *self.shown]
        nodes = reached_nodes(roots, self.kept) if self.request.create_graph else []
        saved = [v for node in nodes for v in (node.saved or ()) if isinstance(v, Value)]
        structure = self.structure
        if structure is not None and self.trace is not None:
            recorded_plan.keep_recorded_plan(structure, self.trace, self.wanted, self.grads)
        elif self.method.is_cut:
            return  # all is computed
        elif structure is not None and self.comes_again and self._is_typical(structure, results):
            remember(structure, self.wanted, self.grads, self.request.batch)
        elif mode.capture is None and self.around is None:
            self._force([*results, *saved])
        if self.request.batch is not None:
            make_explicit(self.request.batch, [*results, *saved], nodes)
        if mode.saved_hooks:
            for node in nodes:
                node.saved = tuple(pack(v) if isinstance(v, Value) else v for v in node.saved or ())
        if self.request.check is not None and mode.capture is None:
            for edge, value in self.grads.items():
                self.request.check.delivered(edge, value)

    def _is_typical(self, structure: Structure, results: Sequence[Value]) -> bool:
        """Whether one program can stand for the whole pass, and so serve later passes.

        That is so if nobody takes part in the pass or records it, no result was computed on the
        way, and no tensor retains its gradient.
        """
        if structure.watched or self.request.create_graph:
            return False
        return all(value.array is None for value in results) and len(results) == len(self.grads)
