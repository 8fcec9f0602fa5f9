"""Plans of passes in which hooks or functions of users take part.

Such a plan is cut at the watched nodes. A *stretch* is what lies between two of them in the order
of the pass: one program stands for all its nodes. A watched node is visited as in a pass without a
plan, so hooks are called, and what they return is checked, by the same code.

What Python code returns may take the pass off the plan: a gradient that is missing or in another
memory order, or a saved value that was written. The pass goes on from there without the plan, as
the sums of cotangents are the same on both ways.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph.node import Edge, Node, Value, are_unwritten
from ..graph.runtime import deferred_value
from ..graph.traversal import is_seen_within
from ..lower.executable import Executable
from ..lower.lower import lower
from ..record.apply import deferring, runtime
from ..replay.plan_cache import KnownPlan, keep_plan, parts_of, size_of
from ..replay.structure import Structure
from .walk import Deferred, WatchedValues, walk


class Sent(NamedTuple):
    """A watched node, by its number in the order of the pass, and which gradients it sends.

    ``patterns`` has an entry for each time that the node sends gradients: for each of its inputs
    whether there is one.
    """

    node: int
    patterns: list[tuple[bool, ...]]


class Seen(NamedTuple):
    """A node whose tensors are watched, by its number in the order of the pass.

    Its cotangents go through their hooks. If the node has a derivative, that is the first one of
    the stretch that follows.
    """

    node: int


class Stretch:
    """The nodes between two watched ones, and the program that stands for them.

    Nodes are named by their numbers in the order of the pass.

    Attributes
    ----------
    first, end : int
        The first node, and the one after the last.
    is_begun : bool
        Whether the cotangents of the first node have gone through its hooks already.
    reads : list of (int, int)
        The nodes and slots of the sums of cotangents that the program takes, after the arrays of
        the structure.
    executable : Executable or None
        The program; None if all that is sent on has arrived as it is.
    sums, grads : list of (int, int, source)
        For each sum of cotangents, and for each gradient of the pass, that is left behind: node and
        slot, and where the array is. The source is the number of a result of the program, or
        negative: ``~n`` for what arrived at ``reads[n]``; or an array, which is a constant.
    """

    __slots__ = ("end", "executable", "first", "grads", "is_begun", "reads", "sums")

    def __init__(self, first: int, end: int, is_begun: bool) -> None:
        self.first, self.end, self.is_begun = first, end, is_begun
        self.reads: list[tuple[int, int]] = []
        self.executable: Executable | None = None
        self.sums: list[tuple[int, int, Any]] = []
        self.grads: list[tuple[int, int, Any]] = []

    def run(self, backward_pass: Any, reads: Sequence[Any]) -> None:
        """Run the program on what has arrived, ``reads``; put the sums and gradients that the
        program leaves behind into a pass."""
        order, sums, grads = backward_pass.order, backward_pass.pending, backward_pass.grads
        for n, slot in self.reads:
            del sums[order[n], slot]
        made: Sequence[Any] = ()
        if self.executable is not None:
            made = self.executable([*backward_pass.structure.arrays, *reads])
        for n, slot, source in self.sums:
            sums[order[n], slot] = _found(source, made, reads)
        for n, slot, source in self.grads:
            value = grads[Edge(order[n], slot)] = runtime.value(_found(source, made, reads))
            if type(source) is int and source >= 0:
                backward_pass.note_owned((value,))


def _found(source: Any, made: Sequence[Any], reads: Sequence[Any]) -> Any:
    if type(source) is not int:
        return source
    return made[source] if source >= 0 else reads[~source]


class CutPlan(KnownPlan):
    """A plan that is cut at watched nodes; see the module.

    Parameters
    ----------
    steps : list of Stretch or Sent
        The stretches and the watched nodes, in the order of the pass.
    structure : Structure
        The structure of the pass that has made the plan.
    visited : list of int
        The numbers in the structure of the nodes in the order of the pass.
    """

    is_cut = True

    def __init__(
        self, steps: list[Any], structure: Structure, visited: list[int], *parts: Any
    ) -> None:
        super().__init__(*parts)
        self.steps, self.visited = steps, visited
        programs = [s.executable for s in steps if type(s) is Stretch and s.executable is not None]
        self.size = sum(map(size_of, programs))
        watched = set(structure.watched)
        self.watched = [n for n, place in enumerate(visited) if place in watched]


def follow(backward_pass: Any, plan: CutPlan) -> None:
    """Walk over the nodes of a pass by a plan, as long as the plan fits."""
    order, pending = backward_pass.order, backward_pass.pending
    for step in plan.steps:
        kind = type(step)
        if kind is Seen:
            _see(backward_pass, order[step.node])
        elif kind is Sent:
            if _visit(backward_pass, order[step.node]) != step.patterns:
                walk(backward_pass, order[step.node + 1 :])
                return
        else:
            reads = [pending[order[n], slot] for n, slot in step.reads]
            if not _is_runnable(backward_pass, step, reads):
                _leave(backward_pass, step)
                return
            step.run(backward_pass, reads)


def build(backward_pass: Any) -> None:
    """Walk over the nodes of a pass, and keep a plan for later passes if there can be one."""
    order, structure = backward_pass.order, backward_pass.structure
    watched = {structure.order[n] for n in structure.watched}
    drawing = _Drawing(backward_pass)
    steps: list[Any] = []
    at = 0
    while at < len(order):
        node = order[at]
        is_seen = node in watched
        if is_seen and (node.kind is None or is_seen_within(node)) and not _is_leaf(node):
            steps.append(Sent(at, _visit(backward_pass, node)))
            at += 1
            continue
        if is_seen:
            steps.append(Seen(at))
            _see(backward_pass, node)
            if node not in backward_pass.wanted:
                at += 1
                continue
        stretch = Stretch(at, _end(order, at + 1, watched), is_seen)
        reads = drawing.places(stretch)
        if not _is_runnable(backward_pass, stretch, reads):
            _leave(backward_pass, stretch)
            return
        drawing.lower(stretch, reads)
        stretch.run(backward_pass, reads)
        steps.append(stretch)
        at = stretch.end
    _keep(backward_pass, steps)


def _keep(backward_pass: Any, steps: list[Any]) -> None:
    structure, grads = backward_pass.structure, backward_pass.grads
    visited = [structure.index[node] for node in backward_pass.order]
    shapes = [value.shape for value in grads.values()]
    parts = parts_of(structure, backward_pass.wanted, grads, shapes)
    keep_plan(structure, CutPlan(steps, structure, visited, *parts))


def _end(order: Sequence[Node], at: int, watched: set[Node]) -> int:
    while at < len(order) and order[at] not in watched:
        at += 1
    return at


def _is_leaf(node: Node) -> bool:
    """Whether a node is an accumulator of which only the tensor is watched."""
    return node.is_accumulator and node.extras is None


def _visit(backward_pass: Any, node: Node) -> list[tuple[bool, ...]]:
    """Visit a watched node; return for each time that the node sends gradients which inputs get
    one."""
    sent = backward_pass.sent = []
    walk(backward_pass, (node,))
    backward_pass.sent = None
    return sent


def _see(backward_pass: Any, node: Node) -> None:
    """Let the cotangents of a node go through the hooks of its tensors; if the node has a
    derivative, put them back where the program of a stretch takes them from."""
    values = [backward_pass.arrive(node, slot) for slot in range(len(node._kind.outputs))]
    if node not in backward_pass.wanted:
        backward_pass.execute(node, values)
        return
    for slot, value in enumerate(values):
        if value is not None:
            backward_pass.pending[node, slot] = value.array


def _leave(backward_pass: Any, stretch: Stretch) -> None:
    """Walk over the nodes from a stretch on without a plan."""
    order, first = backward_pass.order, stretch.first
    if stretch.is_begun:
        node, value = order[first], backward_pass.evaluator.value
        slots = range(len(node._kind.outputs))
        totals = [backward_pass.pending.pop((node, slot), None) for slot in slots]
        backward_pass.execute(node, list(map(value, totals)))
        first += 1
    walk(backward_pass, order[first:])


def _is_runnable(backward_pass: Any, stretch: Stretch, reads: Sequence[Any]) -> bool:
    """Whether the program of a stretch computes what the nodes would, from what has arrived."""
    if stretch.is_begun and is_seen_within(backward_pass.order[stretch.first]):
        return False  # hooks that a hook has just registered
    return all(map(_is_plain, reads)) and _is_unwritten(backward_pass, stretch)


def _is_plain(array: Any) -> bool:
    """Whether a program can read an array that Python code may have made."""
    return type(array) is np.ndarray and array.flags.c_contiguous and array.flags.aligned


def _is_unwritten(backward_pass: Any, stretch: Stretch) -> bool:
    """Whether no value that the nodes of a stretch have saved was written in this pass."""
    saved = backward_pass.saved
    if type(saved) is not WatchedValues:  # no function of the user has run yet
        return True
    for node in backward_pass.order[stretch.first : stretch.end]:
        if node.versions and not are_unwritten(saved.taken(node), node.versions):
            return False
    return True


class _Drawing:
    """Makes the programs of stretches, from the rules of their nodes."""

    def __init__(self, backward_pass: Any) -> None:
        self.run = backward_pass
        self.evaluator = Deferred(backward_pass)
        self.numbers = {node: n for n, node in enumerate(backward_pass.order)}
        self.inputs = {id(array): n for n, array in enumerate(backward_pass.structure.arrays)}

    def places(self, stretch: Stretch) -> list[Any]:
        """Find the sums of cotangents that a stretch takes or adds to; return their arrays."""
        run = self.run
        touched: set[Any] = set()
        for node in run.order[stretch.first : stretch.end]:
            touched.update([(node, slot) for slot in range(len(node.outputs))])
            edges = zip(node.parents, node.slots, run.wanted.get(node, ()), strict=False)
            touched.update([(parent, slot) for parent, slot, wanted in edges if wanted])
        found = [place for place in run.pending if place in touched]
        stretch.reads = [(self.numbers[node], slot) for node, slot in found]
        return [run.pending[place] for place in found]

    def lower(self, stretch: Stretch, reads: Sequence[Any]) -> None:
        """Make the program of a stretch; ``reads`` are the arrays that `places` has returned."""
        views = [array.view() for array in reads]  # of identities that no other array has
        sums, grads = self._expressions(stretch, views)
        given = {id(view): n for n, view in enumerate(views)}
        values: list[Value] = []
        for found, listed in ((sums, stretch.sums), (grads, stretch.grads)):
            for (node, slot), value in found.items():
                source: Any = given.get(id(value.array))
                if source is not None:
                    source = ~source
                elif value.array is None or id(value.array) in self.inputs:
                    source = len(values)
                    values.append(value)
                else:
                    source = value.array
                    source.flags.writeable = False  # so that no user gets the array itself
                listed.append((self.numbers[node], slot, source))
        if values:
            count = len(self.run.structure.arrays)
            inputs = self.inputs | {place: count + n for place, n in given.items()}
            target = runtime.target
            stretch.executable = Executable(lower(values, target, None, inputs), target)

    def _expressions(
        self, stretch: Stretch, views: Sequence[np.ndarray]
    ) -> tuple[dict[Any, Value], dict[Any, Value]]:
        """Return the sums of cotangents, and the gradients of the pass, that the nodes of a stretch
        leave behind: expressions of ``views``, the arrays that arrive."""
        run, order = self.run, self.run.order
        places = [(order[n], slot) for n, slot in stretch.reads]
        sums = dict(zip(places, map(runtime.value, views), strict=True))
        before = run.evaluator, run.pending, run.grads
        self.evaluator.pending, self.evaluator.saved = sums, run.saved
        run.evaluator, run.pending, run.grads = self.evaluator, sums, {}
        try:
            with deferring(True, []):
                self._walk(stretch)
            return {place: deferred_value(total) for place, total in sums.items()}, run.grads
        finally:
            run.evaluator, run.pending, run.grads = before

    def _walk(self, stretch: Stretch) -> None:
        """Visit the nodes of a stretch, none of them with care."""
        run, first = self.run, stretch.first
        careful, targets = run.method.careful, run.targets
        run.method = run.method._replace(careful=())
        if stretch.is_begun:  # the first node is none of the targets any more
            begun = run.order[first]
            run.targets = {edge for edge in targets if edge.node is not begun}
            self.evaluator.targets = run.targets
        try:
            walk(run, run.order[first : stretch.end])
        finally:
            run.method = run.method._replace(careful=careful)
            run.targets = self.evaluator.targets = targets


__all__ = ["build", "follow"]
