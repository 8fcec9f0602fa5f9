"""Distances between points against SciPy's, their derivatives against differences."""

import numpy as np
import pytest
from scipy.spatial import distance

import numgrad as ng
from numgrad.interop import scipy
from numgrad.interop.scipy.spatial.distances import METRICS, SHORT
from numgrad.testing import gradcheck, gradgradcheck

RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((6, 3)), RNG.standard_normal((4, 3))
W = np.array([0.7, 1.3, 0.4])
OPTIONS = {
    "minkowski": [{}, {"p": 3.5}, {"p": 1.5, "w": W}], "jensenshannon": [{}],
    "seuclidean": [{}, {"V": W}], "mahalanobis": [{}, {"VI": np.diag(W) + 0.1}],
}  # fmt: skip


def points(metric):
    if metric == "jensenshannon":
        return abs(A), abs(B)
    return (np.round(A), np.round(B)) if metric in ("hamming", "canberra") else (A, B)


@pytest.mark.parametrize("metric", METRICS)
def test_distances_equal_those_of_scipy(metric):
    x, y = points(metric)
    for options in OPTIONS.get(metric, [{}, {"w": W}]):
        expected = distance.cdist(x, y, metric, **options), distance.pdist(x, metric, **options)
        found = scipy.cdist(x, y, metric, **options), scipy.pdist(x, metric, **options)
        for p, q in zip(found, expected, strict=True):
            np.testing.assert_allclose(p, q, rtol=1e-12, atol=1e-14, err_msg=str(options))
    assert scipy.cdist(x[:0], y, metric, **options).shape == (0, 4)
    assert scipy.pdist(x[:1], metric, **options).shape == (0,)


def test_short_names_are_those_of_scipy():
    for info in distance._METRIC_INFOS:
        if info.canonical_name in METRICS:
            for name in info.aka:
                assert SHORT.get(name, name) == info.canonical_name


@pytest.mark.parametrize("metric", [m for m in METRICS if m != "hamming"])
def test_derivatives_of_points_and_options_equal_differences(metric):
    x, y = (abs(A), abs(B)) if metric == "jensenshannon" else (A, B)
    for options in OPTIONS.get(metric, [{}, {"w": W}]):
        if metric == "chebyshev" and options:
            continue  # its weights only say what counts
        names = list(options)
        given = [ng.tensor(z, requires_grad=True) for z in (x[:5], y[:2], *options.values())]
        cross = lambda x, y, *w: scipy.cdist(x, y, metric, **dict(zip(names, w, strict=True)))  # noqa: E731, B023
        pairs = lambda x, y, *w: scipy.pdist(x, metric, **dict(zip(names, w, strict=True)))  # noqa: E731, B023
        gradcheck(cross, given)
        gradcheck(lambda x, *w: pairs(x, None, *w), [given[0], *given[2:]])  # noqa: B023
        if not options:
            gradgradcheck(cross, given)


def test_points_that_coincide_have_a_gradient_of_zero():
    for metric in ("euclidean", "minkowski", "seuclidean", "mahalanobis", "jensenshannon"):
        x = ng.tensor(abs(A), requires_grad=True)
        g = np.eye(6)
        options = OPTIONS.get(metric, [{}])[-1]
        gradient = ng.grad(scipy.cdist(x, abs(A), metric, **options), x, g)[0]
        assert not gradient.any(), metric


def test_a_function_of_two_points_is_a_metric():
    x = ng.tensor(A, requires_grad=True)
    found = scipy.pdist(x, lambda u, v, k: k * ((u - v) ** 2).sum(), k=2.0)
    np.testing.assert_allclose(found.detach().numpy(), 2 * distance.pdist(A, "sqeuclidean"))
    np.testing.assert_allclose(
        ng.grad(found.sum(), x)[0].numpy(), 4 * (6 * A - A.sum(axis=0)), rtol=1e-12
    )


def test_square_forms_are_those_of_scipy_with_gradients():
    for n in (1, 2, 4):
        v = RNG.standard_normal(n * (n - 1) // 2)
        np.testing.assert_array_equal(scipy.squareform(v), distance.squareform(v))
        np.testing.assert_array_equal(scipy.squareform(distance.squareform(v)), v)
    gradcheck(scipy.squareform, [ng.tensor(v, requires_grad=True)])
    m = ng.tensor(distance.squareform(v), requires_grad=True)
    np.testing.assert_array_equal(
        ng.grad(scipy.squareform(m).sum(), m)[0].numpy(), np.triu(np.ones((4, 4)), 1)
    )
    refused = [(np.ones(4), "all pairs"), (np.ones((2, 2)), "zeros on its diagonal")]
    refused += [([[0.0, 1.0], [2.0, 0.0]], "symmetric"), (np.ones((2, 3)), "square")]
    for wrong, words in refused:
        with pytest.raises(ValueError, match=f"squareform: X .*{words}"):
            scipy.squareform(wrong)


def test_batched_captured_and_mapped_equal_looped():
    given = [ng.tensor(x, requires_grad=True) for x in (A, B)]
    for metric in ("euclidean", "correlation", "mahalanobis"):
        f = lambda x, y: scipy.cdist(x, y, metric)  # noqa: E731, B023
        y = f(*given)
        g = RNG.standard_normal((3, *y.shape))
        batched = ng.grad(y, given, g, is_grads_batched=True)
        for k in range(3):
            alone = ng.grad(f(*given), given, g[k])
            for p, q in zip(batched, alone, strict=True):
                np.testing.assert_allclose(p[k].numpy(), q.numpy(), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(np.asarray(ng.jit(f)(A, B)), y.detach().numpy(), rtol=1e-14)
        mapped = np.asarray(ng.func.vmap(f)(np.stack([A, 2 * A]), np.stack([B, B])))
        np.testing.assert_allclose(mapped[1], distance.cdist(2 * A, B, metric), rtol=1e-12)


def test_wrong_points_and_options_are_refused_by_name():
    refused = [
        ("cdist: XA and XB need equally many columns", lambda: scipy.cdist(A, B[:, :2])),
        ("pdist: X must be a matrix", lambda: scipy.pdist(A[0])),
        ("cdist: metric must be one of", lambda: scipy.cdist(A, B, "yule")),
        ("cdist: metric 'cosine' does not take p", lambda: scipy.cdist(A, B, "cosine", p=2.0)),
        ("cdist: w must have shape", lambda: scipy.cdist(A, B, w=np.ones(2))),
        ("pdist: out must be None", lambda: scipy.pdist(A, out=np.ones(15))),
    ]
    for words, call in refused:
        with pytest.raises(ValueError, match=words):
            call()


WEIGHTS = np.array([0.7, 1.3, 0.4, 0.9])
PRECISION = np.diag(WEIGHTS) + 0.1
OF_VECTORS = {
    "braycurtis": {"w": WEIGHTS}, "canberra": {"w": WEIGHTS}, "chebyshev": {"w": WEIGHTS},
    "cityblock": {"w": WEIGHTS}, "correlation": {"w": WEIGHTS}, "cosine": {"w": WEIGHTS},
    "euclidean": {"w": WEIGHTS}, "minkowski": {"p": 3.0, "w": WEIGHTS}, "jensenshannon": {},
    "mahalanobis": {"VI": PRECISION}, "seuclidean": {"V": WEIGHTS}, "sqeuclidean": {"w": WEIGHTS},
}  # fmt: skip


@pytest.mark.parametrize("name", OF_VECTORS)
def test_distances_of_two_vectors_equal_those_of_scipy_and_derivatives_differences(name):
    own, theirs = getattr(ng.interop.scipy.distance, name), getattr(distance, name)
    u, v = np.array([0.3, 1.2, 0.7, 2.1]), np.array([1.1, 0.4, 0.9, 0.2])
    options = OF_VECTORS[name]
    required = options if name in ("mahalanobis", "seuclidean") else {}
    for given in (required, options):
        np.testing.assert_allclose(own(u, v, **given), theirs(u, v, **given), rtol=1e-12)
    f = lambda u, v, *others: own(u, v, **dict(zip(options, others, strict=True)))  # noqa: E731
    arrays = [np.asarray(x) for x in (u, v, *options.values())]
    tensors = [ng.tensor(x, requires_grad=True) for x in arrays]
    gradcheck(f, tensors)
    gradgradcheck(f, tensors)
    d = float(f(*arrays))
    assert float(ng.jit(f)(*arrays)) == d
    mapped = np.asarray(ng.func.vmap(f)(*[np.stack([x, x]) for x in arrays]))
    np.testing.assert_allclose(mapped, [d, d], rtol=1e-13)


def test_vectors_that_do_not_fit_are_refused_by_name():
    for args in (([1.0], [1.0, 2.0]), (1.0, 2.0), ([[1.0]], [[1.0]])):
        with pytest.raises(ValueError, match="euclidean: u and v must be vectors of one size"):
            ng.interop.scipy.distance.euclidean(*args)
    with pytest.raises(ValueError, match="minkowski: p must be positive"):
        ng.interop.scipy.distance.minkowski([1.0], [2.0], 0.0)
    with pytest.raises(ValueError, match="cosine: w must not be negative"):
        ng.interop.scipy.distance.cosine([1.0], [2.0], [-1.0])
    u = ng.tensor([1.0, 2.0], requires_grad=True)
    same = ng.interop.scipy.distance.euclidean(u, [1.0, 2.0])
    assert ng.grad(same, u)[0].tolist() == [0.0, 0.0]
