"""Densities estimated from samples: SciPy's values, and derivatives by differences."""

import numpy as np
import pytest
from scipy import stats

import numgrad as ng
from numgrad.testing import gradcheck, gradgradcheck

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("d", [1, 2])
def test_values_equal_those_of_scipy_and_derivatives_differences(d):
    x, w, at = RNG.standard_normal((d, 9)), RNG.uniform(0, 1, 9), RNG.standard_normal((d, 4))
    mean, spread = np.zeros(d), np.eye(d)
    for bandwidth in (None, "silverman", 0.3, lambda kde: kde.neff**-0.2):
        for weights in (None, w):
            own, theirs = (m.gaussian_kde(x, bandwidth, weights) for m in (ng.stats, stats))
            others = (m.gaussian_kde(x[:, :5]) for m in (ng.stats, stats))
            pairs = [
                (own(at), theirs(at)), (own.logpdf(at), theirs.logpdf(at)),
                (own.covariance, theirs.covariance), (own.inv_cov, theirs.inv_cov),
            ]  # fmt: skip
            pairs.append([k.integrate_gaussian(mean, spread) for k in (own, theirs)])
            kdes = zip((own, theirs), others, strict=True)
            pairs.append([one.integrate_kde(other) for one, other in kdes])
            if d == 1:
                pairs.append([k.integrate_box_1d(-1.0, 0.5) for k in (own, theirs)])
            for found, expected in pairs:
                np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10)
    f = lambda x, w, at, b: ng.stats.gaussian_kde(x, b, w).logpdf(at)  # noqa: E731
    given = [ng.tensor(v, requires_grad=True) for v in (x, w, at, 0.6)]
    gradcheck(f, given)
    gradgradcheck(f, given)
    y = f(*given)
    np.testing.assert_array_equal(np.asarray(ng.jit(f)(x, w, at, 0.6)), y.detach().numpy())
    twice = [np.stack([v, v]) for v in (x, w, at)]
    mapped = np.asarray(ng.func.vmap(f)(*twice, np.array([0.3, 0.6])))
    np.testing.assert_allclose(mapped[1], y.detach().numpy(), rtol=1e-12)
    g = RNG.standard_normal((2, 4))
    batched = ng.grad(y, given, g, is_grads_batched=True)
    for found, one in zip(batched, ng.grad(f(*given), given, g[1]), strict=True):
        np.testing.assert_allclose(found[1].numpy(), one.numpy(), rtol=1e-11, atol=1e-12)


def test_estimates_take_tensors_while_scipy_is_patched():
    x, at = RNG.standard_normal(7), ng.tensor([0.1, 0.4], requires_grad=True)
    before = stats.gaussian_kde(x, 0.4)
    with ng.interop.scipy.patch():
        found = before.logpdf(at)
        new = stats.gaussian_kde(ng.tensor(x, requires_grad=True), 0.4)(at)
        assert isinstance(stats.gaussian_kde(x), stats.gaussian_kde)
    np.testing.assert_allclose(found.detach().numpy(), before.logpdf([0.1, 0.4]), rtol=1e-12)
    np.testing.assert_allclose(new.detach().numpy(), before([0.1, 0.4]), rtol=1e-12)


def test_wrong_arguments_are_refused_in_words():
    for words, call in (
        ("dataset must be", lambda: ng.stats.gaussian_kde([1.0])),
        ("bw_method must be", lambda: ng.stats.gaussian_kde([1.0, 2.0], "far")),
        ("weights of shape", lambda: ng.stats.gaussian_kde([1.0, 2.0], weights=[1.0])),
        ("points of shape", lambda: ng.stats.gaussian_kde([1.0, 2.0])(np.ones((2, 2)))),
    ):
        with pytest.raises(ValueError, match=f"gaussian_kde: {words}"):
            call()
