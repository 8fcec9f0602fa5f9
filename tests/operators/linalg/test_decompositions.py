"""Derivatives of factorizations: functions that do not depend on signs, phases and bases."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.operators.linalg.matmul import adjoint

from ..derivatives import check_derivatives, gradient, second

EYE = np.eye(4)
TURN = np.linalg.qr(np.random.default_rng(7).standard_normal((4, 4)))[0]
PAIR = TURN @ np.diag([1.0, 1.0, 2.0, 5.0]) @ TURN.T  # two equal eigenvalues, to rounding


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def split(function):
    """Turn a function of a complex array into a real one of its real and imaginary parts."""

    def parts(x):
        y = function(x[0] + 1j * x[1])
        return ng.stack([ng.real(y), ng.imag(y)])

    return parts


def hermitian(x):
    return (x + adjoint(x)) / 2


def joined(*parts):
    return ng.concatenate([ng.reshape(part, -1) for part in parts])


def spaces(x):
    w, v = ng.linalg.eigh(hermitian(x), "U")
    return joined(w**2, v[..., 1:] @ adjoint(v[..., 1:]))


def low_rank(x):
    u, s, vh = ng.linalg.svd(x)
    u2, v2, rest = u[..., :2], vh[..., :2, :], u[..., 2:]
    return joined((u2 * ng.exp(s[..., None, :2])) @ v2, rest @ adjoint(rest))


def polar(x):
    u, _, vh = ng.linalg.svd(x, full_matrices=False)
    return u @ vh


def eigen_exp(x):
    w, v = ng.linalg.eig(x)
    return ng.real((v * ng.exp(w)[..., None, :]) @ ng.linalg.inv(v))


def outside(x):
    q, r = ng.linalg.qr(x, "complete")
    rest = q[..., x.shape[-1] :]
    return joined(r, rest @ adjoint(rest))


def solved(x):
    factors = ng.linalg.lu_factor(x)
    return ng.linalg.lu_solve(factors, x[0] ** 2, 1) + ng.linalg.lu_solve(factors, x[0])


SMOOTH = {
    "eigh": (spaces, (3, 3)),
    "eigvals": (lambda x: ng.real((ng.linalg.eigvals(x) ** 3).sum(-1)), (3, 3)),
    "eig": (eigen_exp, (3, 3)),
    "svd": (low_rank, (4, 3)),
    "svd-wide": (low_rank, (3, 4)),
    "polar": (polar, (4, 3)),
    "svd-hermitian": (lambda x: ng.linalg.svd(hermitian(x), hermitian=True)[1], (3, 3)),
    "qr": (lambda x: joined(*ng.linalg.qr(x)), (4, 3)),
    "qr-wide": (lambda x: joined(*ng.linalg.qr(x)), (3, 4)),
    "qr-complete": (outside, (4, 2)),
    "lu": (lambda x: joined(*ng.linalg.lu(x)[1:]), (4, 3)),
    "lu_solve": (solved, (3, 3)),
    "pinv": (ng.linalg.pinv, (4, 3)),
    "pinv-low-rank": (lambda x: ng.linalg.pinv(x[:, :2] @ x[:2], 1e-9), (4, 5)),
    "lstsq": (lambda x: joined(*ng.linalg.lstsq(x, x[:, 0] ** 2)[:2]), (5, 3)),
    "lstsq-values": (lambda x: ng.linalg.lstsq(x, np.ones(4))[3], (4, 3)),
    "cond-1": (lambda x: ng.linalg.cond(x, 1), (3, 3)),
    "norm-2": (lambda x: ng.linalg.norm(x, 2, axis=(1, 0)), (3, 4)),
    "expm": (ng.linalg.expm, (3, 3)),
    "tensorsolve": (lambda x: ng.linalg.tensorsolve(ng.reshape(x, (2, 2, 4)), x[:2, :2]), (4, 4)),
    "toeplitz": (lambda x: ng.linalg.solve_toeplitz((x[0], x[1]), x[2]), (3, 4)),
    "solveh_banded": (lambda x: ng.linalg.solveh_banded(x[:2], x[2], lower=True), (3, 5)),
    "block_diag": (lambda x: ng.linalg.block_diag(x[:1], x @ x.T), (2, 3)),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_in_both_modes(rng, name):
    function, shape = SMOOTH[name]
    x = rng.standard_normal(shape)
    check_derivatives(function, x, rng, 1e-5)
    t = rng.standard_normal(shape)
    y, ty = ng.func.jvp(function, (x,), (t,))
    g = rng.standard_normal(y.shape)
    np.testing.assert_allclose((g * ty).sum(), (gradient(function, x, g) * t).sum(), 1e-9)


@pytest.mark.parametrize("name", ["eigh", "svd", "svd-wide", "polar", "qr", "expm", "pinv"])
def test_derivatives_of_complex_matrices(rng, name):
    function, shape = SMOOTH[name]
    check_derivatives(split(function), rng.standard_normal((2, *shape)), rng, 1e-5)


@pytest.mark.parametrize("name", SMOOTH)
def test_captured_and_mapped(rng, name):
    function, shape = SMOOTH[name]
    xs = rng.standard_normal((3, *shape))
    expected = np.stack([function(x).numpy() for x in xs])
    close = {"rtol": 1e-9, "atol": 1e-9}
    captured = ng.jit(function)
    np.testing.assert_allclose(np.stack([captured(x) for x in xs]), expected, **close)
    np.testing.assert_allclose(ng.func.vmap(function)(xs), expected, **close)
    slope = ng.func.jacrev(lambda x: function(x).sum())
    np.testing.assert_allclose(ng.jit(slope)(xs[0]), slope(xs[0]), **close)


def test_logarithms_and_roots(rng):
    x = rng.standard_normal((2, 3, 3)) / 4 + 2 * np.eye(3)
    for function in (ng.linalg.logm, ng.linalg.sqrtm):
        check_derivatives(function, x, rng, 1e-5)
    for n in range(3):
        parts = [x[0], x[1], rng.standard_normal((3, 3))]
        function = lambda t: ng.linalg.solve_sylvester(*parts[:n], t, *parts[n + 1 :])  # noqa: B023, E731
        check_derivatives(function, parts[n], rng, 1e-5)


def test_third_derivative_of_expm_at_zero(rng):
    u, v, w = rng.standard_normal((3, 2, 2))
    x, seed = ng.tensor(np.zeros((2, 2)), requires_grad=True), rng.standard_normal((2, 2))
    value = (ng.linalg.expm(x) * seed).sum()
    for direction in (u, v):
        (slope,) = ng.grad(value, x, create_graph=True)
        value = (slope * direction).sum()
    products = [a @ b @ c for a in (u, v, w) for b in (u, v, w) for c in (u, v, w)
                if a is not b is not c is not a]  # fmt: skip
    expected = (sum(products) * seed).sum() / 6
    np.testing.assert_allclose((ng.grad(value, x)[0].numpy() * w).sum(), expected, 1e-9)


def test_a_large_cotangent_does_not_cost_expm_its_digits(rng):
    x, g = rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    expected = gradient(ng.linalg.expm, x, g)
    np.testing.assert_allclose(gradient(ng.linalg.expm, x, 1e12 * g), 1e12 * expected, 1e-12)


# Equal values -------------------------------------------------------------------------------------


def along(function, x, direction, step=1e-5):
    """Return the slope of a number in a direction by central differences."""
    ends = [float(function(ng.tensor(x + sign * step * direction))) for sign in (1, -1)]
    return (ends[0] - ends[1]) / (2 * step)


def rank_one(x):
    u, s, vh = ng.linalg.svd(x)
    return (u[:, :1] * s[:1]) @ vh[:1]


FINITE = {
    "values": (lambda x, w: (ng.linalg.eigvalsh(x) ** 3).sum(), PAIR),
    "values-of-eigh": (lambda x, w: ng.exp(ng.linalg.eigh(x)[0]).sum(), EYE),
    "projector": (lambda x, w: (w * (lambda v: v @ v.T)(ng.linalg.eigh(x)[1][:, :2])).sum(), PAIR),
    "others": (lambda x, w: (lambda k, v: k[3] * v[:, 3] @ w @ v[:, 3])(*ng.linalg.eigh(x)), PAIR),
    "general": (lambda x, w: ng.real((ng.linalg.eigvals(x) ** 2).sum()), PAIR),
    "polar": (lambda x, w: (w * polar(x)).sum(), TURN),
    "nuclear": (lambda x, w: ng.linalg.norm(x, "nuc"), TURN),
    "pinv": (lambda x, w: (w * ng.linalg.pinv(x)).sum(), EYE),
    "low-rank": (lambda x, w: (w * rank_one(x)).sum(), np.outer(TURN[0], TURN[1])),
}


@pytest.mark.parametrize("name", FINITE)
def test_gradients_that_exist_at_equal_values(rng, name):
    """Functions of the values, and functions that do not depend on the basis of their vectors."""
    function, x = FINITE[name]
    w, t = rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    w, t = (w + w.T, t + t.T)
    found = gradient(lambda x: function(x, w), x)
    expected = along(lambda x: function(x, w), x, t)
    np.testing.assert_allclose((found * t).sum(), expected, 1e-5, 1e-7)


@pytest.mark.parametrize("x", [EYE, PAIR], ids=["same", "rounded"])
def test_what_eigenvectors_cannot_tell_is_not_a_number(rng, x):
    w = rng.standard_normal((4, 4))

    def square(x):
        values, v = ng.linalg.eigh(x)
        return (w * ((v * values**2) @ v.T)).sum()

    def element(x):
        return ng.linalg.eigh(x)[1][0, 0]

    assert np.isnan(gradient(square, x)).any()
    assert np.isnan(ng.func.jacfwd(square)(x)).any()
    if x is PAIR:
        assert np.isnan(gradient(element, x)).any()
    curved = lambda x: (ng.linalg.eigvalsh(x) ** 2).sum()  # noqa: E731
    off = np.zeros((4, 4))
    off[0, 1] = off[1, 0] = 1
    assert np.isnan(second(curved, x, np.array(1.0), off)).any()


def test_second_derivatives_that_need_no_vectors(rng):
    function = lambda x: (ng.linalg.expm(x) ** 2).sum()  # noqa: E731
    check_derivatives(function, PAIR / 5, rng, 1e-5)
    assert not second(lambda x: ng.linalg.eigvalsh(x).sum(), PAIR, np.array(1.0), EYE).any()


@pytest.mark.parametrize("name", ["eig", "eigvals"])
def test_missing_eigenvectors_are_refused(name):
    x = ng.tensor([[1.0, 1.0], [0.0, 1.0]], requires_grad=True)
    found = getattr(ng.linalg, name)(x)
    values = found if name == "eigvals" else found.eigenvalues
    np.testing.assert_array_equal(values.detach().numpy(), [1, 1])
    for call in (lambda: ng.grad(ng.real(values).sum(), x), lambda: ng.jit(ng.func.jacfwd(
        lambda x: ng.real(getattr(ng.linalg, name)(x)[0])))(x.detach().numpy())):  # fmt: skip
        with pytest.raises(np.linalg.LinAlgError, match=f"^{name}: .*singular"):
            call()


@pytest.mark.filterwarnings("ignore:Matrix is singular")
def test_slopes_that_are_infinite_are_refused():
    x = ng.tensor(np.zeros((2, 2)), requires_grad=True)
    with pytest.raises(np.linalg.LinAlgError, match=r"^sqrtm: an eigenvalue .* negative"):
        ng.grad(ng.linalg.sqrtm(x).sum(), x)


def by_factors(x):
    """The pseudo-inverse of a matrix of full rank, by a way that takes no differences."""
    if x.shape[0] < x.shape[1]:
        return by_factors(x.T).T
    q, r = ng.linalg.qr(x)
    return ng.linalg.solve(r, q.T)


@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6)])
@pytest.mark.parametrize("name", ["pinv", "lstsq"])
def test_second_derivatives_of_full_ranks_keep_their_digits(rng, name, shape):
    """What is zero there must not come as rounding: it grows with the square of the condition."""
    u, s, vh = np.linalg.svd(rng.standard_normal(shape), full_matrices=False)
    x = u * np.geomspace(1.0, 1e-5, len(s)) @ vh
    function = ng.linalg.pinv
    if name == "lstsq":
        function = lambda x: ng.linalg.lstsq(x, np.eye(shape[0]), rcond=None)[0]  # noqa: E731
    v, t = rng.standard_normal(shape[::-1]), rng.standard_normal(shape)
    found, expected = (second(f, x, v, t) for f in (function, by_factors))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


# Second derivatives of what is simple beside what is degenerate -----------------------------------

RING = 2 * np.eye(6) - np.roll(np.eye(6), 1, 0) - np.roll(np.eye(6), -1, 0)  # values 0 1 1 3 3 4
LEFT, RIGHT = (np.linalg.qr(np.random.default_rng(n).standard_normal((6, 6)))[0] for n in (1, 2))
SIZES = (LEFT * np.array([5.0, 3.0, 3.0, 1.0, 1.0, 0.5])) @ RIGHT
TALL = (LEFT[:, :4] * np.array([5.0, 3.0, 3.0, 1.0])) @ RIGHT[:4, :4]
GENERAL = (lambda v: v @ np.diag([1.0, 2.0, 2.0, 3.0, 3.0, 6.0]) @ np.linalg.inv(v))(
    np.eye(6) + 0.3 * np.random.default_rng(3).standard_normal((6, 6))
)

SIMPLE = {
    "lowest": (lambda x: ng.linalg.eigvalsh(hermitian(x))[0], RING),
    "lowest, with vectors": (lambda x: ng.linalg.eigh(hermitian(x))[0][0], RING),
    "functions of values": (
        lambda x: ng.log(ng.linalg.eigvalsh(hermitian(x))[0]) * ng.linalg.eigvalsh(hermitian(x))[5],
        RING + np.eye(6),
    ),
    "generalized": (lambda x: ng.linalg.eigvalsh(hermitian(x), b=2 * np.eye(6))[0] ** 2, RING),
    "with another use": (lambda x: ng.linalg.eigvalsh(hermitian(x))[5] ** 2 / ng.trace(x), RING),
    "svdvals": (lambda x: ng.linalg.svdvals(x)[0] ** 2, SIZES),
    "smallest": (lambda x: ng.linalg.svdvals(x)[5], SIZES),
    "svd": (lambda x: ng.linalg.svd(x, full_matrices=False)[1][0], TALL),
    "norm 2": (lambda x: ng.linalg.norm(x, 2) ** 2, TALL),
    "norm -2": (lambda x: ng.linalg.norm(x, -2), SIZES),
    "nuclear norm": (lambda x: ng.linalg.norm(x, "nuc"), TALL),
    "cond": (ng.linalg.cond, SIZES),
    "lstsq": (lambda x: ng.linalg.lstsq(x, np.ones(6))[3][0], TALL),
    "eigvals": (lambda x: ng.max(ng.real(ng.linalg.eigvals(x))), GENERAL),
    "eig": (lambda x: ng.max(ng.real(ng.linalg.eig(x)[0])), GENERAL),
}

SYMMETRIC = {  # in equal values, which have no part in their cotangents
    "sum of a pair": (lambda x: ng.linalg.eigvalsh(hermitian(x))[1:3].sum(), RING),
    "sum of a pair of sizes": (lambda x: ng.linalg.svdvals(x)[1:3].sum(), SIZES),
}

MODES = {
    "forward over reverse": ng.func.hessian,
    "reverse over reverse": lambda f: ng.func.jacrev(ng.func.grad(f)),
    "forward over a gradient": lambda f: ng.func.jacfwd(ng.func.grad(f)),
    "captured": lambda f: ng.jit(ng.func.hessian(f)),
    "mapped": lambda f: lambda x: ng.func.vmap(ng.func.hessian(f))(np.stack([x, x]))[1],
}


def hessian_by_differences(function, x, step=1e-4):
    slope, columns = ng.func.grad(function), []
    for unit in np.eye(x.size).reshape(x.size, *x.shape):
        columns.append((slope(x + step * unit) - slope(x - step * unit)) / (2 * step))
    return np.moveaxis(np.reshape(columns, x.shape * 2), (0, 1), (2, 3))


@pytest.mark.parametrize("name", [*SIMPLE, *SYMMETRIC])
def test_second_derivatives_of_what_is_simple_beside_what_is_degenerate(name):
    """They are those of the differences of gradients, in every mode."""
    function, x = {**SIMPLE, **SYMMETRIC}[name]
    expected = hessian_by_differences(function, x)
    for mode, of in MODES.items():
        found = of(function)(x)
        close = {"rtol": 1e-5, "atol": 1e-6 * np.abs(expected).max(), "err_msg": mode}
        np.testing.assert_allclose(found, expected, **close)


def test_the_lowest_value_of_a_ring_by_perturbation_theory(rng):
    """The second derivative along a symmetric E is 2 sum_k (v_k E v_0)**2 / (w_0 - w_k)."""
    w, v = np.linalg.eigh(RING)
    e = hermitian(rng.standard_normal((6, 6)))
    expected = 2 * sum((v[:, k] @ e @ v[:, 0]) ** 2 / (w[0] - w[k]) for k in range(1, 6))
    lowest = lambda x: ng.linalg.eigvalsh(x)[0]  # noqa: E731
    for product in (ng.func.hvp, ng.func.vhp):
        (found,) = product(lowest, (RING,), (e,))[1]
        np.testing.assert_allclose((found * e).sum(), expected, 1e-10)
    along = lambda t: lowest(RING + t * e)  # noqa: E731
    for second_of in (ng.func.hessian, lambda f: ng.func.jacfwd(ng.func.jacfwd(f)),
                      lambda f: ng.func.jacrev(ng.func.jacfwd(f))):  # fmt: skip
        np.testing.assert_allclose(second_of(along)(np.array(0.0)), expected, 1e-10)


CREASED = {
    "one of a pair": (lambda x: ng.linalg.eigvalsh(hermitian(x))[0], 2 * np.eye(2)),
    "norm 2 of equal sizes": (lambda x: ng.linalg.norm(x, 2), np.array([[0.0, 3.0], [3.0, 0.0]])),
    "norm 2 at 0": (lambda x: ng.linalg.norm(x, 2) ** 2, np.zeros((2, 2))),
    "norm -2 of a singular matrix": (lambda x: ng.linalg.norm(x, -2), np.diag([2.0, 0.0])),
    "nuclear norm of a singular matrix": (lambda x: ng.linalg.norm(x, "nuc"), np.diag([2.0, 0.0])),
    "nuclear norm at 0": (lambda x: ng.linalg.norm(x, "nuc") ** 2, np.zeros((2, 3))),
    "cond of equal sizes": (ng.linalg.cond, np.eye(2)),
}


@pytest.mark.parametrize("name", CREASED)
def test_second_derivatives_at_creases_are_nan(name):
    function, x = CREASED[name]
    assert np.isfinite(ng.func.grad(function)(x)).all()
    for mode, of in MODES.items():
        assert np.isnan(of(function)(x)).all(), mode


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: (ng.linalg.eigvalsh(hermitian(x)) ** 2).sum(), np.zeros((2, 2))),
        (lambda x: (ng.linalg.svdvals(x) ** 2).sum(), np.zeros((2, 2))),
        (lambda x: (ng.linalg.svdvals(x) ** 2).sum(), np.diag([2.0, 0.0, 0.0])[:, :2]),
        (lambda x: ng.linalg.eigvalsh(hermitian(x)) @ ng.linalg.eigvalsh(x), np.zeros((2, 2))),
    ],
)
def test_a_cotangent_that_is_zero_here_is_not_taken_for_constant(function, x):
    """All are the sum of squares of elements; what is not NaN is its second derivative."""
    expected = 2 * np.eye(x.size).reshape(x.shape * 2)
    symmetric = (expected + np.swapaxes(expected, 2, 3)) / 2 if x.shape == (2, 2) else expected
    for mode, of in MODES.items():
        found = of(function)(x)
        right = [np.abs(found - each) < 1e-9 for each in (expected, symmetric)]
        assert (np.isnan(found) | right[0] | right[1]).all(), mode
        assert np.isnan(found).any(), mode


def test_a_solution_and_its_gradient_take_one_decomposition(monkeypatch):
    calls = []
    for name in ("svd", "lstsq"):
        function = getattr(np.linalg, name)
        counted = lambda *args, function=function, **options: (  # noqa: E731
            calls.append(function), function(*args, **options))[1]  # fmt: skip
        monkeypatch.setattr(np.linalg, name, counted)
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((7, 3)), rng.standard_normal(7)
    leaves = ng.tensor(a, requires_grad=True), ng.tensor(b, requires_grad=True)
    ng.grad(ng.linalg.lstsq(*leaves)[0].sum(), leaves)
    assert len(calls) == 1


@pytest.mark.parametrize("rcond", [None, -1.0, 0.5])
@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_solutions_are_those_of_numpy_whether_or_not_there_are_gradients(dtype, shape, rcond):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal(shape), rng.standard_normal((shape[0], 2))
    if dtype == "c16":
        a = a + 1j * rng.standard_normal(shape)
    a, b = a.astype(dtype), b.astype(dtype)
    wanted = np.linalg.lstsq(a, b, rcond)
    for follows in (False, True):
        found = ng.linalg.lstsq(ng.tensor(a, requires_grad=follows), b, rcond)
        for one, other in zip(found, wanted, strict=True):
            close = 1e-4 if dtype == "f4" else 1e-12
            np.testing.assert_allclose(one.detach().numpy(), other, rtol=close, atol=close)
