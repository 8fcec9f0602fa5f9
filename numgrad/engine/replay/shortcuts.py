"""Shortcuts to plans: of the passes that start at nodes of the same kinds, the plan used last.

Most passes repeat the one before. So the follower of that plan is asked first, before any key of
the pass is put together.
"""

from collections.abc import Hashable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph.node import Node
from .structure import Structure

if TYPE_CHECKING:
    from .plan_cache import KnownPlan

_own_kind = attrgetter("_kind")


class Shortcuts:
    """The plans that are tried first; all have followers.

    Whoever adds a plan holds the lock of the plan cache, and so does whoever drops one.

    Attributes
    ----------
    latest : dict
        The plan used last, by the kinds of the roots and the result of `plan_cache.starts_of`.
    closed : dict
        The last plan of a graph whose leaves are all among the targets, by the kinds of the roots.
    """

    def __init__(self) -> None:
        self.latest: dict[Hashable, KnownPlan] = {}
        self.closed: dict[Hashable, KnownPlan] = {}

    def find(
        self,
        roots: tuple[Node, ...],
        starts: Hashable,
        targets: list[Any] | None,
        seeds: list[Any],
    ) -> "tuple[Structure, KnownPlan] | None":
        """Return the structure of a pass and the plan used last, if the plan serves the pass; else
        None."""
        plan = self.latest.get((tuple(map(_own_kind, roots)), starts))
        if plan is None:
            return None
        found = plan.follower(roots, targets, seeds)
        if not found or found[1] is None:
            return None
        return Structure(None, found[1], found[0], {}, is_unwritten=True, saved=found[2]), plan

    def is_closed(self, roots: tuple[Node, ...], targets: list[Any]) -> bool:
        """Whether a plan says of a graph that all its leaves are among the nodes ``targets``."""
        plan = self.closed.get(tuple(map(_own_kind, roots)))
        if plan is None:
            return False
        found = plan.follower(roots, targets, [np.empty(()) for _ in roots])  # seeds in C order
        return bool(found) and found[1] is not None

    def takes(self, plan: "KnownPlan") -> bool:
        """Whether a plan may be tried first: it has a follower, and takes no indices as data, as a
        plan for the very indices is preferred."""
        return plan.follower is not None and plan.track is not None and not plan.track.indexed

    def add(self, plan: "KnownPlan", roots: tuple[Node, ...], starts: Hashable) -> None:
        """Try a plan first for passes with roots of these kinds and equal ``starts``."""
        plan.shortcut = kinds, _ = tuple(map(_own_kind, roots)), starts
        self.latest[plan.shortcut] = plan
        if plan.is_closed:
            self.closed[kinds] = plan

    def drop(self, plan: "KnownPlan") -> None:
        """Forget a plan."""
        kinds, _ = plan.shortcut
        if self.latest.get(plan.shortcut) is plan:
            del self.latest[plan.shortcut]
        if self.closed.get(kinds) is plan:
            del self.closed[kinds]

    def clear(self) -> None:
        """Forget all plans."""
        self.latest.clear()
        self.closed.clear()


__all__ = ["Shortcuts"]
