"""Random arrays for products of matrices, and what they are compared with."""

import numpy as np

import numgrad as ng


def close(actual, expected):
    actual = actual.detach().numpy() if isinstance(actual, ng.Tensor) else actual
    assert actual.shape == np.shape(expected)
    assert actual.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)


def draw(rng, *shapes):
    return [rng.standard_normal(shape) for shape in shapes]
