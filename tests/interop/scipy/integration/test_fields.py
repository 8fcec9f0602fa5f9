"""What solvers return beside the solution: the table of fields in the documentation, row by row,
and gradients of the fields that have one against closed forms and differences."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

import numgrad as ng
from numgrad.errors import DetachedError, NotDifferentiableError
from numgrad.interop.scipy.implicit.fields import Undifferentiated
from tests.sampling import one_in

from ..differences import agree, derivative

scipy = ng.interop.scipy
PAGE = Path(__file__).parents[4] / "docs" / "scipy.md"
C = np.array([0.5, -1.0, 2.0])
A = np.array([1.5, 0.8])


def chain(x, a):
    """Has its minimum at ``arcsinh(a[1] C / a[0])``."""
    return (a[0] * np.cosh(x) - a[1] * C * x).sum()


def minimum(a):
    x = np.arcsinh(a[1] * C / a[0])
    return {
        "x": x,
        "fun": (a[0] * np.cosh(x) - a[1] * C * x).sum(),
        "jac": a[0] * np.sinh(x) - a[1] * C,
        "grad": a[0] * np.sinh(x) - a[1] * C,
        "hess": np.diag(a[0] * np.cosh(x)),
    }


def line(x, a):
    return np.concatenate([x * a[0] - a[0], x + a[1]])


def fitted(a):
    x = np.full(2, (a[0] ** 2 - a[1]) / (a[0] ** 2 + 1.0))
    fun = np.concatenate([x * a[0] - a[0], x + a[1]])
    jac = np.concatenate([a[0] * np.eye(2), np.eye(2)])
    return {"x": x, "fun": fun, "cost": 0.5 * (fun @ fun), "grad": jac.T @ fun, "jac": jac}


def cubic(x, a):
    return a[0] * x**3 + x - a[1] * C[:2]


def crossed(a):
    x = scipy.root(cubic, np.zeros(2), (a,), "newton", tol=1e-14).x
    return {"x": x, "fun": a[0] * x**3 + x - a[1] * C[:2]}


def minimize(a, method, **options):
    return scipy.minimize(chain, np.zeros(3), (a,), method, **{"tol": 1e-10} | options)


def calls():
    """Each solver with each method: what it returns as a function of the arguments."""
    for method in ("hybr", "lm", "broyden1", "krylov", "df-sane", "newton"):
        yield (
            "`root`",
            crossed,
            lambda a, m=method: scipy.root(cubic, np.full(2, 0.1), (a,), m, tol=1e-11),
        )
    for method in ("trf", "dogbox", "lm"):
        yield (
            "`least_squares`",
            fitted,
            lambda a, m=method: scipy.least_squares(line, np.full(2, 3.0), args=(a,), method=m),
        )
    for form in ("sparse", "operator"):
        yield (
            '`least_squares`, `jac="sparse"` or `"operator"`',
            fitted,
            lambda a, f=form: scipy.least_squares(line, np.full(2, 3.0), f, args=(a,)),
        )
    free = [(None, None)] * 3
    for method, options in (
        ("Nelder-Mead", {}), ("Powell", {}), ("CG", {}),
        ("BFGS", {"options": {"return_all": True}}),
        ("Newton-CG", {}), ("L-BFGS-B", {"options": {"gtol": 1e-10}}), ("TNC", {"bounds": free}),
        ("COBYLA", {}), ("COBYQA", {}), ("SLSQP", {}), ("dogleg", {}), ("trust-exact", {}),
        ("trust-ncg", {"hess": "dense"}),
    ):  # fmt: skip
        yield "`minimize`", minimum, lambda a, m=method, o=options: minimize(a, m, **o)
    for bounds in (None, [(-9.0, 9.0)] * 3):
        yield (
            '`minimize`, `"trust-constr"`',
            minimum,
            lambda a, b=bounds: minimize(a, "trust-constr", bounds=b),
        )


def table():
    cells = r"^\| (`\w+`[^|]*) \| (`[xy]`[^|]*) \| ([^|]*) \| ([^|]*) \|$"
    rows = re.findall(cells, PAGE.read_text(), re.MULTILINE)
    return {row[0]: [set(re.findall(r"`(\w+)`", cell)) for cell in row[1:]] for row in rows}


def refuses(value, a):
    """Whether a field, or what it holds, refuses a gradient and has a value."""
    if isinstance(value, (list, tuple)):
        return all(refuses(part, a) for part in value)
    if isinstance(value, ng.Tensor):
        assert np.isfinite(value.detach().numpy()).all()
        with pytest.raises(NotDifferentiableError, match=r"take \w+\.detach\(\)"):
            ng.grad(value.sum(), a, retain_graph=True)
        return True
    if isinstance(value, (int, np.integer)):
        return True  # as where there is nothing to violate
    for use in (lambda: value @ np.ones(3), lambda: value.toarray(), lambda: np.asarray(value)):
        with pytest.raises(NotDifferentiableError, match=r"detach\(\)"):
            use()
    return isinstance(value, Undifferentiated) and hasattr(value.detach(), "shape")


def test_every_field_of_every_result_is_in_the_table_and_does_what_it_says():
    rows = table()
    seen = {}
    for row, known, call in calls():
        a = ng.tensor(A, requires_grad=True)
        result = call(a)
        exact, discrete, refused = rows[row]
        for name, value in result.items():
            seen.setdefault(row, set()).add(name)
            if name in exact:
                g = np.cos(np.arange(value.size)).reshape(value.shape)
                (found,) = ng.grad(value, a, g, retain_graph=True)
                slope = derivative(lambda a: np.asarray((known(a)[name] * g).sum()), A)  # noqa: B023
                agree(found.numpy(), slope, 1e-5)
                agree(value.detach().numpy(), known(A)[name], 1e-4)
            elif name in refused:
                assert refuses(value, a), (row, name)
            else:
                assert name in discrete, (row, name)
                assert not isinstance(value, ng.Tensor), (row, name)
    for row, names in seen.items():
        assert names == set.union(*rows[row]), row


def test_every_field_of_an_initial_value_problem_is_in_the_table():
    exact, discrete, refused = table()["`solve_ivp`"]
    t, k = ng.tensor([0.5, 1.0], requires_grad=True), ng.tensor(0.7, requires_grad=True)
    slope = lambda t, y, k: k * y  # noqa: E731
    for method in ("RK45", "BDF", "LSODA"):
        given = {"method": method, "t_eval": t}
        result = scipy.solve_ivp(slope, (0.0, 1.0), [1.0], args=(k,), **given)
        constant = scipy.solve_ivp(
            slope,
            (0.0, 1.0),
            [1.0],
            args=(0.7,),
            dense_output=True,
            events=lambda t, y: y[0],
            **given,
        )
        assert set(result) == exact | discrete | refused
        for name, value in result.items():
            moves = isinstance(value, ng.Tensor) and value.requires_grad
            assert moves == (name in exact and name != "sol")
        assert constant.sol(t).requires_grad
        assert all(isinstance(part, np.ndarray) for part in constant.t_events)  # what t cannot move


def test_without_a_gradient_fields_are_those_of_scipy():
    for row, _, call in calls():
        plain, tensors = call(A), call(ng.tensor(A))
        for name, value in plain.items():
            assert not isinstance(value, ng.Tensor)
            other = tensors[name]
            if name in table()[row][0]:
                assert isinstance(other, ng.Tensor)
                np.testing.assert_array_equal(other.numpy(), value)
            elif name != "execution_time":
                assert type(other) is type(value)


def test_second_derivatives_of_fields():
    fit = lambda a: scipy.least_squares(line, np.full(2, 3.0), args=(a,))  # noqa: E731
    best = lambda a: minimize(a, "trust-exact")  # noqa: E731
    for call, known, names in ((fit, fitted, ("jac", "cost", "fun")), (best, minimum, ("hess",))):
        for name in names:
            total = lambda a: np.cos(call(a)[name]).sum()  # noqa: B023, E731
            closed = lambda a: derivative(lambda a: np.cos(known(a)[name]).sum(), a)  # noqa: B023, E731
            agree(ng.func.hessian(total)(A), derivative(closed, A, 3e-3), 1e-6)
            agree(ng.func.jacfwd(total)(A), closed(A), 1e-8)


def test_a_batch_has_the_bits_of_its_rows():
    a = ng.tensor(A, requires_grad=True)
    jac = scipy.least_squares(line, np.full(2, 3.0), args=(a,)).jac
    rows = np.random.default_rng(0).normal(size=(3, *jac.shape))
    found = ng.grad(jac, a, rows, is_grads_batched=True, retain_graph=True)[0]
    looped = [ng.grad(jac, a, row, retain_graph=True)[0].numpy() for row in rows]
    np.testing.assert_array_equal(found.numpy(), looped)


TIMES = np.linspace(0.0, 2.0, 7)
DATA = np.exp(-1.3 * TIMES) + 0.05 * np.sin(9.0 * TIMES)
RHO = {  # slope and bend of a loss
    "soft_l1": (lambda z: (1 + z) ** -0.5, lambda z: -0.5 * (1 + z) ** -1.5),
    "cauchy": (lambda z: 1 / (1 + z), lambda z: -1 / (1 + z) ** 2),
    "arctan": (lambda z: 1 / (1 + z * z), lambda z: -2 * z / (1 + z * z) ** 2),
    "huber": (lambda z: ng.where(z <= 1, 1.0, np.maximum(z, 1) ** -0.5),
              lambda z: np.where(z <= 1, 0.0, -0.5 * np.maximum(z, 1) ** -1.5)),
}  # fmt: skip


def decay(x, y):
    return x[0] * np.exp(-x[1] * TIMES) - y


@pytest.mark.parametrize("loss", one_in(4, RHO))
def test_the_jacobian_of_a_robust_fit_and_its_scale(loss):
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "loss": loss}
    fit = lambda y, s: scipy.least_squares(decay, [1.0, 1.3], args=(y,), f_scale=s, **tight)  # noqa: E731
    slope, bend = RHO[loss]

    def scaled(x, y, s):
        e = np.exp(-x[1] * TIMES)
        z = ((x[0] * e - y) / s) ** 2
        factor = np.sqrt(np.maximum(slope(z) + 2.0 * z * bend(z), np.finfo(float).eps))
        return factor[:, None] * np.stack([e, -TIMES * x[0] * e], axis=-1)

    def equations(x, y, s):
        r = decay(x, y)
        weight = {"huber": lambda z: ng.where(z <= 1.0, 1.0, np.maximum(z, 1.0) ** -0.5)}.get(
            loss, slope
        )
        e = np.exp(-x[1] * TIMES)
        r = r * weight((r / s) ** 2)
        return ng.stack([(r * e).sum(), (r * e * TIMES).sum()])

    polished = lambda y, s: scipy.root(equations, fit(DATA, 0.06).x, (y, s), "newton", tol=1e-15).x  # noqa: E731
    s = np.array([0.06])
    agree(fit(DATA, s[0]).jac, scaled(fit(DATA, s[0]).x, DATA, s[0]), 1e-12)
    known = derivative(lambda s: scaled(polished(DATA, s[0]), DATA, s[0]), s, 1e-5)
    agree(ng.func.jacrev(lambda s: fit(DATA, s[0]).jac)(s), known, 1e-6)
    known = derivative(lambda y: scaled(polished(y, s[0]), y, s[0]), DATA, 1e-5)
    agree(ng.func.jacrev(lambda y: fit(y, s[0]).jac)(DATA), known, 1e-6)


def test_what_a_bound_holds_moves_with_it():
    def held(b):  # the first unknown is held from above, the third from below
        x = np.arcsinh(A[1] * C / A[0])
        return np.array([b[0], x[1], b[1]])

    def call(b):
        bounds = [(None, b[0]), (None, None), (b[1], 3.0)]
        return minimize(A, "L-BFGS-B", bounds=bounds, options={"gtol": 1e-11})

    b = np.array([0.1, 1.4])
    agree(ng.func.jacrev(lambda b: call(b).x)(b), derivative(held, b), 1e-7)
    slopes = lambda b: A[0] * np.sinh(held(b)) - A[1] * C  # noqa: E731
    agree(ng.func.jacrev(lambda b: call(b).jac)(b), derivative(slopes, b), 1e-7)
    for form in (lambda b: (-9.0, b), lambda b: (np.full(2, -9.0), ng.stack([b, b]))):
        fit = lambda b: scipy.least_squares(  # noqa: E731
            lambda x: ng.stack([x[0] - 2.0 + x[1], x[0] - 1.0]), np.zeros(2), bounds=form(b)  # noqa: B023
        ).x  # fmt: skip
        agree(ng.func.jacrev(fit)(np.array(0.5)), [1.0, 1.0], 1e-12)


def test_what_the_errors_advise_is_right():
    a = ng.tensor(A, requires_grad=True)
    r = minimize(a, "BFGS")
    with pytest.raises(NotDifferentiableError) as caught:
        ng.grad(r.hess_inv.sum(), a, retain_graph=True)
    advice = re.search(r"write (.*) instead", str(caught.value)).group(1)
    inverse = eval(advice, {"np": np, "ng": ng, "f": chain, "r": r, "args": (a,)})
    known = derivative(lambda a: np.linalg.inv(minimum(a)["hess"]).sum(), A)
    agree(ng.grad(inverse.sum(), a)[0].numpy(), known, 1e-6)
    r = scipy.root(cubic, np.zeros(2), (a,), "lm", tol=1e-12)
    with pytest.raises(NotDifferentiableError) as caught:
        ng.grad(r.cov_x.sum(), a, retain_graph=True)
    advice = re.search(r"write (.*) with J = (.*) instead", str(caught.value))
    J = eval(advice.group(2), {"ng": ng, "f": cubic, "r": r, "args": (a,)})
    inverse = eval(advice.group(1), {"np": np, "J": J})
    known = derivative(lambda a: (1.0 / (1.0 + 3.0 * a[0] * crossed(a)["x"] ** 2) ** 2).sum(), A)
    agree(ng.grad(inverse.sum(), a)[0].numpy(), known, 1e-6)


def test_what_says_how_to_solve_is_refused_by_name():
    one = ng.tensor(1e-3, requires_grad=True)
    ones = ng.tensor(np.ones(3), requires_grad=True)
    eye = (np.arange(1.0, 4.0), [0, 1, 2], [0, 1, 2, 3])
    equal = {"type": "eq", "fun": lambda x, b: x[0] - b, "args": (one,)}
    above = optimize.NonlinearConstraint(lambda x: x[0], one, 2.0)
    for name, call in {
        "to tol,": lambda: minimize(A, "BFGS", tol=one),
        r"options\['gtol'\]": lambda: minimize(A, "BFGS", options={"gtol": one}),
        "root: no gradient flows to tol": lambda: scipy.root(cubic, [0.0, 0.0], (A,), tol=one),
        "to xtol": lambda: scipy.fixed_point(np.cos, [1.0], xtol=one),
        "to ftol": lambda: scipy.least_squares(line, [3.0, 3.0], args=(A,), ftol=one),
        "to x_scale": lambda: scipy.least_squares(line, [3.0] * 3, args=(A,), x_scale=ones),
        "to sigma": lambda: scipy.eigsh(eye, k=1, sigma=one),
        "to v0": lambda: scipy.eigsh(eye, k=1, v0=ones),
        r"generalised problem \(M=\)": lambda: scipy.eigsh((ones, *eye[1:]), k=1, M=np.eye(3)),
        "args of a constraint": lambda: minimize(A, "SLSQP", constraints=equal),
        "lb of a constraint": lambda: minimize(A, "trust-constr", constraints=[above]),
    }.items():
        with pytest.raises(NotDifferentiableError, match=name):
            call()
    with pytest.raises(DetachedError, match="chain: the point requires grad"):
        scipy.function(chain, (A,)).grad(ones)
    found = minimize(A, "BFGS", tol=ng.tensor(1e-10)).x
    np.testing.assert_array_equal(found, minimize(A, "BFGS").x)
    values = scipy.eigsh((ones, *eye[1:]), k=1, v0=np.ones(3), return_eigenvectors=False)
    assert values.shape == (1,)
