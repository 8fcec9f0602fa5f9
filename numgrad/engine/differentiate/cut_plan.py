"""Plans of passes in which hooks or functions of users take part.

Such a plan is cut at the watched nodes. A *stretch* is what lies between two of them in the order
of the pass: one program stands for all its nodes. A watched node is visited as in a pass without a
plan, so hooks are called, and what they return is checked, by the same code.

What Python code returns may take the pass off the plan: a gradient that is missing or in another
memory order, or a saved value that was written. The pass goes on from there without the plan, as
the sums of cotangents are the same on both ways.
"""

from collections.abc import Hashable, Sequence
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
    """Nodes that are visited one by one, and which gradients they send.

    Nodes are named by their numbers in the order of the pass. ``patterns`` has an entry for each
    time that a node sends gradients: for each of its inputs whether there is one.
    """

    first: int
    end: int
    patterns: list[tuple[bool, ...]]


class Seen(NamedTuple):
    """A node whose tensors are watched, by its number in the order of the pass.

    Its cotangents go through their hooks, and its derivative is the first one of the stretch that
    follows.
    """

    node: int


class StretchProgram:
    """The program of stretches that are alike.

    A stretch numbers its nodes on its own: its nodes from 0 on in the order of the pass, then the
    nodes outside to which they send gradients. A *source* says where an array is: the number of a
    result of the program, or ``~n`` for the sum of cotangents number ``n`` that has arrived; or the
    source is the array itself, a constant.

    Attributes
    ----------
    executable : Executable or None
        Takes the saved arrays and the sums of cotangents that have arrived; None if all that is
        sent on has arrived as it is.
    sums, grads : list of (int, int, source)
        The sums of cotangents, and the gradients of the pass, that are left behind, each with node
        and slot.
    """

    __slots__ = ("executable", "grads", "sums")

    def __init__(self) -> None:
        self.executable: Executable | None = None
        self.sums: list[tuple[int, int, Any]] = []
        self.grads: list[tuple[int, int, Any]] = []


class Stretch:
    """Nodes between two watched ones, for which a program stands.

    Attributes
    ----------
    first, end : int
        The numbers in the order of the pass of the first node, and of the one after the last.
    is_begun : bool
        Whether the cotangents of the first node have gone through its hooks already.
    nodes : list of int
        For each of the stretch's own numbers of nodes the number in the order of the pass.
    saved : list of int
        The saved arrays that the program takes, by their numbers in the structure.
    reads : list of (int, int)
        The nodes, in the order of the pass, and slots of the sums of cotangents that it takes.
    program : StretchProgram
    """

    __slots__ = ("end", "first", "is_begun", "nodes", "program", "reads", "saved")

    program: StretchProgram

    def __init__(self, first: int, end: int, is_begun: bool) -> None:
        self.first, self.end, self.is_begun = first, end, is_begun
        self.nodes: list[int] = []
        self.saved: list[int] = []
        self.reads: list[tuple[int, int]] = []

    def run(self, backward_pass: Any, reads: Sequence[Any]) -> None:
        """Run the program on what has arrived, ``reads``; put the sums and gradients that the
        program leaves behind into a pass."""
        order, sums, grads = backward_pass.order, backward_pass.pending, backward_pass.grads
        arrays, nodes, program = backward_pass.structure.arrays, self.nodes, self.program
        for n, slot in self.reads:
            del sums[order[n], slot]
        made: Sequence[Any] = ()
        if program.executable is not None:
            made = program.executable([*[arrays[n] for n in self.saved], *reads])
        for n, slot, source in program.sums:
            sums[order[nodes[n]], slot] = _found(source, made, reads)
        for n, slot, source in program.grads:
            value = runtime.value(_found(source, made, reads))
            grads[Edge(order[nodes[n]], slot)] = value
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
    steps : list of Stretch, Seen or Sent
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
        programs = {step.program.executable for step in steps if type(step) is Stretch}
        self.size = sum([size_of(program) for program in programs if program is not None])
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
            if _visit(backward_pass, order[step.first : step.end]) != step.patterns:
                walk(backward_pass, order[step.end :])
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
        is_seen = order[at] in watched
        end = _end(backward_pass, at, watched)
        if not _pays(backward_pass, at, end):
            steps.append(Sent(at, end, _visit(backward_pass, order[at:end])))
            at = end
            continue
        if is_seen:
            steps.append(Seen(at))
            _see(backward_pass, order[at])
        stretch = Stretch(at, end, is_seen)
        reads = drawing.places(stretch)
        if not _is_runnable(backward_pass, stretch, reads):
            _leave(backward_pass, stretch)
            return
        drawing.draw(stretch, reads)
        stretch.run(backward_pass, reads)
        steps.append(stretch)
        at = end
    _keep(backward_pass, steps)


def _keep(backward_pass: Any, steps: list[Any]) -> None:
    structure, grads = backward_pass.structure, backward_pass.grads
    visited = [structure.index[node] for node in backward_pass.order]
    shapes = [value.shape for value in grads.values()]
    parts = parts_of(structure, backward_pass.wanted, grads, shapes)
    keep_plan(structure, CutPlan(steps, structure, visited, *parts))


def _end(backward_pass: Any, at: int, watched: set[Node]) -> int:
    """Return the number of the node where a stretch from node ``at`` on ends.

    A node in which Python code takes part within is alone, and so is a leaf with hooks.
    """
    order = backward_pass.order
    node, at = order[at], at + 1
    if node in watched and (node.kind is None or is_seen_within(node)):
        return at
    while at < len(order) and order[at] not in watched:
        at += 1
    return at


def _pays(backward_pass: Any, first: int, end: int) -> bool:
    """Whether a program takes less time than visits of its nodes: if two of them have derivatives.
    """
    nodes = backward_pass.order[first:end]
    return len([node for node in nodes if node in backward_pass.wanted]) > 1


def _visit(backward_pass: Any, nodes: Sequence[Node]) -> list[tuple[bool, ...]]:
    """Visit nodes one by one; for each node that sends gradients, return a pattern: which of the
    node's inputs have a gradient."""
    sent = backward_pass.sent = []
    walk(backward_pass, nodes)
    backward_pass.sent = None
    return sent


def _see(backward_pass: Any, node: Node) -> None:
    """Let the cotangents of a node go through the hooks of its tensors; put them back where the
    program of a stretch takes them from."""
    for slot in range(len(node._kind.outputs)):
        value = backward_pass.arrive(node, slot)
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
        if node.versions and not are_unwritten(saved.get(node, ()), node.versions):
            return False
    return True


class _Drawing:
    """Makes the programs of stretches, from the rules of their nodes; alike ones share one."""

    def __init__(self, backward_pass: Any) -> None:
        self.run = backward_pass
        self.evaluator = Deferred(backward_pass)
        self.numbers = {node: n for n, node in enumerate(backward_pass.order)}
        self.arrays = {id(array): n for n, array in enumerate(backward_pass.structure.arrays)}
        self.known: dict[Hashable, StretchProgram] = {}

    def places(self, stretch: Stretch) -> list[Any]:
        """Find the sums of cotangents that a stretch takes or adds to; return their arrays."""
        run, pending = self.run, self.run.pending
        found: dict[Any, None] = {}
        for node in run.order[stretch.first : stretch.end]:
            own = [(node, slot) for slot in range(len(node.outputs))]
            edges = zip(node.parents, node.slots, run.wanted.get(node, ()), strict=False)
            own += [(parent, slot) for parent, slot, wanted in edges if wanted]
            found |= dict.fromkeys([place for place in own if place in pending])
        stretch.reads = [(self.numbers[node], slot) for node, slot in found]
        return [pending[place] for place in found]

    def draw(self, stretch: Stretch, reads: Sequence[Any]) -> None:
        """Give a stretch its program; ``reads`` are the arrays that `places` has returned."""
        order = self.run.order
        index = {node: n for n, node in enumerate(order[stretch.first : stretch.end])}
        key = self._key(stretch, index)
        stretch.nodes = [self.numbers[node] for node in index]
        program = self.known.get(key)
        if program is None:
            program = self.known[key] = self._program(stretch, index, reads)
        stretch.program = program

    def _key(self, stretch: Stretch, index: dict[Node, int]) -> Hashable:
        """Return a key of all that decides the program of a stretch, and of the lines that its
        errors name; note the arrays that the stretch reads, and number the nodes outside to which
        it sends gradients in ``index``."""
        run, order = self.run, self.run.order
        nodes, saved = order[stretch.first : stretch.end], dict[int, int]()
        parts: list[Hashable] = [stretch.is_begun]
        for node in nodes:
            mask = run.wanted.get(node, ())
            parts += (node.kind, node.outputs, mask, node.slots, node.code, node.instruction)
            for parent, wanted in zip(node.parents, mask, strict=False):
                parts.append(index.setdefault(parent, len(index)) if wanted else None)
            for value in run.saved.get(node, ()) if mask else ():  # as they were taken
                array = None if value is None else value.array
                parts.append(None if array is None else saved.setdefault(id(array), len(saved)))
                parts.append(array is None or array.flags.c_contiguous or array.strides)
        stretch.saved = [self.arrays[place] for place in saved]
        parts += [(index[order[n]], slot) for n, slot in stretch.reads]
        parts.append(tuple([slot for node in nodes for slot in self._target_slots(node)]))
        return tuple(parts)

    def _target_slots(self, node: Node) -> list[int | None]:
        """Return for each output of a node whether it is a target: its slot, or None."""
        slots = range(len(node.outputs))
        return [slot if (node, slot) in self.run.targets else None for slot in slots]

    def _program(
        self, stretch: Stretch, index: dict[Node, int], reads: Sequence[Any]
    ) -> StretchProgram:
        """Return a new program for a stretch, whose nodes are numbered by ``index``."""
        made = StretchProgram()
        views = [array.view() for array in reads]  # of identities that no other array has
        sums, grads = self._expressions(stretch, views)
        given = {id(view): n for n, view in enumerate(views)}
        values: list[Value] = []
        for found, listed in ((sums, made.sums), (grads, made.grads)):
            for (node, slot), value in found.items():
                source: Any = given.get(id(value.array))
                if source is not None:
                    source = ~source
                elif value.array is None or id(value.array) in self.arrays:
                    source = len(values)
                    values.append(value)
                else:
                    source = value.array
                    source.flags.writeable = False  # so that no user gets the array itself
                listed.append((index[node], slot, source))
        if values:
            arrays = [self.run.structure.arrays[n] for n in stretch.saved]
            inputs = {id(array): n for n, array in enumerate([*arrays, *views])}
            program = lower(values, runtime.target, None, inputs)
            made.executable = Executable(program, runtime.target)
        return made

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
