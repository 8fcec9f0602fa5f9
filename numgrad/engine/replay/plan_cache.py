"""The cache of plans: a pass over a graph of known structure repeats an earlier pass.

The pass runs the executable of the earlier pass or, if the pass is recorded, applies the operations
of the earlier one (`recorded_plan`). The structure of a pass is all that decides its program, see
`structure`. A plan is found by a walk along the track that the plan keeps (`structure_walk`), or
else by the key of the structure. The size of all plans in kB is bounded: the oldest ones make room.

The *targets* of a pass are the edges whose gradients are wanted; its *roots* are the nodes where
the pass starts.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Any

from ...process.fork_locks import fork_safe_lock
from ..derivatives.rules import drop_rules
from ..graph.kind import Kind
from ..graph.node import Edge, Node
from ..graph.value import Value
from ..lower.executable import Executable
from ..lower.lower import lower
from ..record.apply import runtime
from .beginning import (
    Starts,
    beginnings,
    cut_beginning,
    first_nodes,
    first_starts,
    general,
    is_watched,
    own,
)
from .compiled_walk import follower_of
from .shortcuts import Shortcuts
from .structure import Structure, outlines
from .structure_walk import Track, identity_numbers, layouts

_OUTSIDE = -1  # stands for nodes that are not in the graph
_MOST_SEEN = 1 << 12
_MOST_TRIED = 4  # plans that are tried for a pass, of those whose passes began alike
_MOST_KEPT = 1 << 15  # kB of all plans but the largest: enough for one for each of 1000 indices
_LARGEST_KEPT = 1 << 18  # kB of one plan, as of 300 000 instructions: the graph took more memory
_PLAN_SIZE, _INSTRUCTION_SIZE = 14, 0.85  # kB, about, without constants
# Uses of a plan after which it gets a follower, whose making takes as long as four or five walks in
# Python. The first one waits longer, as the code of all may have to be compiled: for more uses, or
# until so many nodes were walked over that this took longer.
_OFTEN, _SOON = 100, 5
_MANY_NODES = 1 << 18


class KnownPlan:
    """The plan that an earlier pass has left for later passes of the same structure.

    When a plan is used for the first time, a track is made, along which a walk recognises graphs of
    this structure. There is no track if the graph goes on beyond the nodes of the structure.

    Parameters
    ----------
    executed : tuple of int
        The nodes that were executed, by their numbers in the structure.
    masks : tuple of tuple of bool
        For each executed node, a mask of the inputs whose gradients the node computed.
    results : dict
        The shapes of the gradients. The keys are pairs: the number of a node, and that of its
        output.
    keepers : list of int
        The numbers of the executed nodes that saved values.
    """

    size = 0  # kB, about
    is_cut = False  # whether Python code of the user takes part; see `differentiate.cut_plan`
    visited: Sequence[int]  # of a plan that is cut: all nodes that it visits, in order
    watched: Sequence[int]  # the places in `visited` of those where it is cut
    beginning: Hashable = None  # the key in `_tracks` of the passes for which the plan is tried
    shortcut: Any = (None, None)  # the key of those for which the plan is tried first

    def __init__(
        self,
        executed: tuple[int, ...],
        masks: tuple[tuple[bool, ...], ...],
        results: dict[tuple[int, int], tuple[int, ...]],
        keepers: list[int],
    ) -> None:
        self.executed = executed
        self.masks = masks
        self.results = list(results)
        self.shapes = list(results.values())
        self.keepers = keepers
        self.track: Track | None = None
        self.follower: Any = None
        self.uses, self.is_asked = 0, False  # without a follower; whether there was to be one
        # For each target the number of its gradient among the results; None for a target that is
        # not in the graph.
        self.given: list[int | None] | None = None
        self.is_closed = False  # whether all leaves of the graph are among the targets

    def values(
        self, structure: Structure, seeds: Sequence[Value], saved: Sequence[tuple[Any, ...]]
    ) -> list[Value]:
        """Return the gradients of a later pass.

        Parameters
        ----------
        structure, seeds
            The structure and the seeds of the later pass.
        saved : sequence of tuple
            What the nodes of the later pass have saved that are at the places of ``keepers``.
        """
        raise NotImplementedError

    def learn_track(self, request: Any, structure: Structure) -> bool:
        """Make the track of this plan if there can be one; return whether the plan has a track."""
        if self.track is not None:
            return True
        order, index = structure.order, structure.index
        if any([p is not None and p not in index for node in order for p in node.parents]):  # noqa: C419
            return False  # the graph goes on to older nodes, outside of the structure
        track = Track(request.roots, order, structure.by_position, structure.watched)
        arrays = track.arrays(list(order), [value.array for _, value in request.seeds])
        edges = request.search_ends or ()
        targets = [index.get(edge.node, _OUTSIDE) for edge in edges]
        if arrays is None:
            return False
        self.targets = targets
        self.has_outside = _OUTSIDE in targets
        self.is_closed = track.leaves() <= set(targets)
        self.same, self.layouts = identity_numbers(arrays), layouts(arrays)
        firsts = {n: place for place, n in reversed([*enumerate(self.same)])}
        self.firsts = [firsts[n] for n in range(len(firsts))]
        wanted = [(n, edge.slot) for n, edge in zip(targets, edges, strict=True)]
        inside = [place for place in wanted if place[0] != _OUTSIDE]
        lead = () if request.batch is None else (request.batch,)
        shapes = {
            place: (*lead, *order[place[0]].outputs[place[1]].shape) for place in self.results
        }
        fit = self.shapes == list(shapes.values())
        numbers = {place: n for n, place in enumerate(self.results)}
        if fit and len(set(inside)) == len(inside) and set(inside) <= numbers.keys():
            self.given = [numbers.get(place) for place in wanted]  # no result has a place outside
        self.track = track  # last: other threads take it for a sign that the rest is known
        return True

    def follow(
        self, roots: tuple[Node, ...], targets: list[Any] | None, seeds: list[Any]
    ) -> Structure | None:
        """Return the structure of another pass, found by a walk along the track; None if the pass
        has another structure than this plan.

        Parameters
        ----------
        roots : tuple of Node
            The nodes where the other pass starts.
        targets : list of Node, optional
            The nodes of its targets; None if all leaves are targets.
        seeds : list of ndarray
            The arrays of its seeds.
        """
        track, follower = self.track, self.follower
        assert track is not None
        if follower is not None:
            found = follower(roots, targets, seeds)
            if found and found[1] is None:
                track.settle(found[0])
                found = follower(roots, targets, seeds)
            if found is False:
                return None
            if found is not None and found[1] is not None:
                if track.is_cut and not track.are_watched_alike(found[0]):
                    return None
                return Structure(None, found[1], found[0], {}, is_unwritten=True, saved=found[2])
        nodes = track.walk(roots)
        if nodes is None or (targets is not None and not self._are_targets(targets, nodes)):
            return None
        arrays = track.arrays(nodes, seeds)
        if (
            arrays is None
            or identity_numbers(arrays) != self.same
            or layouts(arrays) != self.layouts
        ):
            return None
        self.uses += 1
        can_be_soon = _has_followers or self.uses * len(nodes) >= _MANY_NODES
        is_often = self.uses >= _OFTEN or (can_be_soon and self.uses >= _SOON)
        if is_often and not self.is_asked:
            self._get_follower(roots, nodes, arrays)
        arrays = [arrays[n] for n in self.firsts]
        if track.indexed:
            arrays += track.positions(nodes)
        return Structure(None, arrays, nodes, {})

    def _get_follower(self, *graph: Any) -> None:
        global _has_followers
        self.is_asked = True
        self.follower = follower_of(self, *graph)
        _has_followers = _has_followers or self.follower is not None

    def _are_targets(self, targets: list[Any], nodes: list[Any]) -> bool:
        """Whether the targets of another pass are at the same places of its graph as those of the
        earlier pass.

        A target outside of the graph has to be outside of the other graph, too.
        """
        if not self.has_outside:
            return targets == [nodes[n] for n in self.targets]
        if len(targets) != len(self.targets):
            return False
        found, places = set(nodes), zip(self.targets, targets, strict=True)
        return all(x not in found if n == _OUTSIDE else x is nodes[n] for n, x in places)


class ExecutablePlan(KnownPlan):
    """The plan of a pass that is not recorded: an executable that computes all gradients."""

    def __init__(self, plan: Executable, *parts: Any) -> None:
        super().__init__(*parts)
        self.plan, self.size = plan, size_of(plan)

    def values(
        self, structure: Structure, seeds: Sequence[Value], saved: Sequence[tuple[Any, ...]]
    ) -> list[Value]:
        """Return the gradients by running the executable on the arrays of the structure."""
        return list(map(runtime.value, self.plan(structure.arrays)))


_known: OrderedDict[Hashable, KnownPlan] = OrderedDict()
_tracks: dict[Hashable, list[KnownPlan]] = {}  # of passes that begin alike, the latest first
shortcuts = Shortcuts()
_has_followers = False  # whether a plan has got one: the code of followers is there
_has_cut = False  # whether there was a plan for passes in which Python code takes part
_total = 0  # kB
_largest: KnownPlan | None = None  # of all that are kept; None where it is to be looked for
# The times that structures were met, by the hashes of their keys: most graphs never come again.
_seen: OrderedDict[int, float] = OrderedDict()
_NEVER = float("-inf")  # in place of the times of a structure whose plan is too large to be kept
_released: deque[Callable[[], Sequence[Any]]] = deque()
_lock = fork_safe_lock()


def recognise(request: Any) -> tuple[Structure, KnownPlan] | None:
    """Return the structure of a pass and the plan for it, found by walks along tracks; None if no
    track fits."""
    if not request.uses_plans:
        return None
    ends = request.search_ends
    targets = None if ends is None else [edge.node for edge in ends]
    seeds = [value.array for _, value in request.seeds]
    return plan_for_start(*first_starts(request), targets, seeds)


def plan_for_start(
    roots: tuple[Node, ...], starts: Starts, targets: list[Any] | None, seeds: list[Any]
) -> tuple[Structure, KnownPlan] | None:
    """Return the structure of a pass and the plan for it, found by walks along tracks; None if no
    track fits.

    A plan is tried only if its own pass began alike: the roots and the nodes next to them had the
    same kinds, and the result of `starts_of` was equal to ``starts``. A plan for the very indices
    in the graph is preferred to a plan that takes indices as data.
    """
    latest = shortcuts.find(roots, starts, targets, seeds)
    if latest is not None:
        return latest
    nodes = first_nodes(roots)
    found = None if is_watched(nodes) else _tried(nodes, roots, starts, targets, seeds)
    if found is None and _has_cut:
        return _followed(cut_beginning(nodes, starts), roots, targets, seeds)
    if found is not None and shortcuts.takes(found[1]):
        with _lock:
            if found[1] in _tracks.get(found[1].beginning, ()):  # else a thread has dropped it
                shortcuts.add(found[1], roots, starts)
    return found


def _tried(
    nodes: list[Node],
    roots: tuple[Node, ...],
    starts: Starts,
    targets: list[Any] | None,
    seeds: list[Any],
) -> tuple[Structure, KnownPlan] | None:
    """Return the structure and the plan of the first track that fits, of all tracks of passes that
    began alike."""
    for beginning in beginnings(nodes, starts):
        found = _followed(beginning, roots, targets, seeds)
        if found is not None:
            return found
    return None


def _followed(
    beginning: Hashable, roots: tuple[Node, ...], targets: list[Any] | None, seeds: list[Any]
) -> tuple[Structure, KnownPlan] | None:
    known = _tracks.get(beginning) or []
    for n, recalled in enumerate(known):
        structure = recalled.follow(roots, targets, seeds)
        if structure is not None:
            if n:
                known[:] = [recalled, *[other for other in known if other is not recalled]]
            return structure, recalled
    return None


def recall(request: Any, structure: Structure) -> KnownPlan | None:
    """Return the plan of an earlier pass of this structure, None if there is none.

    A track is made for the plan if there can be one, so that `recognise` finds the plan next time.
    """
    global _has_cut
    recalled = _known.get(structure.key)
    if recalled is not None and recalled.learn_track(request, structure):
        with _lock:
            if _known.get(structure.key) is recalled:  # else another thread has dropped it
                roots, starts = first_starts(request)
                nodes = first_nodes(roots)
                kinds = map(general if structure.by_position else own, nodes)
                recalled.beginning = tuple(kinds), *starts
                if recalled.is_cut:
                    recalled.beginning, _has_cut = cut_beginning(nodes, starts), True
                known = _tracks.setdefault(recalled.beginning, [])
                known[:] = [recalled, *[r for r in known if r is not recalled][: _MOST_TRIED - 1]]
    return recalled


def times_met(structure: Structure) -> int:
    """Return how many earlier passes had this structure, and count this pass.

    The result is 0 for a structure whose plan is too large to be kept: no later pass has a plan.
    """
    number = hash(structure.key)
    with _lock:
        count = _seen.get(number, 0)
        _seen[number] = count + 1
        if not count:
            _forget_old_counts(_MOST_SEEN)
    return 0 if count == _NEVER else int(count)


def remember(
    structure: Structure,
    wanted: dict[Node, tuple[bool, ...]],
    grads: dict[Edge, Value],
    batch: int | None,
) -> None:
    """Compute the gradients of a pass by an executable, and keep the executable for later passes.

    Parameters
    ----------
    wanted : dict
        For each executed node, a mask of the inputs whose gradients the pass computes.
    grads : dict
        The gradients by their edges. They are expressions before, and get their arrays here.
    batch : int or None
        The number of rows of a batched pass.
    """
    values = list(grads.values())
    inputs = {id(array): n for n, array in enumerate(structure.arrays)}
    target = runtime.target_of([value.spec for value in values])
    plan = Executable(lower(values, target, batch, inputs), target)
    results = plan(structure.arrays)
    for value, array in zip(values, results, strict=True):
        assert value.expr is not None
        value.expr.keep(value.expr_slot, array)
        value.array, value.expr = array, None
    shapes = [shape for shape, _ in plan.specs]
    keep_plan(structure, ExecutablePlan(plan, *parts_of(structure, wanted, grads, shapes)))


def parts_of(
    structure: Structure,
    wanted: dict[Node, tuple[bool, ...]],
    grads: Iterable[Edge],
    shapes: Iterable[tuple[int, ...]],
) -> tuple[Any, ...]:
    """Return the arguments of `KnownPlan` for the plan of a pass.

    Parameters
    ----------
    wanted : dict
        For each executed node, a mask of the inputs whose gradients the pass computes.
    grads, shapes
        The edges of the gradients, and their shapes.
    """
    index = structure.index
    places = [(index[edge.node], edge.slot) for edge in grads if edge.node is not None]
    executed = tuple([index[node] for node in wanted])
    keepers = [n for n in executed if structure.order[n].saved != ()]
    return executed, tuple(wanted.values()), dict(zip(places, shapes, strict=True)), keepers


def size_of(plan: Executable) -> int:
    """Return about how much memory an executable takes, in kB."""
    count, constants = len(plan.program.instructions), plan.program.arrays.values()
    return int(_PLAN_SIZE + _INSTRUCTION_SIZE * count) + kilobytes(constants)


def kilobytes(arrays: Iterable[Any]) -> int:
    """Return the size of the elements of arrays in kB."""
    return sum([array.nbytes for array in arrays]) >> 10


def keep_plan(structure: Structure, known: KnownPlan) -> None:
    """Keep the plan of a pass, and drop the oldest plans if all plans together become too large.

    The largest plan is never dropped, and its size does not count.
    """
    global _total, _largest
    if known.size > _LARGEST_KEPT:
        with _lock:
            _seen[hash(structure.key)] = _NEVER
        return
    with _lock:
        _total += known.size - _drop(structure.key)
        _known[structure.key] = known
        if _largest is not None and known.size > _largest.size:
            _largest = known
        if _total > _MOST_KEPT:
            _make_room()
            _forget_old_counts(len(_known))


def _make_room() -> None:
    global _total, _largest
    if _largest is None:
        _largest = max(_known.values(), key=attrgetter("size"))
    largest = _largest
    while _total - largest.size > _MOST_KEPT:
        # No list of all: there are thousands, and a key is hashed for each.
        key = next((key for key, other in _known.items() if other is not largest), None)
        if key is None:  # Ctrl-C came once between the changes of what is kept and of the total
            _total, _largest = sum([known.size for known in _known.values()]), None
            return
        _total -= _drop(key)


def _forget_old_counts(count: int) -> None:
    """Forget how often structures were met, except for the ``count`` latest ones.

    The plan of an older structure would have been dropped before its next pass.
    """
    while len(_seen) > count:
        _seen.popitem(last=False)


def _drop(key: Hashable) -> int:
    """Drop the plan with this key; return its size, 0 if there is no such plan."""
    global _largest
    dropped = _known.pop(key, None)
    if dropped is None:
        return 0
    if dropped is _largest:
        _largest = None
    known = _tracks.get(dropped.beginning, [])
    known[:] = [other for other in known if other is not dropped]
    if not known:
        _tracks.pop(dropped.beginning, None)
    shortcuts.drop(dropped)
    return dropped.size


def release(operators: Callable[[], Sequence[Any]]) -> None:
    """Let `drop_released` drop the plans of passes through nodes of certain operators.

    The operators belong to a captured function that is gone, so nobody will apply them again. The
    plans would keep the arrays that the function closes over. ``operators`` is called by
    `drop_released` and returns the operators.
    """
    _released.append(operators)  # no more: the garbage collector may call this under the lock


def drop_released() -> None:
    """Drop the plans of passes through nodes of released operators, and the rules of these
    operators."""
    global _total
    kinds: set[Kind] = set()
    while _released:
        for operator in _released.popleft()():
            kinds.update([kind for kind in operator.kinds.values() if type(kind) is Kind])
    if not kinds:
        return
    drop_rules(kinds)
    with _lock:
        for key in list(_known):
            parts: Any = key
            inner = parts[0] if isinstance(parts[0], tuple) else ()
            if not kinds.isdisjoint(parts) or not kinds.isdisjoint(inner):
                _total -= _drop(key)


def forget() -> None:
    """Drop all plans, tracks and counts."""
    global _total, _largest, _has_cut
    with _lock:
        _total, _largest, _has_cut = 0, None, False
        _known.clear()
        _tracks.clear()
        shortcuts.clear()
        _seen.clear()
        outlines.clear()
