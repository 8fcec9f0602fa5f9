"""Which of many regions of an array meet one, against a look at each of them."""

import numpy as np
import pytest

from numgrad.engine.fusion.boxes import Boxes, difference, intersection, sizes_of


def drawn(rng, shape):
    ends = [np.sort(rng.choice(size + 1, 2, replace=False)) for size in shape]
    return tuple((int(start), int(stop)) for start, stop in ends)


def mask(bounds, shape):
    found = np.zeros(shape, int)
    found[tuple(slice(*pair) for pair in bounds)] = 1
    return found


@pytest.mark.parametrize("shape", [(), (1,), (12,), (5, 4), (3, 1, 4)])
@pytest.mark.parametrize("seed", range(5))
def test_those_that_meet_a_region_are_taken_in_the_order_in_which_they_came(shape, seed):
    rng = np.random.default_rng(seed)
    boxes, kept = Boxes(tuple((0, size) for size in shape)), []
    for step in range(200):
        bounds = drawn(rng, shape)
        if rng.random() < 0.7:
            boxes.add(bounds, step)
            kept.append((step, bounds))
            continue
        covers = mask(bounds, shape)
        meeting = [n for n, b in kept if (covers & mask(b, shape)).any()]
        assert boxes.take(bounds) == meeting
        kept = [(n, b) for n, b in kept if n not in meeting]
        assert list(boxes) == [n for n, _ in kept]
        assert bool(boxes) == bool(kept)


@pytest.mark.parametrize("seed", range(20))
def test_a_region_is_what_is_common_and_what_is_around(seed):
    rng, shape = np.random.default_rng(seed), (5, 4, 3)
    both = np.zeros(shape, int)
    while not both.any():
        outer, other = drawn(rng, shape), drawn(rng, shape)
        both = mask(outer, shape) & mask(other, shape)
    inner = intersection(outer, other)
    np.testing.assert_array_equal(mask(inner, shape), both)
    assert np.prod(sizes_of(inner)) == both.sum()
    pieces = sum(mask(bounds, shape) for bounds in [inner, *difference(outer, inner)])
    np.testing.assert_array_equal(pieces, mask(outer, shape))
