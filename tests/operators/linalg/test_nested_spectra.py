"""Second derivatives of functions of equal values, in all orders of modes: right, or NaN."""

import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

TURN = np.array([[2.0, -1.0, 2.0], [2.0, 2.0, -1.0], [-1.0, 2.0, 2.0]]) / 3  # of no LAPACK
RING = 2 * np.eye(6) - np.roll(np.eye(6), 1, 0) - np.roll(np.eye(6), -1, 0)  # values 0 1 1 3 3 4
MATRICES = {
    "diagonal": np.diag([2.0, 2.0, 3.0]),
    "turned": TURN @ np.diag([2.0, 2.0, 3.0]) @ TURN.T,
    "all": 2 * np.eye(3),
    "zero": np.zeros((3, 3)),
}
MODES = {
    a + b: (outer, inner)
    for a, outer in (("r", ng.func.jacrev), ("f", ng.func.jacfwd))
    for b, inner in (("r", ng.func.jacrev), ("f", ng.func.jacfwd))
}


def hermitian(a):
    return (a + a.T) / 2


def values(a):
    return ng.linalg.eigvalsh(hermitian(a))


def square(a):
    w, v = ng.linalg.eigh(hermitian(a))
    return (v * w**2) @ v.T


SMOOTH = {  # and what they are without eigenvalues
    "squares": (lambda a: (values(a) ** 2).sum(), lambda a: (hermitian(a) ** 2).sum()),
    "shifted": (
        lambda a: ((values(a) - 2) ** 2).sum(),
        lambda a: ((hermitian(a) - 2 * np.eye(3)) ** 2).sum(),
    ),
    "product": (lambda a: ng.prod(values(a)), lambda a: ng.linalg.det(hermitian(a))),
    "sum": (lambda a: values(a).sum() ** 2, lambda a: ng.trace(a) ** 2),
    "eigvals": (
        lambda a: ng.real((ng.linalg.eigvals(a) ** 2).sum()),
        lambda a: ng.trace(a @ a),
    ),
    "svdvals": (lambda a: (ng.linalg.svdvals(a) ** 2).sum(), lambda a: (a**2).sum()),
    "svd": (lambda a: (ng.linalg.svd(a)[1] ** 4).sum(), lambda a: ((a @ a.T) ** 2).sum()),
    "vectors": (
        lambda a: square(a).sum(),
        lambda a: (hermitian(a) @ hermitian(a)).sum(),
    ),
    "squared": (
        lambda a: square(a)[0, 1] ** 2,
        lambda a: (hermitian(a) @ hermitian(a))[0, 1] ** 2,
    ),
    "captured inside": (
        lambda a: (ng.jit(values)(a) ** 2).sum(),
        lambda a: (hermitian(a) ** 2).sum(),
    ),
    "mapped inside": (
        lambda a: (ng.func.vmap(values)(a[None]) ** 2).sum(),
        lambda a: (hermitian(a) ** 2).sum(),
    ),
}


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("name", one_in(4, SMOOTH))
def test_smooth_functions_of_equal_values_are_right_or_nan(name, matrix):
    function, plain = SMOOTH[name]
    x = MATRICES[matrix]
    expected = ng.func.hessian(plain)(x)
    for mode, (outer, inner) in MODES.items():
        found = np.asarray(outer(inner(function))(x))
        close = np.abs(found - expected) < 1e-9 * (1 + np.abs(expected))
        assert (np.isnan(found) | close).all(), mode
        captured = np.asarray(ng.jit(outer(inner(function)))(x))
        close = np.abs(captured - expected) < 1e-9 * (1 + np.abs(expected))
        assert (np.isnan(captured) | close).all(), mode
        if mode == "rf" and name in ("sum", "squares"):
            assert np.isfinite(found).any() or matrix == "turned"


KINKED = {
    "lowest": lambda a: values(a)[0],
    "weighted": lambda a: values(a) @ np.array([1.0, 2.0, 3.0]),
    "of eigh": lambda a: ng.linalg.eigh(hermitian(a))[0][0] + 1,
    "difference": lambda a: values(a)[1] - values(a)[0],
    "captured inside": lambda a: ng.jit(values)(a)[0],
    "mapped inside": lambda a: ng.func.vmap(values)(a[None])[0, 0],
    "eigvals": lambda a: ng.real(ng.linalg.eigvals(hermitian(a))) @ np.array([1.0, 2.0, 4.0]),
    "one of svdvals": lambda a: ng.linalg.svdvals(a)[1],
    "one of svd": lambda a: ng.linalg.svd(a)[1][1],
}


@pytest.mark.parametrize("matrix", ["diagonal", "turned", "all"])
@pytest.mark.parametrize("name", one_in(3, KINKED))
def test_kinks_at_equal_values_are_nan(name, matrix):
    """One of equal values is a minimum or maximum of what they split into: it has no second
    derivative, along some directions not even a first one."""
    function, x = KINKED[name], MATRICES[matrix]
    if "svd" in name and matrix != "all":
        x = 3 * MATRICES[matrix] - 4 * np.eye(3)  # values 5, 2, 2
    for mode, (outer, inner) in MODES.items():
        assert np.isnan(outer(inner(function))(x)).all(), mode
        assert np.isnan(ng.jit(outer(inner(function)))(x)).all(), mode


def test_slopes_of_a_penalty_on_slopes_are_nan():
    """The slopes of equal values along a matrix jump where these split in another way."""
    off = np.zeros((2, 2))
    off[0, 1] = off[1, 0] = 1

    def penalty(a):
        return (ng.func.jvp(ng.linalg.eigvalsh, (a,), (off,))[1] ** 2).sum()

    assert np.isnan(ng.func.jacrev(penalty)(2 * np.eye(2))).all()
    assert np.isnan(ng.func.jacfwd(penalty)(2 * np.eye(2))).all()


def test_a_simple_value_beside_equal_ones_has_its_derivatives_in_all_modes():
    """As perturbation theory has them: 2 sum_k (v_k E v_0) (v_k D v_0) / (w_0 - w_k)."""
    w, v = np.linalg.eigh(RING)
    e = np.eye(36).reshape(36, 6, 6)
    rows = np.einsum("ik,nij,j->nk", v, (e + np.swapaxes(e, 1, 2)) / 2, v[:, 0])[:, 1:]
    expected = 2 * (rows / (w[0] - w[1:])) @ rows.T
    shape = (6,) * 4
    for mode, (outer, inner) in MODES.items():
        for way in (
            outer(inner(lambda a: values(a)[0])),
            ng.jit(outer(inner(lambda a: values(a)[0]))),
            outer(inner(ng.jit(lambda a: values(a)[0]))),
            lambda a: ng.func.vmap(outer(inner(lambda b: values(b)[0])))(a[None])[0],  # noqa: B023
            outer(inner(lambda a: ng.func.vmap(lambda b: values(b)[0])(a[None])[0])),
        ):
            found = np.asarray(way(RING))
            np.testing.assert_allclose(found, expected.reshape(shape), atol=1e-12, err_msg=mode)


def test_sums_of_equal_values_have_second_derivatives_in_reverse_over_forward_mode():
    """The sum of a pair is that of all without the simple ones."""
    pair = lambda a: values(a)[1:3].sum()  # noqa: E731
    rest = lambda a: ng.trace(a) - values(a)[0] - values(a)[3:].sum()  # noqa: E731
    expected = ng.func.hessian(rest)(RING)
    for mode in ("rr", "fr", "rf"):
        outer, inner = MODES[mode]
        np.testing.assert_allclose(outer(inner(pair))(RING), expected, atol=1e-12, err_msg=mode)


def test_captured_functions_of_a_recorded_batch_keep_their_rows():
    """Second derivatives of a captured function of values, reverse over reverse, were refused."""
    function = lambda a: ng.log(values(a)[0]) * ng.linalg.svdvals(a)[0] ** 2  # noqa: E731
    x = RING + np.eye(6)
    twice = ng.func.jacrev(ng.func.jacrev(function))
    np.testing.assert_array_equal(ng.jit(twice)(x), twice(x))
    mapped = ng.func.vmap(twice)(np.stack([x, x]))
    np.testing.assert_allclose(mapped[1], twice(x), atol=1e-12)
