"""Random graphs give the same bits however they are computed, and gradients that are right.

Programs run fused and not, batched and in a loop, recalled and captured, on one and two threads, in
tiles of several sizes. ``python -m tests.properties.many`` checks as many graphs as one likes.
"""

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from numgrad.testing.fuzzing.vocabulary import ELEMENTWISE, OTHERS, REARRANGING, VOCABULARY
from tests.sampling import exhaustive

from .random_graphs import Graph, Step, draw_graph, graphs, pick_from
from .ways import Check

deterministic = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=tuple(HealthCheck)
)


@given(graphs())
@settings(deterministic, max_examples=8)
def test_all_ways_agree(graph):
    Check(graph).run()


@exhaustive
@given(graphs())
@settings(deterministic, max_examples=400)
def test_all_ways_agree_for_many(graph):
    Check(graph).run()


@given(graphs(most=5))
@settings(deterministic, max_examples=3)
def test_all_ways_agree_when_fused(graph):
    Check(graph, fuse="now").run()


@exhaustive
@given(graphs(most=5))
@settings(deterministic, max_examples=50)
def test_all_ways_agree_for_many_when_fused(graph):
    Check(graph, fuse="now").run()


def test_random_graphs_use_the_whole_vocabulary():
    drawn = [draw_graph(pick_from(seed)) for seed in range(500)]
    assert set(Counter(step.name for graph in drawn for step in graph.steps)) == set(VOCABULARY)
    assert {a.dtype.str[1:] for graph in drawn for a in graph.inputs} == {"f4", "f8", "c16"}
    chapters = ELEMENTWISE, REARRANGING, OTHERS
    assert len(VOCABULARY) == sum(map(len, chapters))  # no name stands for two words
    assert sum(graph.has("exact") for graph in drawn) > 250


@pytest.mark.parametrize(
    ("way", "factor", "words"),
    [("batched", 1 + 2**-52, "batched: gradient . differs"), ("looped", 1.01, "differences give")],
)
def test_what_is_wrong_is_found(monkeypatch, way, factor, words):
    point = np.linspace(0.5, 1.5, 4)
    steps = [Step("sin", (0,), {}), Step("square", (1,), {})]
    check = Check(Graph([point], [2 * point], 1, steps, (4,), point.dtype))
    assert len(check.seeds)
    compute = getattr(Check, way)

    def wrong(self, *args):
        result, *gradients = compute(self, *args)
        return [result, *(g * factor for g in gradients)]

    monkeypatch.setattr(Check, way, wrong)
    with pytest.raises(AssertionError, match=words):
        check.run()
