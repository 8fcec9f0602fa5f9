"""Followers: compiled functions that recognise a graph without Python.

A target may offer followers. A plan that is used often gets a follower, which does the work of
`plan_cache.KnownPlan.follow`, and of the check that no saved value was written. A follower returns
None for graphs that Python code has to look at.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.way import Types, Way
from ..graph.kind import Kind
from ..graph.node import Accumulator, Call, Node, OwnSlot
from ..graph.value import CapturedStorage, ForeignStorage, LeafState, Storage
from ..lower.fallback import attempt
from ..record.apply import runtime
from .dynamic_index import ByPosition

if TYPE_CHECKING:
    from .plan_cache import KnownPlan

_STORAGES = Storage, CapturedStorage, ForeignStorage


def follower_of(
    plan: "KnownPlan", roots: Sequence[Node], nodes: Sequence[Node], arrays: Sequence[Any]
) -> Any:
    """Return a new follower of a plan with a track; None if there is none for this plan.

    ``follower(roots, targets, seeds)`` returns three tuples, the nodes of a graph, its arrays, and
    what the keepers of the plan have saved; False if the plan is not for that graph, and None if
    Python code has to look. There is None in place of the arrays where `Track.settle` has work to
    do first. Nothing is said of the keepers of a plan that is cut.

    Parameters
    ----------
    roots : sequence of Node
        The nodes where a pass for this plan has started.
    nodes : sequence of Node
        All nodes of its graph, in the order of the track.
    arrays : sequence of ndarray
        The arrays of its saved values and seeds.
    """
    make, track = getattr(runtime.target, "follower", None), plan.track
    if make is None or track is None or plan.has_outside:
        return None
    if any([type(array) is not np.ndarray for array in arrays]):  # noqa: C419
        return None
    index: dict[Node | None, int] = {node: n for n, node in enumerate(nodes)}
    index[None] = -1
    way = Way(
        track.kinds,
        [type(node) is Accumulator for node in nodes],
        track.marked,
        track.hooked,
        track.indexed,
        runtime.roles.put_view,
        [index[root] for root in roots],
        [[index[parent] for parent in node.parents] for node in nodes],
        track.slots,
        plan.targets,
        [(n, place) for n, places in track.keepers for place in places],
        [] if plan.is_cut else plan.keepers,
        plan.same,
        plan.layouts,
    )
    types = Types(
        Node, Accumulator, Call, runtime.value, _STORAGES, LeafState, Kind, OwnSlot, ByPosition
    )
    return attempt("recognise a graph directly", f"{len(nodes)} nodes", lambda: make(types, way))
