"""What errors advise instead of functions of other libraries: each advice is carried out."""

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg

import numgrad as ng
from numgrad.engine.capture.rewriting import fits, rewritten
from numgrad.errors import DetachedError
from numgrad.names.calls import CALLS
from numgrad.names.counterparts import NAMESPACES, OTHERS, TEXTS, counterpart
from tests.sampling import one_in

HEAD = """
import cmath, dataclasses, math, statistics
import numpy as np
import scipy.fft, scipy.integrate, scipy.interpolate, scipy.optimize, scipy.signal
import scipy.sparse.linalg
import scipy.spatial.transform
import scipy.special as sp
from scipy import linalg as la, stats
from scipy.interpolate import interp1d
from scipy.stats import norm
import numgrad as ng

X = np.array([0.0, 1.0, 2.0])
P = np.array([0.0, 1.0, 2.5, 4.0, 5.0])
KIND = "cubic"
B = np.diag([1.0, 2.0, 4.0, 8.0])
A = np.array([[2.0, 0.3], [0.3, 1.0]])
S = scipy.sparse.csc_array(A)
DECAY = dict(rtol=1e-9, atol=1e-9)

def rate(s, y, t):
    return -t * y

@dataclasses.dataclass
class Point:
    x: float
    y: float

def program(t):
    rng = np.random.default_rng(0)
    return {}
"""
PROGRAMS = {
    "numpy": """
        np.array([t, t * t]); np.array(t * X); np.asarray(t); np.diag([t, t]); np.sum([t, 2 * t])
        np.dot([t, 1.0], [1.0, t]); np.exp([t, 1.0]); np.full(3, t); np.full_like(X, t)
        np.r_[t, 1.0]; np.c_[[t, t], [1.0, 2.0]]; np.vectorize(lambda a: a * a)(t * X)
        np.sum(X, initial=t); np.nan_to_num(X * np.nan, nan=t); np.mean([t, 1.0])
        np.maximum([t, 0.1], 0.2); np.fromiter((t * k for k in range(3)), float)
        np.interp(0.3, [0.0, 1.0], [t, 2.0]); np.polyval([t, 1.0], 2.0); np.cumsum([t, t])
        np.where([True, False], [t, 1.0], 0.5); np.concatenate([[t], [1.0]])
        np.add.reduce([t, t * t])
    """,
    "numpy.linalg": "np.linalg.norm([t, 1.0]); np.linalg.inv([[t, 0.3], [0.3, 1.0]])",
    "numpy.fft": "np.fft.fft([t, 1.0]).real",
    "numpy.polynomial": "np.polynomial.polynomial.polyval(2.0, [t, 1.0])",
    "numpy.random": "(np.random.seed(0), np.random.normal(t, 2.0))[1]",
    "numpy.ma": """
        np.ma.sum([t, 2 * t]); np.ma.mean(t * X); np.ma.average(t * X, weights=X + t)
        np.ma.std(t * X)
    """,
    "statistics": """
        statistics.mean([t, t * t]); statistics.fmean([t, t * t])
        statistics.fmean([t, 2.0], [t, 1.0])
        statistics.geometric_mean([t, 2.0]); statistics.harmonic_mean([t, 2.0])
        statistics.harmonic_mean([t, 2.0], [t, 1.0])
        statistics.stdev([t, 2.0, t * t]); statistics.stdev([t, 2.0, t * t], 0.9)
        statistics.pstdev([t, 2.0]); statistics.pstdev([t, 2.0], 0.9); statistics.variance([t, 2.0])
        statistics.variance([t, 2.0], 0.9); statistics.pvariance([t, 2.0], mu=0.9)
        statistics.pvariance([t, 2.0]); statistics.covariance([t, 2.0], [t, 1.0])
        statistics.correlation([t, 2.0, 1.0], [t, 1.0, 2.0])
        statistics.linear_regression([0.0, 1.0, 3.0], [t, 1.0, 2.0])
    """,
    "math": """
        math.exp(t); math.gamma(t); math.hypot(t, 1.0); math.pow(t, 2); 2 * math.log(t, 3.0) ** 2
        1.0 / math.log(2.0, t); math.log(t); math.hypot(t, 1.0, 2.0 * t); math.hypot(*[t, 2.0])
        math.remainder(2 * t + 1, 0.3); math.hypot(t); 3.0 * math.isclose(t, 0.7, rel_tol=1e-3)
    """,
    "cmath": """
        cmath.exp(t).real; cmath.sqrt(t).real; cmath.sqrt(-t).imag; cmath.log(t - 2.0).real
        cmath.log(t - 2.0, 2 + t).imag; cmath.log10(-t).imag + cmath.log10(2.0).real
        cmath.acos(1 + t).imag; cmath.asin(1 + t).imag; cmath.acosh(t).imag; cmath.atanh(1 + t).real
        cmath.polar(t + 1j)[1]; cmath.rect(t, 2 * t).imag
    """,
    "scipy.special": """
        sp.logsumexp(t * X); sp.softmax(t * X)[0]; sp.gammaln([t, 2.0]); sp.xlogy([t], 2.0)
    """,
    "scipy.linalg": """
        la.expm(t * A); la.solve_triangular(A, [t, 1.0]); la.inv(t * A)
        la.cho_factor(t * A)[0][0, 0]; la.solve(A, [t, 1.0]); la.solve(t * A, np.ones(2))
        la.det(t * A); la.norm([t, 2.0]); la.block_diag(t, 1.0); la.logm(t * A)
    """,
    "scipy.stats": """
        stats.norm.logpdf(t * X); norm.logpdf(X, t, 1.0); stats.norm(t, 2.0).logpdf(X)
        stats.norm.cdf(t); stats.gamma.logpdf(t, 2.0); stats.poisson.logpmf(2, t)
        stats.multivariate_normal.logpdf([1.0, 2.0], [t, t], A)
        stats.multivariate_normal([t, t], A).logpdf([1.0, 2.0])
        stats.linregress([0.0, 1.0, 3.0], [t, 1.0, 2.0])[:2]
    """,
    "scipy.fft": "scipy.fft.fft(t * X).real; scipy.fft.dct(t * X)",
    "scipy.signal": """
        scipy.signal.fftconvolve(t * X, X); scipy.signal.convolve(t * X, X)
        scipy.signal.lfilter([t], [1.0, -t], X)
    """,
    "scipy.integrate": """
        scipy.integrate.solve_ivp(rate, (0, 1), [1.0], args=(t,), **DECAY).y[0, -1]
        scipy.integrate.odeint(lambda y, s, t: -t * y, 1.0, [0.0, 1.0], (t,), **DECAY)[-1, 0]
        scipy.integrate.quad_vec(lambda x: t * x * X, 0, 1)[0]
        scipy.integrate.dblquad(lambda y, x: t * x * y, 0, 1, 0, 1)[0]
        scipy.integrate.quad(lambda x: t * x, 0, 1)[0]; scipy.integrate.trapezoid(t * X)
    """,
    "scipy.optimize": """
        scipy.optimize.root(lambda x, t: x * x - t, 0.5, (t,)).x
        scipy.optimize.minimize(lambda x, t: ((x - t) ** 2).sum(), [0.5], (t,)).x
        scipy.optimize.least_squares(lambda x, t: x - t, [0.5], args=(t,)).x
        scipy.optimize.brentq(lambda x: x * x - t, 0.0, 2.0, xtol=1e-14)
        scipy.optimize.brenth(lambda x: x * x - t, 0.0, 2.0, xtol=1e-14)
        scipy.optimize.bisect(lambda x: x * x - t, 0.0, 2.0, xtol=1e-14)
        scipy.optimize.ridder(lambda x: x * x - t, 0.0, 2.0, xtol=1e-14)
        scipy.optimize.toms748(lambda x: x * x - t, 0.0, 2.0, xtol=1e-14)
        scipy.optimize.root_scalar(lambda x: x * x - t, bracket=[0.0, 2.0]).root
        scipy.optimize.curve_fit(lambda x, a: a * x, X, 3.0 * t * X)[0]
        scipy.optimize.minimize_scalar(lambda x: (x - t) ** 2).x
        scipy.optimize.nnls(np.eye(3), t * X)[0]
        scipy.optimize.fsolve(lambda x, t: x * x - t, 0.5, (t,), xtol=1e-13)
    """,
    "scipy.interpolate": """
        scipy.interpolate.CubicSpline(X, t * X * X)(0.3)
        scipy.interpolate.PchipInterpolator(X, t * X * X)(0.3)
        scipy.interpolate.RegularGridInterpolator((X,), t * X * X)([0.3])
        scipy.interpolate.splrep(P, t * P**3)[1][:6]; scipy.interpolate.griddata(X, t * X, 0.3)
        scipy.interpolate.RBFInterpolator(P[:, None], t * P)([[0.3]])
        scipy.interpolate.interpn((X,), t * X * X, [0.3])
        scipy.interpolate.interp1d(X, t * X * X)(0.3)
        scipy.interpolate.interp1d(P, t * P**3, KIND)(0.3)
        scipy.interpolate.interp1d(P, t * P**3, kind="cubic")(np.array([0.3, 4.4]))
        scipy.interpolate.interp1d(P, t * np.sin(P), "quadratic")(np.array([0.3, 4.4]))
        scipy.interpolate.interp1d(P, t * np.sin(P), kind=3)(0.3)
        scipy.interpolate.interp1d(P, t * np.outer(X, P * P), "slinear")(np.array([0.3, 4.4]))
        scipy.interpolate.interp1d(P, t * np.outer(P * P, X), "cubic", axis=0)(0.3)
        scipy.interpolate.interp1d(P, t * P, bounds_error=False, fill_value=t)(np.array([0.3, 7.0]))
        interp1d(P, t * P, bounds_error=False, fill_value=(1.0, 2.0))(P - 1.0)
        scipy.interpolate.interp1d(P, t * np.sin(P), fill_value="extrapolate")(P + 1.0)
        scipy.interpolate.interp1d(P, t * np.sin(P), "nearest")(P[1:] - 0.3)
        scipy.interpolate.interp1d(P, t * np.sin(P), "previous")(P[1:] - 0.3)
        scipy.interpolate.interp1d(P, t * np.sin(P), "next")(P[1:] - 0.3)
    """,
    "scipy.spatial.transform": """
        scipy.spatial.transform.Rotation.from_euler("z", t).as_matrix()[0]
    """,
    "scipy.spatial.distance": """
        scipy.spatial.distance.pdist(np.outer(X, X) * t)
        scipy.spatial.distance.cosine(t * X + 1, X)
        scipy.spatial.distance.euclidean([t, 1.0], [0.0, 3.0])
    """,
    "scipy.ndimage": """
        scipy.ndimage.map_coordinates(X * t, [[0.5]]); scipy.ndimage.shift(X * t, 0.3)
        scipy.ndimage.median_filter(X * t, 3)
    """,
    "scipy.sparse.linalg": "scipy.sparse.linalg.spsolve(S, np.array([1.0, 2.0]) * t)",
    "math.lgamma": "math.lgamma(t)",
    "math.fsum": "math.fsum([t, t * t])",
    "math.remainder": "math.remainder(t, 0.3)",
    "math.dist": "math.dist([t], [2.0])",
    "cmath.phase": "cmath.phase(t)",
    "numpy.asarray_chkfinite": "np.asarray_chkfinite([t, 1.0])",
    "numpy.require": "np.require([t, 1.0])",
    "numpy.float64": "np.float64(t)",
    "numpy.float32": "np.float32(t)",
    "numpy.complex128": "np.complex128(t).real",
    "numpy.ndarray": "X.dot(t); X.dot([t, 1.0, t]); X.searchsorted(t) + 0.0",
    "numpy.random.Generator": """
        rng.normal(t, 2.0); rng.normal(scale=t); np.random.RandomState(0).normal(scale=t)
        rng.choice(t * X, 2); rng.permutation(t * X); np.random.RandomState(0).choice(t * X, 2)
        0.0 * rng.choice(4, p=X[[0, 1, 0, 1]] * t / (2 * t))
    """,
    "builtins.float": "float(t); 2 * float(t + 1.0)",
    "builtins.complex": "complex(t).real; complex(2 + t).real; complex(1.0, t * t).imag",
    "scipy.linalg.cholesky": "la.cholesky(t * A)[0, 1]",
    "scipy.linalg.qr": "la.qr(t * A)[1][0, 1]",
    "scipy.integrate.ode": "scipy.integrate.ode(lambda s, y: -t * y).set_initial_value([1.0 * t])",
    "scipy.integrate.RK45": "scipy.integrate.RK45(lambda s, y: -t * y, 0.0, [1.0], 1.0)",
    "scipy.integrate.BDF": "scipy.integrate.BDF(lambda s, y: -t * y, 0.0, [1.0], 1.0)",
    "scipy.integrate.Radau": "scipy.integrate.Radau(lambda s, y: -t * y, 0.0, [1.0], 1.0)",
    "scipy.optimize.approx_fprime": "scipy.optimize.approx_fprime([2.0], lambda x: t * x[0] ** 2)",
    "scipy.sparse.linalg.svds": "scipy.sparse.linalg.svds(t * B, k=2, v0=np.ones(4))[1]",
    "scipy.sparse.linalg.eigs": "scipy.sparse.linalg.eigs(t * B, k=2, v0=np.ones(4))[0].real",
    "scipy.sparse.linalg.eigsh": "scipy.sparse.linalg.eigsh(t * B, k=2, v0=np.ones(4))[0]",
    "scipy.sparse.bsr_array": "scipy.sparse.bsr_array(t * A) @ np.ones(2)",
    "scipy.sparse.bsr_matrix": "scipy.sparse.bsr_matrix(t * A) @ np.ones(2)",
    "scipy.sparse.lil_array": "scipy.sparse.lil_array(t * A) @ np.ones(2)",
    "scipy.sparse.lil_matrix": "scipy.sparse.lil_matrix(t * A) @ np.ones(2)",
    "scipy.sparse.dok_array": "scipy.sparse.dok_array(t * A) @ np.ones(2)",
    "scipy.sparse.dok_matrix": "scipy.sparse.dok_matrix(t * A) @ np.ones(2)",
    "scipy.sparse.dia_array": "scipy.sparse.dia_array((t * X, 0), shape=(3, 3)) @ X",
    "scipy.sparse.dia_matrix": "scipy.sparse.dia_matrix((t * X, 0), shape=(3, 3)) @ X",
    "scipy.sparse.spdiags": "scipy.sparse.spdiags(t * X, 0, 3, 3) @ X",
    "scipy.sparse.csr_matrix": "scipy.sparse.csr_matrix(t * A) @ np.ones(2)",
    "scipy.sparse.csc_matrix": "scipy.sparse.csc_matrix(t * A) @ np.ones(2)",
    "scipy.sparse.coo_matrix": "scipy.sparse.coo_matrix(t * A) @ np.ones(2)",
    "scipy.sparse": """
        scipy.sparse.diags([t * X, [t, 1.0]], [0, 1]) @ np.ones(3); scipy.sparse.diags(t * X) @ X
        scipy.sparse.csr_array(t * A) @ np.ones(2); scipy.sparse.coo_array(t * A) @ np.ones(2)
        scipy.sparse.csc_array(t * A) @ np.ones(2)
        scipy.sparse.csc_array((t * X, [0, 2, 1], [0, 1, 2, 3])) @ X
        scipy.sparse.csr_array((t * X, ([0, 2, 1], [0, 1, 2])), shape=(3, 3), dtype=float) @ X
        scipy.sparse.csr_array((t * X, [0, 2, 1], [0, 1, 2, 3]), (3, 3)) @ X
        scipy.sparse.coo_array((t * X, ([0, 2, 1], [0, 1, 2]))) @ X
        scipy.sparse.diags_array([t * X, X], offsets=[0, 1]) @ X
        scipy.sparse.diags_array(t * X) @ X
    """,
}
_ROOT = "ng.interop.scipy.root(lambda x, t: x * x - t, 0.5, (t,)).x"
CORRECTED = {
    "ng.linalg.cholesky(a, upper=True)": "ng.linalg.cholesky(t * A, upper=True)[0, 1]",
    "ng.linalg.qr(a, mode='complete')": "ng.linalg.qr(t * A, mode='complete')[1][0, 1]",
    "ng.interop.scipy.solve_ivp(f, (t0, t1), y0)": (
        "ng.interop.scipy.solve_ivp(rate, (0, 1), [1.0], args=(t,), **DECAY).y[0, -1]"
    ),
    "ng.interop.scipy.root(f, x0)": _ROOT,
    "ng.interop.scipy.least_squares(residuals, p0)": (
        "ng.interop.scipy.least_squares(lambda a, t: a * X - 3.0 * t * X, [1.0], args=(t,)).x"
    ),
    "ng.interop.scipy.minimize(f, x0)": (
        "ng.interop.scipy.minimize(lambda x, t: ((x - t) ** 2).sum(), [0.5], (t,)).x"
    ),
    "ng.linalg.svd(A, full_matrices=False)": "ng.linalg.svd(t * B, full_matrices=False)[1][1::-1]",
    "ng.linalg.eig(A)": "ng.sort(ng.linalg.eig(t * B)[0].real)[:1:-1]",
    "ng.linalg.eigh(A)": "ng.linalg.eigh(t * B)[0][2:]",
    "ng.func.grad(f)(x)": "ng.func.grad(lambda x: t * x[0] ** 2)(np.array([2.0]))",
    "ng.interop.scipy.make_interp_spline(x, y, k=degree, axis=-1)": (
        "ng.interop.scipy.make_interp_spline(P, t * P**3, k=3)(0.3)"
    ),
    "ng.sparse.diags(diagonals, offsets, shape)": "ng.sparse.diags([t * X], [0], (3, 3)) @ X",
}
"""The same programs as the advice would have them where it has other arguments."""
KNOWN = {
    "ode": "math.exp(-t)", "RK45": "math.exp(-t)", "BDF": "math.exp(-t)", "Radau": "math.exp(-t)",
    "newton": "math.sqrt(t)", "root_scalar": "math.sqrt(t)", "minimize": "t", "float32": "t",
    "minimize_scalar": "t", "approx_fprime": "4.0 * t",
}  # fmt: skip
"""Values of functions that return something else, or are less exact."""


def cases():
    for programs in PROGRAMS.values():
        for program in re.split(r";|\n", programs):
            if program.strip():
                yield pytest.param(program.strip(), id=program.strip())


@pytest.fixture
def run(tmp_path):
    """Return the function of a program, with a source that can be read."""

    def run(program, statement="import numpy as np", line=3):
        path = tmp_path / f"program_{len(list(tmp_path.iterdir()))}.py"
        lines = HEAD.replace("{}", program).split("\n")
        assert lines[line - 1] == "import numpy as np"
        lines[line - 1] = statement
        return written_to(path, "\n".join(lines)).program

    return run


def refused(program, at):
    """Call a program with a tensor and then, as numbers may be asked for, in a transform."""
    program(ng.tensor(at, requires_grad=True))
    ng.func.grad(program)(at)


def advice_of(program, at=0.7):
    """Return what the error says was typed, what to write there, and what cures it elsewhere."""
    with pytest.raises((DetachedError, TypeError, ValueError, SystemError)) as caught:
        refused(program, at)
    error = caught.value
    while error.__cause__ is not None and "write" not in str(error):
        error = error.__cause__
    assert isinstance(error, (DetachedError, ng.errors.ArgTypeError))
    pattern = r"^(.*?) would .*?, at .*?program_\d+.py:\d+ in program: write (.*?)(\. It asks.*)?$"
    typed, written, _ = re.match(pattern, str(error), re.DOTALL).groups()
    elsewhere = re.match(r"((?:import|from) .*?) at line (\d+), or (.*) here$", written, re.DOTALL)
    if elsewhere is not None:
        statement, line, written = elsewhere.groups()
        return typed, written, (statement, int(line))
    written, _, once = written.partition(", or, once, before: ")
    return typed, written.partition(", with the")[0], once


def corrected(program, typed, written):
    if written in CORRECTED:
        return CORRECTED[written]
    text = ast.unparse(ast.parse(program, mode="eval"))
    written = written.rpartition("to print, or ")[2]  # which has no gradient
    if ", for each element i" in written:
        one = written.partition(", for each")[0]
        written = f"(ng.stack([{one}[0] for i in range(3)]), 0.0)"
    written = re.split(", which|, as |, for ", written)[0]
    if written.endswith("(...)"):  # what is long is not shown
        typed, written = typed.partition("(")[0], written.removesuffix("(...)")
    if typed.endswith("(...)"):
        typed = text.removesuffix(" @ X")
    assert typed in text
    return text.replace(typed, written)


def differences(f):
    h = 1e-2
    ends = [f(0.7 + k * h) - f(0.7 - k * h) for k in (1, 2, 3)]
    return (45 * ends[0] - 9 * ends[1] + ends[2]) / (60 * h)


@pytest.mark.parametrize("program", one_in(3, cases()))
def test_what_is_advised_has_the_gradient(program, run):
    typed, written, elsewhere = advice_of(run(program))
    function = run(corrected(program, typed, written))
    weights = np.array([1.0, -0.6, 0.3, 1.7, 0.2, 0.9])

    def total(function, xp):
        def weighted(t):
            made = xp.asarray(function(t)).reshape(-1)
            return (made * weights[: made.size]).sum()

        return weighted

    name = re.match(r"[\w.]*", typed)[0].rpartition(".")[2]
    exact = run(KNOWN.get(name, program))
    wanted = pytest.approx(differences(total(exact, np)), rel=1e-5, abs=1e-9)
    assert ng.func.grad(total(function, ng))(0.7) == wanted
    if isinstance(elsewhere, tuple):
        assert ng.func.grad(total(run(program, *elsewhere), ng))(0.7) == wanted
    elif elsewhere:
        assert elsewhere == "ng.interop.scipy.patch()"
        with eval(elsewhere):
            assert ng.func.grad(total(run(program), ng))(0.7) == wanted
        ng.set_flags(scipy="auto")
        try:
            assert ng.func.grad(total(run(program), ng))(0.7) == wanted
        finally:
            ng.set_flags(scipy="never")


OF_SPARSE_ARRAYS = {
    "scipy.sparse.linalg.cg": "scipy.sparse.linalg.cg(K, np.ones(2), rtol=1e-13)[0]",
    "scipy.sparse.linalg.gmres": "scipy.sparse.linalg.gmres(K, np.ones(2), rtol=1e-13)[0]",
    "scipy.sparse.linalg.bicgstab": "scipy.sparse.linalg.bicgstab(K, np.ones(2), rtol=1e-13)[0]",
    "scipy.sparse.linalg.minres": "scipy.sparse.linalg.minres(K, np.ones(2), rtol=1e-13)[0]",
    "scipy.sparse.linalg.expm": "scipy.sparse.linalg.expm(K).toarray()",
    "scipy.sparse.linalg.spilu": "scipy.sparse.linalg.spilu(K).solve(np.ones(2))",
    "scipy.sparse": "scipy.sparse.vstack([K, K]).toarray(); scipy.sparse.kron(K, K).toarray()",
}
ADVISED = {
    "ng.interop.scipy.spsolve(A, b)": "ng.interop.scipy.spsolve(K, np.ones(2))",
    "ng.linalg.expm(A.toarray())": "ng.linalg.expm(K.toarray())",
    "ng.interop.scipy.splu(A)": "ng.interop.scipy.splu(K).solve(np.ones(2))",
}


@pytest.mark.filterwarnings("ignore:`kron` is switching:DeprecationWarning")  # SciPy 1.18
def test_functions_of_scipy_that_do_not_take_sparse_arrays_of_tensors(run):
    for text in OF_SPARSE_ARRAYS.values():
        for program in text.split(";"):
            function = run(f"(lambda K: {program.strip()})(ng.sparse.csr_array(t * A))")
            with pytest.raises((TypeError, ValueError)) as caught:
                function(ng.tensor(0.7, requires_grad=True))
            error = caught.value.__cause__ or caught.value
            typed, written = re.match(
                r"(.*), at .* takes no sparse array of ng.sparse: write (.*)\.$", str(error)
            ).groups()
            written = written.partition(", or, once, before: ")[0]
            corrected = ADVISED.get(written, written)
            exact = run(f"(lambda K: {program.strip()})(scipy.sparse.csc_array(t * A))")
            mended = run(f"(lambda K: {program.strip().replace(typed, corrected)})"
                         f"(ng.sparse.csr_array(t * A))")  # fmt: skip
            if written in ADVISED:
                mended = run(f"(lambda K: {corrected})(ng.sparse.csr_array(t * A))")
            slope = ng.func.jacobian(mended)(0.7)
            slope = slope if isinstance(slope, np.ndarray) else slope.toarray()
            np.testing.assert_allclose(slope, differences(exact), rtol=1e-6, atol=1e-8)


def test_every_row_is_carried_out():
    elsewhere = {"builtins.max", "builtins.min", "pandas", "xarray", *OF_SPARSE_ARRAYS}
    elsewhere |= {"numpy.ma.array", "numpy.ma.MaskedArray"}
    called = {"statistics"} | {
        name for name in PROGRAMS if any(c.startswith(f"{name}(") for c in CALLS)
    }
    rows = set(NAMESPACES) | set(OTHERS) | set(TEXTS)
    assert rows | called | {"numpy.random.Generator"} == set(PROGRAMS) | elsewhere
    programs = f"{PROGRAMS} {list(OF_NUMPY)}"
    for name in {call.partition("(")[0].rpartition(".")[2] for call in CALLS}:
        assert f"{name}(" in programs or name in NOT_IN_EVERY_PYTHON, name


NOT_IN_EVERY_PYTHON = {"sumprod", "fma", "MaskedArray"}  # or under another name
MODULES = (
    "math cmath statistics operator numpy numpy.linalg numpy.fft numpy.random numpy.ma "
    "scipy.special scipy.linalg scipy.fft scipy.signal scipy.integrate scipy.interpolate "
    "scipy.optimize scipy.ndimage scipy.spatial.distance scipy.sparse"
)


def calls_of(function, name):
    """Yield calls of a function with numbers of arguments, and names of one, that it takes."""
    try:
        parameters = inspect.signature(function)
    except (TypeError, ValueError):
        parameters = None
    found = parameters.parameters.values() if parameters else []
    named = [p.name for p in found if not p.kind.name.startswith("VAR")]
    for count in range(7):
        for key in [None, *named]:
            keywords = {} if key is None else {key: 0}
            try:
                if parameters is not None:
                    parameters.bind(*range(count), **keywords)
            except TypeError:
                continue
            written = ", ".join([f"a{n}" for n in range(count)] + [f"{k}=k" for k in keywords])
            yield ast.parse(f"{name}({written})", mode="eval").body


def test_the_arguments_of_a_call_fit_the_code_that_is_advised():
    """No argument of the user is where ``out`` is: it would be overwritten."""
    checked = 0
    for module in MODULES.split():
        home = importlib.import_module(module)
        for name in dir(home):
            function = getattr(home, name)
            is_own = getattr(function, "__module__", None) == module or "." in module
            if name.startswith("_") or not callable(function) or isinstance(function, type):
                continue
            if (not is_own and module not in ("numpy", "operator")) or not hasattr(
                function, "__name__"
            ):
                continue
            for call in calls_of(function, f"{module}.{name}"):
                code = code_for(f"{module}.{name}", call, function)
                for inner in ast.walk(code) if code is not None else ():
                    if isinstance(inner, ast.Call) and is_of_numgrad(inner.func):
                        checked += 1
                        assert_bound(inner, function, call)
    assert checked > 3000


def is_of_numgrad(tree):
    while isinstance(tree, ast.Attribute):
        tree = tree.value
    return isinstance(tree, ast.Name) and tree.id == "ng"


def code_for(name, call, function):
    text = rewritten(name, call, "ng")
    if text is not None:
        return ast.parse(re.split(", which|, as |, for ", text)[0])
    path = counterpart(name)
    if path is None or "(" in path:
        return None
    own = eval(f"ng.{path}", {"ng": ng})
    if not fits(call, function, own):
        return None
    return ast.Call(ast.parse(f"ng.{path}", mode="eval").body, call.args, call.keywords)


def assert_bound(inner, function, call):
    own = eval(ast.unparse(inner.func), {"ng": ng})
    try:
        ours = inspect.signature(own)
    except (TypeError, ValueError):
        return
    if any(isinstance(a, ast.Starred) for a in inner.args):
        return
    generator = inner.args[:0] if "rng" not in ours.parameters else [None]  # it may be left out
    bound = ours.bind(*generator, *inner.args, **{k.arg: k.value for k in inner.keywords})
    where = ast.unparse(inner), ast.unparse(call)
    if not isinstance(function, np.ufunc) or len(call.args) <= function.nin:
        assert not bound.arguments.get("into"), where
    try:
        has_out = "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        has_out = False
    assert has_out or "out" not in bound.arguments, where


WRITES = """
import numpy as np
import numgrad as ng

def made(t):
    u = np.zeros(3)
    u[0] = t * t
    u[1:] = np.array([1.0, 2.0]) * t
    return u

def handed(t, u=np.ones(3)):
    u[1] = t
    return u

def grown(t):
    rows = np.empty((2, 2))
    for i in range(2):
        rows[i, 0] = i * t
        rows[i, 1] = t
    return rows

def filled(v, t):
    v[1] = t

def given(t):
    u = np.zeros(3)
    filled(u, t)
    return u

def through_a_view(t):
    u = np.zeros(3)
    v = u[1:]
    v[:] = t
    return u

def row_by_row(t):
    u = np.zeros((2, 2))
    for row in u:
        row[0] = t
    return u
"""


@pytest.mark.parametrize(
    ("name", "typed", "advised"),
    [
        (
            "made",
            "u[0] = ...",
            "write import numgrad as np at line 2, or u = ng.zeros(3) at line 6, which is a tensor",
        ),
        ("handed", "u[1] = ...", "write ng.zeros(...) where u is made, which is then a tensor"),
        ("given", "v[1] = ...", "or u = ng.zeros(3) at line 26, which is a tensor, in given"),
        ("through_a_view", "v[:] = ...", "or u = ng.zeros(3) at line 31, which is a tensor"),
        ("row_by_row", "row[0] = ...", "or u = ng.zeros((2, 2)) at line 37, which is a tensor"),
        ("grown", "rows[i, 0] = ...", "or rows = ng.empty((2, 2)) at line 16, which is a"),
    ],
)
@pytest.mark.parametrize("transform", [ng.func.jacrev, ng.func.jacfwd, ng.jit, ng.func.vmap])
def test_writes_into_arrays_are_told_to_make_a_tensor(name, typed, advised, transform, tmp_path):
    original = written_to(tmp_path / "original.py", WRITES)
    point = np.array([0.7, 0.2]) if transform is ng.func.vmap else 0.7
    with pytest.raises(DetachedError) as caught:
        transform(getattr(original, name))(point)
    text = str(caught.value)
    assert typed in text
    assert advised in text
    assert "ng.where" not in text
    mended = WRITES.replace("np.zeros", "ng.zeros").replace("np.empty", "ng.empty")
    mended = mended.replace("    u[1] = t", "    u = ng.asarray(u).copy()\n    u[1] = t")
    mended = getattr(written_to(tmp_path / "mended.py", mended), name)
    found = transform(mended)(point)
    exact = getattr(original, name)
    if transform is ng.func.vmap:
        np.testing.assert_allclose(found, [exact(0.7).copy(), exact(0.2).copy()])
    elif transform is ng.jit:
        np.testing.assert_allclose(found, exact(0.7))
    else:
        slope = (exact(0.8).copy() - exact(0.6).copy()) / 0.2
        np.testing.assert_allclose(found, slope)


INTO_ARRAYS = """
import numpy as np
import numgrad as ng

u0 = np.array([1.0, 2.0, 3.0])
whole: np.ndarray = np.zeros(3)

def added(t):
    a = np.zeros(3)
    row = a
    a += t * t
    return a

def multiplied(t):
    a, b = u0.copy(), 2.0
    c = a
    a *= b * t
    return a

def handed(t):
    a = np.zeros(3)
    np.multiply(u0, t, out=a)
    return a

def scattered(t):
    a = np.zeros(3)
    np.add.at(a, [0, 1, 1], t)
    return a

def copied(t):
    a = u0.copy()
    a[1] = t
    return a

def computed(t):
    a = 2.0 * u0[::-1]
    a[1:] = t * np.ones(2)
    return a

def part_of(t):
    a = np.zeros((2, 3))
    a[0] += t * u0
    return a

def closed(t):
    a = -u0
    def write():
        a[0] = t
    write()
    return a

def shared(t):
    whole[1] = t * t
    return whole
"""


@pytest.mark.parametrize("name", re.findall(r"\ndef (\w+)", INTO_ARRAYS))
def test_arrays_that_are_written_are_named_with_the_line_that_made_them(name, tmp_path):
    function = getattr(written_to(tmp_path / "original.py", INTO_ARRAYS), name)
    t = ng.tensor(0.7, requires_grad=True)
    with pytest.raises((DetachedError, TypeError, ValueError)) as caught:
        function(t)
    text = str(caught.value.__cause__ or caught.value)
    pattern = r"original\.py:\d+ in \w+: write (.*) at line (\d+), or (.*) at line (\d+), which is"
    statement, import_line, made, line = re.search(pattern, text).groups()
    exact = function(0.7).copy()
    lines = INTO_ARRAYS.split("\n")
    for number, new in ((import_line, statement), (line, made)):
        mended = list(lines)
        old = mended[int(number) - 1]
        if new.startswith("a = ") and ", b" in old:
            new += "; b = 2.0"
        mended[int(number) - 1] = old[: len(old) - len(old.lstrip())] + new
        found = getattr(written_to(tmp_path / "mended.py", "\n".join(mended)), name)(t)
        np.testing.assert_allclose(found.detach().numpy(), exact)
        (slope,) = ng.grad(found.sum(), t)
        h = 1e-6
        ends = [function(0.7 + d).sum() for d in (h, -h)]
        np.testing.assert_allclose(slope.item(), (ends[0] - ends[1]) / (2 * h), rtol=1e-7)


def written_to(path, text):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def closed_over(t):
    from scipy import optimize

    return optimize.root(lambda x: np.array([x[0] * x[0] - t]), [0.5]).x


def through_numgrad(t):
    solve = ng.interop.scipy.root
    return solve(lambda x, t: np.array([x[0] * x[0] - t]), [0.5], args=(t,)).x


def test_the_function_of_scipy_that_has_called_is_named_too():
    with pytest.raises(DetachedError) as caught:
        ng.func.grad(lambda t: closed_over(t).sum())(0.7)
    text = str(caught.value)
    assert text.startswith("np.array([x[0] * x[0] - t]) would cut the graph")
    assert "It is called by optimize.root(" in text
    assert "write ng.interop.scipy.root(" in text
    assert "with the tensors that its function reads in args=(...)" in text
    with pytest.raises(DetachedError) as caught:
        ng.func.grad(lambda t: through_numgrad(t).sum())(0.7)
    assert "or ng.array([x[0] * x[0] - t]) here" in str(caught.value)
    assert "It is called by" not in str(caught.value)


def test_a_function_that_a_library_makes_of_text_is_the_library_s():
    """SciPy makes `newton_krylov` by `exec`: the line is that of the user's call."""

    def solved(a):
        return scipy.optimize.newton_krylov(lambda x: x**2 - a, np.ones(2)).sum()

    named = r"newton_krylov\(.* at .*test_counterparts.py:\d+ in solved"
    with pytest.raises(DetachedError, match=named):
        ng.func.grad(solved)(np.array([2.0, 3.0]))


def test_writes_into_what_is_no_array_are_not_told_to_make_a_tensor():
    class Table:
        def __setitem__(self, key, value):
            self.values = np.asarray(value)

    table, t = Table(), ng.tensor(0.7, requires_grad=True)
    with pytest.raises(DetachedError, match=r"^np\.asarray\(value\) would cut the graph"):
        table["x"] = t

    def placed(x):
        y = x * 1.0
        y[range(int(x[0]))] = 2.0
        return y

    with pytest.raises(ng.errors.CaptureError, match="the value of a tensor") as caught:
        ng.jit(placed)(np.array([1.0, 2.0]))
    assert "ng.zeros" not in str(caught.value)


def test_errors_in_front_of_the_advice_are_taken_away():
    from scipy import optimize

    def bracketed(t):
        return optimize.brentq(lambda x: x - t, 0.0, 2.0)

    for transform in 50 * (ng.func.grad, ng.func.jacfwd, ng.func.hessian):
        with pytest.raises(DetachedError, match=r"^optimize\.brentq\(.* would cut the graph"):
            transform(bracketed)(0.7)  # now and then SciPy finds no change of sign instead

    def own(t):
        try:
            return np.array([t])
        except DetachedError as error:
            raise ValueError("the user's own") from error

    for transform in (ng.func.grad, ng.jit):
        with pytest.raises(ValueError, match="the user's own"):
            transform(own)(0.7)


def test_python_asking_for_numbers_is_answered():
    t = ng.tensor(0.7, requires_grad=True)
    assert "%.2f" % t == "0.70"  # noqa: UP031
    with pytest.raises(DetachedError, match=r"write f'\{x:.3f\}' for '%.3f' % x"):
        ng.func.grad(lambda t: float("%.2f" % t))(0.7)  # noqa: UP031
    with pytest.raises(DetachedError, match=r"write ng.array\(\[t, 1.0\]\) \* np.ones\(2\)"):
        [t, 1.0] * np.ones(2)
    for function, advised in ((max, "maximum"), (min, "minimum")):
        with pytest.raises(ng.errors.CaptureError, match=rf"write ng.{advised}\(a, b\)"):
            ng.jit(lambda x, f=function: f(x, 0.5))(0.7)
    with pytest.raises(ng.errors.CaptureError, match=r"ng\.where or ng\.cond"):
        ng.jit(lambda x: x if np.any(x > 0.5) else -x)(0.7)


@np.vectorize
def squared(x):
    return x * x


def test_what_was_made_before_is_to_be_made_otherwise():
    from scipy import interpolate, stats

    t, a = ng.tensor(0.7, requires_grad=True), np.ones(3)
    frozen, bound = stats.norm(0.0, 2.0), stats.norm.logpdf
    line = interpolate.interp1d([0.0, 1.0], [0.0, 2.0])
    cases = {
        r"squared\(t\) .* write ng\.vectorize\(\.\.\.\) where squared is made": lambda: squared(t),
        r"frozen\.cdf\(t\) .* write ng\.stats\.norm\(\.\.\.\) where frozen is made": lambda: (
            frozen.cdf(t)
        ),
        r"bound\(t\) .* write ng\.stats\.norm\.logpdf\(t\), or, once, before: ng\.inter": lambda: (
            bound(t)
        ),
        r"line\(t\) .* write ng\.interop\.scipy\.interp1d\(\.\.\.\) where": lambda: line(t),
        r"a\.fill\(t\) .* write ng\.zeros\(\.\.\.\) where a is made": lambda: a.fill(t),
    }
    for message, call in cases.items():
        with pytest.raises((DetachedError, ValueError)) as caught:  # that of fill has a cause
            call()
        assert re.match(message, str(caught.value.__cause__ or caught.value))


def test_other_libraries_are_said_to_have_no_gradients():
    metrics = pytest.importorskip("sklearn.metrics")
    x = ng.tensor([0.7, 0.2], requires_grad=True)
    with pytest.raises(DetachedError, match=r"x\.detach\(\)\.numpy\(\) for values, as functions"):
        metrics.mean_absolute_error(np.ones(2), x)


HELD = {
    "xr.DataArray(t * X, dims='a').values": "xr.DataArray(t * X, dims='a').data",
    "xr.DataArray(t * X, dims='a').to_numpy()": "xr.DataArray(t * X, dims='a').data",
    "labelled(t).sum().item()": "labelled(t).sum().data",
    "labelled(t).mean('a').values": "labelled(t).mean('a').data",
    "np.asarray(labelled(t))": "ng.asarray(labelled(t))",
    "pd.Series(t * X).mean()": "(t * X).mean()",
    "pd.DataFrame({'a': t * X})['a']": "{'a': t * X}['a']",
    "series.dot(t * X)": "series.to_numpy() @ (t * X)",
    "series.to_frame().T.dot(t * X)": "series.to_frame().T.to_numpy() @ (t * X)",
    "series.to_numpy().dot(t * X)": "ng.asarray(series.to_numpy()).dot(t * X)",
    "series.values.dot(t * X)": "ng.asarray(series.values).dot(t * X)",
}
OF_NUMPY = {
    "np.ma.masked_invalid(t * X).mean()": "ng.nanmean(ng.where(ng.isfinite(t * X), t * X, ng.nan))",
    "np.ma.array(t * X, mask=X > 1).mean()": "ng.nanmean(ng.where(X > 1, ng.nan, t * X))",
    "np.ma.masked_array(t * X, X > 1).mean()": "ng.nanmean(ng.where(X > 1, ng.nan, t * X))",
    "np.ma.array(t * X).mean()": "ng.nanmean(ng.asarray(t * X))",
    "np.ma.asarray(t * X).mean()": "ng.nanmean(ng.asarray(t * X))",
    "np.ma.masked_where(X > 1, t * X).mean()": "ng.nanmean(ng.where(X > 1, ng.nan, t * X))",
    **{
        f"np.ma.masked_{name}(t * X, {value}).mean()": (
            f"ng.nanmean(ng.where(t * X {sign} {value}, ng.nan, t * X))"
        )
        for name, sign, value in (
            ("equal", "==", 0.0),
            ("not_equal", "!=", 0.0),
            ("greater", ">", 1.0),
            ("greater_equal", ">=", 1.0),
            ("less", "<", 1.0),
            ("less_equal", "<=", 1.0),
        )
    },
    "np.ma.masked_inside(t * X, 2.0, 1.0).mean()": (
        "ng.nanmean(ng.where((ng.minimum(2.0, 1.0) <= t * X) & (t * X <= ng.maximum(2.0, 1.0)), "
        "ng.nan, t * X))"
    ),
    "np.ma.masked_outside(t * X, 2.0, 1.0).mean()": (
        "ng.nanmean(ng.where((ng.minimum(2.0, 1.0) <= t * X) & (t * X <= ng.maximum(2.0, 1.0)), "
        "t * X, ng.nan))"
    ),
    "np.sum(np.ma.array(X, mask=X > 1) * (t * X))": (
        "ng.nansum(ng.where(np.ma.array(X, mask=X > 1).mask, ng.nan, "
        "np.ma.array(X, mask=X > 1).data * (t * X)))"
    ),
    "np.matrix(t * X).sum()": "ng.atleast_2d(t * X).sum()",
    "sum(a * a for a in np.nditer(t * X))": "sum(a * a for a in ng.ravel(t * X))",
}
HOLDING = """
import numpy as np
import pandas as pd
import xarray as xr
import numgrad as ng

X = np.array([1.0, 2.0, 4.0])
series = pd.Series(X)

def labelled(t):
    return xr.DataArray(t * X * X, dims="a")

def program(t):
    return {}
"""


def test_objects_that_hold_no_tensors_are_told_what_does(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    assert_advised(HELD, HOLDING, tmp_path)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_masked_arrays_matrices_and_iterators_are_told_what_tensors_have(tmp_path):
    head = re.sub("import (pandas|xarray).*", "", HOLDING).replace("pd.Series", "np.array")
    assert_advised(OF_NUMPY, head, tmp_path)


def assert_advised(held, head, tmp_path):
    """What the error says to write is a part of the mended code, which has the gradient."""
    for number, (text, mended) in enumerate(held.items()):
        path = tmp_path / f"program_{number}.py"
        program = written_to(path, head.replace("{}", text)).program
        with pytest.raises(DetachedError) as caught:
            ng.func.grad(program)(0.7)
        message = str(caught.value)
        assert f"at {path}:14 in program: write " in message
        end = r"(, as|, for|, and| for | itself| here|\. It)"
        said = re.search(rf": write (?:import .* at line \d+, or )?(.*?){end}", message)[1]
        assert said in mended, message
        function = written_to(tmp_path / f"mended_{number}.py", head.replace("{}", mended)).program
        exact = [np.sum(np.asarray(program(0.7 + d))) for d in (1e-6, -1e-6)]
        slope = ng.func.grad(lambda t, f=function: ng.sum(f(t)))(0.7)
        np.testing.assert_allclose(slope, (exact[0] - exact[1]) / 2e-6, rtol=1e-7)


def test_draws_and_records_are_told_what_has_no_derivative():
    t, rng = ng.tensor([1.0, 2.0], requires_grad=True), np.random.default_rng(0)
    for draw in (lambda: rng.poisson(t), lambda: np.random.poisson(t)):  # noqa: NPY002
        with pytest.raises(
            DetachedError, match=r"write t\.detach\(\)\.numpy\(\) for each tensor t"
        ):
            draw()
    with pytest.raises(DetachedError, match="write a dict of tensors, as records hold none"):
        np.rec.fromarrays([t, t])
    with pytest.raises(DetachedError, match=r"p=ng\.asarray\(t / t\.sum\(\)\)\.detach\(\)\.numpy"):
        rng.choice(2, p=t / t.sum())
    assert rng.choice(2, p=ng.asarray(t / t.sum()).detach().numpy()) in (0, 1)


def test_errors_without_advice_name_the_line_too():
    t = ng.tensor([1.0, 2.0], requires_grad=True)
    operator = scipy.sparse.linalg.aslinearoperator(np.eye(2))
    for typed, call in {
        r"operator @ t": lambda: operator @ t,
        r"ng\.stats\.gamma\.rvs\(t, random_state=0\)": lambda: ng.stats.gamma.rvs(
            t, random_state=0
        ),
    }.items():
        with pytest.raises(DetachedError, match=rf", in {typed}, at {re.escape(__file__)}:\d+"):
            call()


def test_elements_of_sparse_matrices_of_scipy_are_places():
    matrix = scipy.sparse.lil_matrix((2, 2))
    message = r"write ng\.sparse\.coo\(data, .* where matrix is made"
    with pytest.raises(DetachedError, match=message):
        matrix[0, 1] = ng.tensor(0.7, requires_grad=True)


def test_code_without_source_gets_the_name_of_what_it_calls():
    t = ng.tensor([0.7, 0.2], requires_grad=True)
    names = {"np": np, "t": t}
    with pytest.raises(DetachedError, match=r"^numpy.full would cut .*: write ng.full\."):
        exec("np.full(2, t)", names)
    with pytest.raises(DetachedError, match=r"^numpy.array would cut .*: write ng.array\."):
        exec("np.array(t)", names)
    with pytest.raises(DetachedError, match=r"^numpy.ravel\(\).tolist would cut .*"):
        exec("ng.func.grad(lambda t: np.ravel(t).tolist())(t)", names | {"ng": ng})


SERIES = """
import numpy as np
import pandas as pd
import numgrad as ng

series = pd.Series([1.0, 2.0])
frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})

def program(t):
    return {}
"""


def test_operators_of_pandas_are_told_to_hand_out_their_values(tmp_path):
    pytest.importorskip("pandas")
    programs = ("series * t", "t * series", "frame @ t", "t @ frame", "frame['a'] / t")
    for number, text in enumerate(programs):
        program = written_to(tmp_path / f"program_{number}.py", SERIES.replace("{}", text)).program
        t = ng.tensor([0.7, 0.2], requires_grad=True)
        try:
            found = program(t)
        except DetachedError:
            typed, text, _ = advice_of(program, [0.7, 0.2])
            assert typed == programs[number]
            found = written_to(tmp_path / "mended.py", SERIES.replace("{}", text)).program(t)
        exact = np.asarray(program(np.array([0.7, 0.2])))
        np.testing.assert_allclose(found.detach().numpy(), exact)
        slope = (np.asarray(program(np.array([0.7 + 1e-6, 0.2]))) - exact).sum() / 1e-6
        np.testing.assert_allclose(ng.grad(found.sum(), t)[0][0].item(), slope, rtol=1e-5)


SWITCHED_HEAD = """
import numpy as np
from scipy import signal, special, stats
from scipy.spatial.transform import RigidTransform, Rotation
"""
SWITCHED = f"""
import sys
from contextlib import nullcontext
import numgrad as ng
{SWITCHED_HEAD}
x = np.array([0.3, 1.1, 0.7])
for text in sys.argv[1:]:
    f = eval("lambda x: " + text)
    patch = ng.interop.scipy.patch() if "np.array" in text else nullcontext()
    with patch:
        slope = ng.func.grad(lambda x: (f(x) * x[:2]).sum())(x)
    step = 1e-6 * np.eye(3)
    exact = [((f(x + d) * (x + d)[:2]).sum() - (f(x - d) * (x - d)[:2]).sum()) / 2e-6 for d in step]
    np.testing.assert_allclose(slope, exact, rtol=1e-6, atol=1e-8)
"""


def test_functions_of_scipy_that_take_tensors_with_the_switch_do(tmp_path):
    programs = [
        "stats.zscore(x)[:2]", "stats.gmean(x)", "signal.freqz(x)[1].real[:2]",
        "signal.resample(x, 4)[:2]",
        "RigidTransform.from_translation(x).as_matrix()[:2, 3]",
        "special.softmax(special.log_softmax(x) * x)[:2]",
        "signal.freqz(x, np.array([1.0, 0.5]))[1].real[:2]",
    ]  # fmt: skip
    head = f"{SWITCHED_HEAD}\n"
    for number, text in enumerate(programs):
        path = tmp_path / f"switched_{number}.py"
        program = written_to(path, f"{head}def program(x):\n    return {text}\n").program
        switch = r"write os.environ\['SCIPY_ARRAY_API'\] = '1'"
        with pytest.raises(DetachedError, match="log_softmax" if "log_" in text else switch):
            program(ng.tensor([0.3, 1.1, 0.7], requires_grad=True))
    command = [sys.executable, "-c", SWITCHED, *programs]
    subprocess.run(command, check=True, env={**os.environ, "SCIPY_ARRAY_API": "1"})


IMPORTS = {
    "import numpy as np": ("np.array([t, 1.0])", "import numgrad as np"),
    "import math, numpy as np, cmath": ("np.array([t, 1.0])", "import math, numgrad as np, cmath"),
    "import numpy": ("numpy.array([t, 1.0])", "import numgrad as numpy"),
    "import numpy.linalg as la": ("la.norm([t, 1.0])", "import numgrad.linalg as la"),
    "from numpy import array, cos, linalg": (
        "array([t, 1.0])",
        "from numgrad import array, cos, linalg",
    ),
    "from numpy import ones as a, array as b": (
        "b([t, 1.0])",
        "from numgrad import ones as a, array as b",
    ),
    "from numpy import linalg": ("linalg.norm([t, 1.0])", "from numgrad import linalg"),
    "from statistics_of_mine import *": ("np.array([t, 1.0])", "import numgrad as np"),
}


def test_the_import_that_is_advised_is_the_one_that_binds_the_name(tmp_path, monkeypatch):
    (tmp_path / "statistics_of_mine.py").write_text("import numpy as np\n")
    monkeypatch.syspath_prepend(tmp_path)
    t = ng.tensor(0.7, requires_grad=True)
    for number, (given, (text, advised)) in enumerate(IMPORTS.items()):
        lines = ["import numgrad as ng", given, "", "def program(t):", f"    return {text}", ""]
        path = tmp_path / f"program_{number}.py"
        with pytest.raises(DetachedError) as caught:
            written_to(path, "\n".join(lines)).program(t)
        is_below = "*" in given
        place = "below line 2" if is_below else "at line 2"
        assert f": write {advised} {place}, or ng." in str(caught.value)
        lines[1:2] = [given, advised] if is_below else [advised]
        found = written_to(tmp_path / "mended.py", "\n".join(lines)).program(t)
        slope = 1.0 if found.ndim else 0.7 / 1.49**0.5
        assert ng.grad(found.sum(), t)[0].item() == pytest.approx(slope)
