"""SciPy's own functions on tensors while they are replaced, and as they were afterwards."""

import functools
import os
import pickle
import subprocess
import sys
import warnings
from contextlib import nullcontext
from importlib import import_module

import numpy as np
import pytest
from scipy import (
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    sparse,
    special,
    stats,
)  # fmt: skip
from scipy.linalg import cho_factor, cho_solve, expm, solve_triangular
from scipy.spatial import distance
from scipy.special import expit, gammaln, logsumexp, softmax, xlogy
from scipy.stats import norm

import numgrad as ng
from numgrad.interop.patching import counterparts
from numgrad.interop.patching.arrival import HOMES, NAMESPACES

from .differences import agree, derivative

patch = ng.interop.scipy.patch
RNG = np.random.default_rng(5)
MATRIX = RNG.normal(size=(4, 4))
POSITIVE = MATRIX @ MATRIX.T + 4.0 * np.eye(4)
VECTOR, P = RNG.normal(size=4), RNG.uniform(0.2, 2.0, 5)
SQUARE = ng.tensor(POSITIVE)
SECTIONS = signal.butter(3, 0.3, output="sos")

def banded(p):
    kind = ng.sparse if isinstance(p, ng.Tensor) else sparse
    return kind.diags_array([p + 4.0, np.ones(4)], offsets=[0, 1]).tocsc()


PROGRAMS = {
    "special": lambda p: logsumexp(p, b=np.arange(1.0, 6.0)) + softmax(p)[0] + gammaln(p).sum(),
    "more": lambda p: (expit(p) * xlogy(p, np.ones(5) * 2.0)).sum() + special.log_softmax(p)[1],
    "triangle": lambda p: solve_triangular(np.eye(5) + np.diag(p), np.ones(5))[2],
    "cholesky": lambda p: cho_solve(cho_factor(np.eye(5) + np.outer(p, p)), np.arange(5.0)).sum(),
    "upper": lambda p: linalg.cholesky(np.eye(5) + np.outer(p, p))[0, 3],
    "exponential": lambda p: expm(p[:4].reshape(2, 2))[0, 1],
    "density": lambda p: norm.logpdf(p, loc=p[0], scale=2.0).sum() + stats.gamma(p[1]).pdf(0.3),
    "counts": lambda p: stats.poisson.logpmf(np.arange(5), p).sum(),
    "vectors": lambda p: stats.multivariate_normal.logpdf(
        np.ones(2), np.zeros(2), np.diag(p[:2] + 1.0)
    ) + stats.multivariate_t.logpdf(np.ones(2), p[:2], np.eye(2), p[2]),
    "sums": lambda p: integrate.cumulative_trapezoid(p, x=np.arange(5.0) ** 2)[-2]
    + integrate.simpson(p) + integrate.trapezoid(p, dx=0.1),
    "transforms": lambda p: abs(fft.fft(p, n=8)[1]) ** 2 + fft.dct(p)[1]
    + fft.irfft(fft.rfft(p))[0] + signal.convolve(p, np.ones(3), mode="same")[1],
    "integral": lambda p: integrate.quad(lambda x: np.exp(-x * p[0]), 0.0, p[1])[0],
    "root": lambda p: optimize.brentq(lambda x: x**2 - p[0], 0.0, 4.0)
    + optimize.fsolve(lambda x, a: x**3 - a, [1.0], args=(p[1],), xtol=1e-13)[0],
    "flow": lambda p: integrate.solve_ivp(
        lambda t, y, k: [-k * y[0] + special.log1p(y[1]), -logsumexp(y)],
        (0.0, 1.0), [p[0], 1.0], "DOP853", [0.5, 1.0], args=(p[1],), rtol=1e-10, atol=1e-10,
    ).y[0, 1],
    "filters": lambda p: signal.lfilter(p[:2], p[2:4] + 1.0, np.arange(4.0))[3]
    + signal.welch(p, nperseg=4)[1].sum() + signal.sosfiltfilt(SECTIONS, p, padlen=2)[1],
    "distances": lambda p: distance.cdist(p[:4].reshape(2, 2), np.ones((3, 2))).sum()
    + ndimage.map_coordinates(p, np.array([[0.5, 2.25]]), order=1).sum(),
    "sparse": lambda p: sparse.linalg.spsolve(sparse.eye_array(5, format="csc") * 2.0, p).sum(),
    "factors": lambda p: sparse.linalg.splu(banded(p)).solve(np.ones(5)).sum()
    + sparse.linalg.factorized(banded(p))(p)[1],
    "eigenvalues": lambda p: sparse.linalg.eigsh(banded(p) @ banded(p).T, k=1)[0][0],
    "splines": lambda p: interpolate.CubicSpline(np.arange(5.0), p)(1.3)
    + interpolate.make_interp_spline(np.arange(5.0), p)(2.2)
    + interpolate.CubicSpline(np.arange(5.0), np.arange(5.0) ** 2)(p[0]),
}  # fmt: skip


@pytest.mark.parametrize("kept", [nullcontext, patch], ids=["auto", "patch"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_programs_written_for_scipy(name, kept):
    f = PROGRAMS[name]
    with kept():
        y, gradient = ng.func.value_and_grad(lambda p: ng.asarray(f(p)))(P)
    plain = lambda p: np.asarray(f(p))  # noqa: E731  without tensors, SciPy's
    np.testing.assert_allclose(y, plain(P), rtol=1e-9)
    agree(gradient, derivative(plain, P), 1e-7)


CALLS = {
    "eigh_tridiagonal": (VECTOR, VECTOR[:3]), "eigvalsh_tridiagonal": (VECTOR, VECTOR[:3]),
    "solve": (POSITIVE, VECTOR), "lstsq": (MATRIX[:, :2], VECTOR),
    "solve_triangular": (np.triu(MATRIX) + 3.0 * np.eye(4), VECTOR),
    "solve_banded": ((1, 1), MATRIX[:3] + 5.0, VECTOR), "solve_circulant": (VECTOR, VECTOR),
    "solveh_banded": (np.array([np.full(4, 0.1), np.full(4, 4.0)]), VECTOR),
    "solve_continuous_lyapunov": (MATRIX, POSITIVE), "solve_sylvester": (MATRIX, POSITIVE, MATRIX),
    "solve_toeplitz": (np.array([9.0, 1.0, 0.3, 0.2]), VECTOR), "comb": (5, 2), "perm": (5, 2),
    "hankel": (VECTOR,), "circulant": (VECTOR,), "toeplitz": (VECTOR,), "polygamma": (1, P),
    "block_diag": (MATRIX, POSITIVE), "spherical_in": (1, P), "spherical_jn": (1, P),
    "spherical_kn": (1, P), "spherical_yn": (1, P), "zeta": (P + 2.0,), "lambertw": (P,),
    "multigammaln": (5.0, 2), "convolve2d": (MATRIX, POSITIVE), "correlate2d": (MATRIX, POSITIVE),
    "convolve": (VECTOR, P), "correlate": (VECTOR, P), "fftconvolve": (VECTOR, P),
    "oaconvolve": (VECTOR, P), "solve_discrete_lyapunov": (MATRIX, POSITIVE),
    "lfilter": (VECTOR, VECTOR + 3.0, P), "lfilter_zi": (VECTOR, VECTOR + 3.0),
    "filtfilt": (P[:2], P[2:4] + 1.0, np.arange(20.0)), "sosfilt": (SECTIONS, P),
    "sosfilt_zi": (SECTIONS,), "sosfiltfilt": (SECTIONS, np.arange(20.0)),
    "savgol_filter": (P, 3, 1), "welch": (P, 2.0, "hann", 4), "cdist": (MATRIX, POSITIVE),
    "pdist": (MATRIX,), "squareform": (VECTOR[:3],),
    "coherence": (P, P**2, 1.0, "hann", 4), "csd": (P, P + 1.0, 1.0, "hann", 4),
    "romb": (MATRIX[:3, :3],), "fixed_quad": (np.cos, 0.0, 1.0),
    "griddata": (VECTOR, VECTOR, VECTOR[1:3]),
    "interpn": ((np.arange(4.0),), VECTOR, np.array([0.5])), "medfilt2d": (MATRIX,),
    "splrep": (np.arange(4.0), VECTOR), "factorial": (P,),
    **dict.fromkeys(
        ("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean",
         "hamming", "jensenshannon", "minkowski", "sqeuclidean"),
        (VECTOR, VECTOR[::-1] + 0.5),
    ),
    "mahalanobis": (VECTOR, VECTOR[::-1], POSITIVE), "seuclidean": (VECTOR, P[:4], VECTOR**2 + 1.0),
    "lombscargle": (VECTOR, VECTOR, VECTOR + 9.0),
    "istft": (MATRIX[:3],), "fractional_matrix_power": (POSITIVE, 0.5),
    "solve_continuous_are": (MATRIX, MATRIX[:, :2], POSITIVE, np.eye(2)),
    "solve_discrete_are": (MATRIX, MATRIX[:, :2], POSITIVE, np.eye(2)),
    "decimate": (np.arange(40.0), 2), "resample_poly": (P, 2, 3), "upfirdn": (VECTOR, P),
    "stft": (P, 1.0, "hann", 4), "spectrogram": (P, 1.0, "hann", 4),
    "fftfreq": (4, np.float64(0.2)), "rfftfreq": (4, np.float64(0.2)),
}  # fmt: skip
SOLVERS = {"splev", "splint", "spsolve", "splu", "factorized", "eigsh", "make_interp_spline"}
OF_IMAGES = {
    "convolve": (MATRIX, MATRIX[:2, :3]), "correlate": (MATRIX, MATRIX[:2, :3]),
    "convolve1d": (MATRIX, VECTOR), "correlate1d": (MATRIX, VECTOR),
    "gaussian_filter": (MATRIX, 1.0), "gaussian_filter1d": (MATRIX, 1.0),
    "gaussian_gradient_magnitude": (MATRIX, 1.0), "gaussian_laplace": (MATRIX, 1.0),
    "uniform_filter1d": (MATRIX, 3), "maximum_filter": (MATRIX, 3), "median_filter": (MATRIX, 3),
    "maximum_filter1d": (MATRIX, 3), "minimum_filter1d": (MATRIX, 3), "minimum_filter": (MATRIX, 3),
    "percentile_filter": (MATRIX, 30, 3), "rank_filter": (MATRIX, 1, 3),
}  # fmt: skip
ELSEWHERE = {
    "cho_factor", "cho_solve", "lu_solve", "map_coordinates", "next_fast_len", "affine_transform",
    "rotate", "shift", "zoom", *counterparts.MATRICES,
}  # fmt: skip


def leaves(value):
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value.numpy() if isinstance(value, ng.Tensor) else np.asarray(value)]


def test_every_function_gives_by_default_what_that_of_scipy_gives():
    names = counterparts.MODULES - {*NAMESPACES, *HOMES}  # which versions of SciPy do not share
    modules = [import_module(name) for name in sorted(names)]
    pairs = [(m, name, getattr(m, name)) for m in modules for name in counterparts.names(m)]
    wrong = []
    for module, name, original in pairs:
        is_solver = name in counterparts.READ_CLOSURES or name in SOLVERS
        if is_solver or name in ELSEWHERE:
            continue
        is_square = module.__name__ in ("scipy.linalg", "scipy.fft")
        args = CALLS.get(name, (POSITIVE if is_square else P,))
        if module is ndimage:
            args = OF_IMAGES.get(name, (MATRIX,))
        expected = leaves(original(*args))
        with patch():
            of_numbers = leaves(getattr(module, name)(*args))
            given = [ng.tensor(x) if isinstance(x, (np.ndarray, float)) else x for x in args]
            found = leaves(getattr(module, name)(*given))
        if not all(map(np.array_equal, of_numbers, expected)):
            wrong.append((name, "arrays"))
        shapes = [x.shape for x in found], [x.shape for x in expected]
        if name == "eigh":  # whose vectors have any sign
            found, expected = ([abs(x) for x in part] for part in (found, expected))
        if shapes[0] != shapes[1] or not all(map(np.allclose, found, expected)):
            wrong.append((name, shapes))
    assert wrong == []


def test_everything_is_put_back(scipy_as_it_is):
    modules = special, linalg, fft, signal, integrate, optimize, interpolate, sparse.linalg, stats
    kinds = (
        stats.rv_continuous, stats.rv_discrete, stats.rv_continuous.__base__,
        interpolate.PPoly, interpolate.PPoly.__base__, interpolate.BSpline, fft._backend,
        interpolate.RegularGridInterpolator, type(stats.dirichlet), sys.modules[__name__],
    )  # fmt: skip
    before = [dict(vars(owner)) for owner in (*modules, *kinds)]
    original = logsumexp
    patched = patch()
    assert logsumexp is not original  # a global name of a module that was loaded before
    assert special.logsumexp is logsumexp
    held = logsumexp
    patched.undo()
    patched.undo()  # does nothing
    assert [dict(vars(owner)) for owner in (*modules, *kinds)] == before
    with pytest.raises(ng.errors.DetachedError):
        held(ng.tensor([1.0], requires_grad=True))
    assert held(np.zeros(2)) == np.log(2.0)
    assert pickle.loads(pickle.dumps(logsumexp)) is original


def test_patches_nest_and_end_with_errors(scipy_as_it_is):
    t = ng.tensor(P, requires_grad=True)
    outer = patch()
    with pytest.raises(ZeroDivisionError), patch():
        raise ZeroDivisionError
    assert isinstance(special.softmax(t), ng.Tensor)
    outer.undo()
    with pytest.raises(ng.errors.DetachedError):
        special.softmax(t)


def test_arrays_are_left_to_scipy():
    with patch():
        assert type(special.softmax(P)) is np.ndarray
        f = interpolate.CubicSpline(np.arange(5.0), P)
        assert isinstance(f, interpolate.CubicSpline)
        found = integrate.quad(lambda x: x, 0.0, 1.0)
    assert type(f) is interpolate.CubicSpline
    assert found == integrate.quad(lambda x: x, 0.0, 1.0)

    class Mine(interpolate.CubicSpline):
        pass

    assert isinstance(Mine(np.arange(5.0), P), Mine)


@pytest.mark.parametrize("kind", ["variable", "partial", "method", "global", "inner"])
def test_tensors_that_a_function_reads_are_found(kind):
    p = ng.tensor(2.0, requires_grad=True)

    class Model:
        def __init__(self):
            self.p = p

        def f(self, x):
            return self.p * x

    def slope(x):
        return p * x

    functions = {
        "variable": lambda x: p * x,
        "partial": functools.partial(lambda p, x: p * x, p),
        "method": Model().f,
        "global": lambda x: SCALE["p"] * x,
        "inner": lambda x: slope(x),
    }
    SCALE["p"] = p
    with patch():
        y, _ = integrate.quad(functions[kind], 0.0, 1.0)
        assert ng.grad(y, p)[0].item() == 0.5
        x = optimize.fsolve(lambda x: x * x - p, [1.0])
        np.testing.assert_allclose(ng.grad(x[0], p)[0].item(), 0.125**0.5, 1e-7)


SCALE = {}


def test_what_the_counterparts_do_not_take_is_named():
    with patch():
        with pytest.raises(TypeError, match="qr of tensors does not take pivoting="):
            linalg.qr(SQUARE, pivoting=True)
        q, r = linalg.qr(SQUARE, mode="economic")
        np.testing.assert_allclose((q @ r).numpy(), POSITIVE, rtol=1e-10)
        lower = linalg.cholesky(SQUARE, lower=True, check_finite=False)
        np.testing.assert_allclose(lower.numpy(), np.linalg.cholesky(POSITIVE), rtol=1e-10)


MIXED = """
import numpy as np, numgrad as ng
from scipy import signal, special, stats
t = ng.tensor([0.3, 0.6, 0.9], requires_grad=True)
calls = [
    lambda: special.xlogy(t, np.ones(3)),
    lambda: special.logsumexp(t, b=np.ones(3)),
    lambda: signal.fftconvolve(t, np.ones(3)),
    lambda: stats.ttest_ind(t, np.arange(5.0)).statistic,
]
values = [call() for call in calls]
ng.set_flags(scipy="never")
with ng.interop.scipy.patch():
    assert [call().tolist() for call in calls] == [value.tolist() for value in values]
    assert all(value.requires_grad for value in values)
together = [
    lambda: special.xlogy(t, ng.asarray(np.ones(3))),
    lambda: special.logsumexp(t, b=ng.asarray(np.ones(3))),
    lambda: signal.fftconvolve(t, ng.asarray(np.ones(3))),
    lambda: stats.ttest_ind(t, ng.asarray(np.arange(5.0))).statistic,
]
for call, patched in zip(together, values):
    assert np.allclose(call().detach(), patched.detach(), rtol=1e-12)
plain = special.logsumexp(np.arange(3.0), b=np.ones(3))
with ng.interop.scipy.patch():
    assert type(special.logsumexp(np.arange(3.0), b=np.ones(3))) is type(plain)
    with ng.interop.scipy.patch():
        pass
    assert special.xlogy(t, np.ones(3)).requires_grad
for call in calls:
    try:
        call()
    except TypeError as error:
        assert "with both, at <string>" in str(error), str(error)
        assert "write ng.asarray(...) of the arrays or, for SciPy's functions, `with" in str(error)
    else:
        raise AssertionError
print("done")
"""


def test_tensors_and_arrays_together_with_scipys_array_api():
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-c", MIXED], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout.strip() == "done", done.stderr


def test_a_sparse_array_of_a_tensor_is_taken_as_one():
    from scipy.sparse import linalg as sparse_linalg

    t = ng.tensor([2.0, 4.0], requires_grad=True)
    matrix = ng.sparse.coo(t, ([0, 1], [0, 1]))
    with ng.interop.scipy.patch():
        x = sparse_linalg.spsolve(matrix, np.array([1.0, 2.0]))
    np.testing.assert_allclose(ng.grad(x.sum(), t)[0].numpy(), [-0.25, -0.125])


def test_frozen_distributions_have_what_those_of_scipy_have():
    s = ng.tensor(0.5, requires_grad=True)
    with patch():
        frozen = stats.norm(loc=s)
        draw = frozen.rvs(random_state=3)
        number = stats.norm(loc=s.detach())
        assert frozen.args == ()
        assert frozen.kwds["loc"] is s
        assert [end.item() for end in frozen.support()] == [-np.inf, np.inf]
        np.testing.assert_allclose([x.item() for x in number.stats()], [0.5, 1.0])
        with pytest.raises((NotImplementedError, ng.errors.DetachedError)):
            frozen.stats()
        with pytest.raises((NotImplementedError, ng.errors.DetachedError)):
            frozen.expect()
    expected = stats.norm(loc=0.5).rvs(random_state=3)
    assert draw.item() == expected
    assert ng.grad(draw, s)[0].item() == 1.0


def test_functions_of_scipy_are_transformed_themselves():
    x = np.array([0.1, 0.2, 0.7])
    with patch():
        found = [
            (ng.func.grad(special.logsumexp)(x), special.softmax(x)),
            (ng.func.jacobian(special.logsumexp)(x), special.softmax(x)),
            (ng.func.grad(stats.norm.logpdf)(0.5), -0.5),
            (ng.func.vmap(special.logsumexp)(ng.tensor([x, x])), 2 * [special.logsumexp(x)]),
            (ng.jit(special.logsumexp)(ng.tensor(x)), special.logsumexp(x)),
        ]
    for own, expected in found:
        np.testing.assert_allclose(own, expected, rtol=1e-6)


@pytest.mark.parametrize("format", ["csc", "csr"])
def test_factors_of_a_constant_matrix_take_tensors(format):  # noqa: A002
    matrix = sparse.csc_array(POSITIVE).asformat(format)
    t, lu = ng.tensor(VECTOR, requires_grad=True), sparse.linalg.splu(sparse.csc_array(matrix))
    with warnings.catch_warnings(), patch():
        warnings.simplefilter("ignore", sparse.SparseEfficiencyWarning)  # of csr
        factors, solve = sparse.linalg.splu(matrix), sparse.linalg.factorized(matrix)
        assert np.array_equal(factors.solve(VECTOR), lu.solve(VECTOR))
        assert np.array_equal(solve(VECTOR), lu.solve(VECTOR))
        assert factors.nnz == lu.nnz
        matrix.data[:] = 0.0  # factors are of the numbers that were there
        for u, of in ((factors.solve(t, "T"), "T"), (solve(t), "N")):
            np.testing.assert_allclose(u.detach(), lu.solve(VECTOR, of), rtol=1e-12)
            gradient = lu.solve(np.ones(4), "N" if of == "T" else "T")
            np.testing.assert_allclose(ng.grad(u.sum(), t)[0], gradient, rtol=1e-12)


def test_sparse_arrays_of_both_libraries_are_put_together():
    t, identity = ng.tensor([2.0, 4.0], requires_grad=True), sparse.eye(2)
    calls = {
        "kron": lambda d: sparse.kron(identity, d),
        "hstack": lambda d: sparse.hstack([d, identity]),
        "bmat": lambda d: sparse.bmat([[d, None], [None, identity]]),
        "block_diag": lambda d: sparse.block_diag([identity, d]),
        "triu": lambda d: sparse.triu(d),
        "vstack": lambda d: sparse.vstack([d, identity]),
    }  # fmt: skip
    for name, call in calls.items():
        with patch():
            made = call(sparse.diags(t))
        expected = call(sparse.diags(t.detach().numpy())).toarray()
        assert np.array_equal(made.toarray().detach(), expected), name
        count = 2.0 if name == "kron" else 1.0
        assert ng.grad(made.sum(), t)[0].tolist() == [count, count], name
