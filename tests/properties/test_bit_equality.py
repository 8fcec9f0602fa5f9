"""Random graphs give the same bits however they are computed, and gradients that are right.

Programs run fused and not, batched and in a loop, recalled and captured, on one and two threads, in
tiles of several sizes. ``python -m tests.properties.many`` checks as many graphs as one likes.
"""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings

from .random_graphs import draw_graph, graphs, pick_from
from .vocabulary import VOCABULARY
from .ways import Check

deterministic = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=tuple(HealthCheck)
)


@given(graphs())
@settings(deterministic, max_examples=190)
def test_all_ways_agree(graph):
    Check(graph).run()


@given(graphs(most=5))
@settings(deterministic, max_examples=10)
def test_all_ways_agree_when_fused(graph):
    Check(graph, fuse="now").run()


def test_random_graphs_use_the_whole_vocabulary():
    drawn = [draw_graph(pick_from(seed)) for seed in range(500)]
    assert set(Counter(step.name for graph in drawn for step in graph.steps)) == set(VOCABULARY)
    assert {a.dtype.str[1:] for graph in drawn for a in graph.inputs} == {"f4", "f8", "c16"}
    assert sum(graph.has("exact") for graph in drawn) > 250


@pytest.mark.parametrize(
    ("way", "factor", "words"),
    [("batched", 1 + 2**-52, "batched: gradient . differs"), ("looped", 1.01, "differences give")],
)
def test_what_is_wrong_is_found(monkeypatch, way, factor, words):
    check = next(c for c in map(Check, smooth_graphs()) if len(c.seeds))
    compute = getattr(Check, way)

    def wrong(self, *args):
        result, *gradients = compute(self, *args)
        return [result, *(g * factor for g in gradients)]

    monkeypatch.setattr(Check, way, wrong)
    with pytest.raises(AssertionError, match=words):
        check.run()


def smooth_graphs():
    """Yield graphs of real numbers with differences that are good."""
    for seed in range(500):
        graph = draw_graph(pick_from(seed))
        words = {step.name for step in graph.steps}
        simple = all(a.dtype == float and a.size for a in graph.inputs)
        if simple and graph.has("smooth") and graph.has("exact") and "sin" in words:
            yield graph
