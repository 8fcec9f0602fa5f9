"""Steps of loops, with the loops of Python that they stand for."""

import numpy as np
import optree

import numgrad as ng


def unrolled(f, init, xs, length=None):
    """Return what a loop of Python computes."""
    carry, ys = init, []
    for n in range(len(optree.tree_leaves(xs)[0]) if xs is not None else length):
        carry, y = f(carry, optree.tree_map(lambda x: x[n], xs) if xs is not None else None)  # noqa: B023
        ys.append(y)
    return carry, optree.tree_map(lambda *y: ng.stack([ng.asarray(a) for a in y]), *ys)


def leaves(tree):
    return [np.asarray(ng.asarray(x).detach()) for x in optree.tree_leaves(tree)]


def assert_close(found, expected, tolerance=1e-13):
    found, expected = leaves(found), leaves(expected)
    assert [x.dtype for x in found] == [x.dtype for x in expected]
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def assert_equal(found, expected):
    for x, y in zip(leaves(found), leaves(expected), strict=True):
        assert x.dtype == y.dtype
        assert np.array_equal(x, y)


def total(tree):
    """Return a number that depends on all floating leaves."""
    parts = [leaf for leaf in optree.tree_leaves(tree) if np.dtype(leaf.dtype).kind == "f"]
    return sum([(ng.sin(part) * (n + 1)).sum() for n, part in enumerate(parts)])
