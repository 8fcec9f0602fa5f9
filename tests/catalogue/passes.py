"""Judges of backward passes: all ways to compute a gradient agree."""

import numpy as np

from numgrad.testing import invariants

from .judge import differentiable, first, first_in_one, judge, smooth_in_one


@judge(first, smooth_in_one, when=differentiable)
def batched(case):
    """A batched pass is a loop over its seeds."""
    sizes = invariants.SEEDS if case.number == 0 else (3,)
    invariants.check_batched(case.subject, np.random.default_rng(0), sizes, exact=case.exact)


@judge(first_in_one, when=differentiable)
def threads(case):
    """The number of threads and the height of tiles change nothing."""
    invariants.check_schedules(case.subject, np.random.default_rng(0), case.exact)


@judge(first_in_one, when=differentiable)
def layout_of_gradient(case):
    broadcast = case.scenario.broadcast
    invariants.check_layouts(case.subject, np.random.default_rng(0), case.exact, broadcast)


@judge(first, when=differentiable)
def recorded(case):
    """Recording a gradient does not change it."""
    invariants.check_create_graph(case.subject, np.random.default_rng(0), exact=case.exact)


JUDGES = (batched, threads, layout_of_gradient, recorded)
