"""What a captured function decides by, as far as it depends on no argument."""

import numpy as np
import pytest

import numgrad as ng

X = np.array([1.0, 2.0, 4.0])


def free_nodes(x):
    """As programs of finite elements find the unknowns that are not held fixed."""
    free = ng.setdiff1d(ng.arange(3), [1])
    return ng.outer(x, x)[ng.ix_(free, free)]


def written_mask(x):
    mask = ng.zeros(3, dtype=bool)
    mask[1:] = True
    return x[mask]


def written_after_it_was_read(x):
    m = ng.zeros(3)
    m[0] = 1
    was = bool(m.sum() > 0.5)
    m[1] = 2
    return m * x * float(m.sum()) if was else x


def seen_through_a_view(x):
    m = ng.arange(3) * 2.0
    view = m[1:]
    view[0] = 7
    return x + m if m[1] == 7 else x


def checked(x):
    steps = ng.linspace(0, 1, 3)
    assert ng.isfinite(steps).all()
    return x * steps.numpy() if ng.allclose(ng.diff(steps), 0.5) else x


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (free_nodes, [[1, 4], [4, 16]]),
        (written_mask, [2, 4]),
        (written_after_it_was_read, [3, 12, 0]),
        (seen_through_a_view, [1, 9, 8]),
        (checked, [0, 1, 4]),
        (lambda x: x[ng.nonzero(ng.arange(3) % 2 == 0)], [1, 4]),
        (lambda x: x * (ng.eye(3) * 2)[1, 1].item(), [2, 4, 8]),
    ],
)
def test_values_of_constants_are_known(function, expected):
    captured = ng.jit(function)
    captured(X + 1)
    np.testing.assert_array_equal(captured(X), expected)
    both = ng.func.vmap(function)(np.stack([X, X]))
    np.testing.assert_array_equal(both, [expected, expected])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[ng.arange(3) * x > 1],
        lambda x: x if (ng.ones(3) * x).sum() > 0 else -x,
        lambda x: x if x.detach()[0] > 0 else -x,
    ],
)
def test_what_depends_on_an_argument_is_not(function):
    with pytest.raises(ng.errors.CaptureError):
        ng.jit(function)(X)
    with pytest.raises(ng.errors.CaptureError):
        ng.func.vmap(function)(np.stack([X, X]))


@pytest.mark.parametrize("make", [np.array, ng.tensor])
def test_a_recording_holds_as_long_as_what_was_read_from_outside(make):
    outside = make([1.0, -1.0, 1.0])
    recorded = []

    @ng.jit
    def selected(x):
        recorded.append(x)
        return x[2 * ng.asarray(outside) > 0].sum()

    assert [float(selected(X)), float(selected(X))] == [5.0, 5.0]
    assert len(recorded) == 1
    outside[1] = 3.0
    assert float(selected(X)) == 7.0
    assert len(recorded) == 2


def test_derivatives_of_what_was_decided():
    def chosen(x):
        return (x[ng.arange(3) > 0] ** 2).sum()

    np.testing.assert_array_equal(ng.jit(ng.func.grad(chosen))(X), [0, 4, 8])
    np.testing.assert_array_equal(ng.jit(ng.func.hessian(chosen))(X), np.diag([0, 2, 2]))


def test_what_was_read_is_not_shared_with_the_result():
    @ng.jit
    def constant(x):
        m = ng.ones(3) * 2
        assert m.sum() > 1
        return m

    constant(X)[0] = 5
    np.testing.assert_array_equal(constant(X), [2, 2, 2])
