"""Colourings: valid on random patterns, by slow checks; few colours where the number is known."""

import time

import numpy as np
import pytest
from scipy.optimize._numdiff import group_columns

from numgrad._errors import ArgTypeError
from numgrad.sparse import coloring, symmetric
from numgrad.sparse.ordering import ORDERS
from numgrad.sparse.problem import as_sets

from .matrices import (
    arrow,
    banded,
    booleans,
    five_point,
    is_acyclic,
    is_direct,
    is_star,
    random_pattern,
    random_symmetric,
)

ALL_ORDERS = ("auto", *ORDERS)


def color(pattern, kind, order):
    return coloring.color(as_sets(pattern), kind, order)


def color_symmetric(pattern, kind, order):
    return symmetric.color(as_sets(pattern), kind, order)


@pytest.mark.parametrize("kind", coloring.COLORINGS)
@pytest.mark.parametrize("order", ALL_ORDERS)
def test_every_entry_can_be_read(kind, order):
    rng = np.random.default_rng(1)
    for _ in range(25):
        pattern = random_pattern(rng, 16)
        found = color(pattern, kind, order)
        assert is_direct(pattern, *_of(found))
        assert kind != "column" or not found.n_rows
        assert kind != "row" or not found.n_columns


def test_no_more_colors_than_scipy_and_less_time():
    rng = np.random.default_rng(0)
    patterns = [random_pattern(rng) for _ in range(1000)]
    color(patterns[0], "column", "auto")  # its kernels are loaded now
    spent = {"ours": 0.0, "scipy": 0.0}
    for pattern in patterns:
        sets = as_sets(pattern)
        start = time.process_time()
        ours = coloring.color(sets, "column", "auto").passes
        middle = time.process_time()
        theirs = group_columns(pattern)
        spent["ours"] += middle - start
        spent["scipy"] += time.process_time() - middle
        assert ours <= theirs.max() + 1
    assert spent["ours"] < spent["scipy"]


def test_arrow_takes_three_passes():
    for kind in ("auto", "bidirectional"):
        found = color(arrow(500), kind, "auto")
        assert found.passes <= 3
        assert is_direct(arrow(60), *_of(color(arrow(60), kind, "auto")))
    assert color(arrow(500), "column", "auto").passes == 500


def _of(found):
    return found.rows, found.columns, found.columns_first


@pytest.mark.parametrize("order", ALL_ORDERS)
def test_five_points_take_seven_passes_at_most(order):
    assert color(five_point(40), "column", order).passes <= 7


def test_the_best_order_finds_the_least_number_for_five_points():
    assert color(five_point(64), "auto", "auto").passes == 5


def test_the_shorter_side_is_taken():
    wide = booleans(np.ones((2, 9)))
    assert color(wide, "auto", "auto").n_rows == 2
    assert color(booleans(wide.T), "auto", "auto").n_columns == 2


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 2)])
def test_nothing_needs_no_pass(shape):
    for kind in coloring.COLORINGS:
        assert color(booleans(np.zeros(shape)), kind, "auto").passes == 0


@pytest.mark.parametrize("order", ALL_ORDERS)
def test_star_and_acyclic_colorings_are_valid(order):
    rng = np.random.default_rng(2)
    for _ in range(40):
        pattern = random_symmetric(rng)
        assert is_star(pattern, color_symmetric(pattern, "star", order))
        assert is_acyclic(pattern, color_symmetric(pattern, "acyclic", order))


@pytest.mark.parametrize(("width", "star", "acyclic"), [(1, 3, 2), (2, 5, 3), (3, 7, 4)])
def test_bands_take_few_products(width, star, acyclic):
    pattern = banded(10_000, width)
    assert color_symmetric(pattern, "star", "auto").max() + 1 <= star
    assert color_symmetric(pattern, "acyclic", "auto").max() + 1 <= acyclic


def test_a_dense_row_of_a_hessian_costs_one_color():
    colors = color_symmetric(arrow(20_000), "star", "auto")
    assert colors.max() + 1 == 2


@pytest.mark.parametrize("make", [color, color_symmetric])
def test_unknown_names_are_refused(make):
    pattern = five_point(3)
    kind = "column" if make is color else "star"
    with pytest.raises(ArgTypeError, match="must be one of"):
        make(pattern, "rainbow", "auto")
    with pytest.raises(ArgTypeError, match="must be one of"):
        make(pattern, kind, "alphabetic")


def test_validators_see_wrong_colorings():
    pattern = banded(6, 1)
    two = np.arange(6) % 2
    assert not is_direct(pattern, np.full(6, -1), two)
    assert not is_star(pattern, two)
    assert not is_acyclic(booleans(np.roll(np.eye(4), 1, 0) + np.roll(np.eye(4), -1, 0)), two[:4])
