"""Slopes of quantiles at the probabilities 0 and 1: limits of those inside."""

import numpy as np
import pytest
import scipy.stats

import numgrad as ng

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SHAPES = [
    ("norm", ()), ("halfnorm", ()), ("truncnorm", (-1.0, 2.0)), ("lognorm", (0.7,)),
    ("skewnorm", (1.5,)), ("skewnorm", (-1.5,)), ("skewnorm", (0.0,)), ("expon", ()),
    ("gamma", (2.5,)), ("gamma", (1.0,)), ("invgamma", (2.5,)), ("chi2", (3.0,)),
    ("beta", (2.0, 3.0)), ("beta", (0.5, 1.0)), ("t", (3.0,)), ("f", (3.0, 5.0)), ("f", (2.0, 5.0)),
    ("f", (1.0, 4.0)), ("cauchy", ()), ("halfcauchy", ()), ("laplace", ()), ("logistic", ()),
    ("gumbel_r", ()), ("gumbel_l", ()), ("weibull_min", (1.5,)), ("weibull_min", (1.0,)),
    ("pareto", (2.0,)), ("uniform", ()), ("triang", (0.3,)), ("triang", (0.0,)), ("triang", (1.0,)),
    ("rayleigh", ()), ("invgauss", (1.2,)), ("genextreme", (0.4,)), ("genextreme", (1.0,)),
    ("genextreme", (1.5,)), ("genextreme", (0.0,)), ("genextreme", (-0.4,)), ("genpareto", (0.4,)),
    ("genpareto", (0.0,)), ("genpareto", (-0.4,)), ("genpareto", (-1.0,)), ("genpareto", (-1.5,)),
    ("fisk", (2.0,)), ("fisk", (1.0,)), ("fisk", (0.5,)), ("powerlaw", (2.0,)),
    ("gompertz", (1.2,)), ("loguniform", (1.0, 3.0)),
]  # fmt: skip
CASES = [(*case, function, q) for case in SHAPES for function in ("ppf", "isf") for q in (0.0, 1.0)]
STEPS = np.array([1e-3, 1e-6, 1e-9, 1e-12])


@pytest.mark.parametrize(("name", "shapes", "function", "q"), CASES)
def test_slopes_are_limits_of_those_inside(name, shapes, function, q):
    quantile = getattr(getattr(ng.stats, name), function)
    arguments = np.array([q, *shapes, 0.3, 2.0])
    slopes = ng.func.grad(lambda v: quantile(*v))(arguments)
    theirs = getattr(getattr(scipy.stats, name), function)
    assert quantile(*arguments) == pytest.approx(theirs(*arguments), rel=1e-14)
    inside = np.array([_slopes(quantile, arguments, abs(q - step)) for step in STEPS])
    inside = inside[np.isfinite(inside).all(1)]
    assert len(inside) > 1
    for found, sequence in zip(slopes, inside.T, strict=True):
        _require_limit(found, sequence)


def _slopes(quantile, arguments, q):
    return ng.func.grad(lambda v: quantile(*v))(np.array([q, *arguments[1:]]))


def _require_limit(found, sequence):
    assert not np.isnan(found)
    if np.isinf(found):
        assert np.sign(sequence[-1]) == np.sign(found)
        assert (np.diff(abs(sequence)) > 0).all()
    else:
        distance = abs(sequence - found)
        assert distance[-1] <= max(0.8 * distance[0], 1e-4 * abs(found)), (found, sequence)


@pytest.mark.parametrize(
    ("name", "shapes", "function", "q", "slopes"),
    [
        ("halfcauchy", (), "isf", 1.0, (-np.pi / 2,)), ("fisk", (1.0,), "ppf", 0.0, (1.0, 0.0)),
        ("genextreme", (0.5,), "ppf", 1.0, (np.inf, -4.0)),
        ("genextreme", (1.0,), "ppf", 1.0, (1.0, -1.0)),
        ("genpareto", (-1.0,), "ppf", 1.0, (1.0, 1.0)), ("f", (2.0, 5.0), "isf", 1.0, (-1.0, 0, 0)),
        ("gompertz", (2.0,), "ppf", 1.0, (np.inf, -0.5)),
        ("skewnorm", (0.0,), "ppf", 1.0, (np.inf, np.sqrt(2 / np.pi))),
    ],
)  # fmt: skip
def test_slopes_at_ends_that_are_known(name, shapes, function, q, slopes):
    quantile = getattr(getattr(ng.stats, name), function)
    found = ng.func.grad(lambda v: quantile(*v))(np.array([q, *shapes]))
    np.testing.assert_allclose(found, slopes, rtol=1e-14)


def test_numbers_beside_an_end_have_their_own_slopes():
    q, c = np.array([0.0, 0.25, 1.0, 0.75]), np.array([0.4, -0.4, 0.4, 0.0])

    def total(q, c):
        x = ng.stats.genextreme.ppf(q, c)
        return ng.where((q == 0) | (q == 1), 0.0, x).sum()

    found = ng.func.grad(total, argnums=(0, 1))(q, c)
    for k in range(4):
        alone = ng.func.grad(lambda q, c: ng.stats.genextreme.ppf(q, c), argnums=(0, 1))(q[k], c[k])
        for part, one in zip(found, alone, strict=True):
            assert part[k] == one or q[k] in (0, 1)
