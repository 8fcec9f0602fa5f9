"""Reductions of arrays that are not in C order: the bits of a copy in C order, without a copy."""

import itertools
import tracemalloc

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare.reduction_layout import arrangement

MATRICES = [(5, 7), (64, 70), (1025, 9), (17, 1)]
SHAPES = [(3,), *MATRICES, (5, 6, 7), (33, 2, 40), (12, 1, 13), (2, 3, 4, 5)]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
ALL_FORMS = ("columns", "groups", "matrix")


def numbers(shape, dtype=np.float64):
    rng = np.random.default_rng(7)
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-6, 7, shape)
    if np.dtype(dtype).kind == "c":
        x = x * np.exp(1j * rng.normal(size=shape))
    return x.astype(dtype)


def views(shape, dtype):
    """Yield views of arrays in other orders of axes, with steps and repetition."""
    base = numbers(shape, dtype)
    orders = list(itertools.permutations(range(len(shape))))
    for order in orders[:: 1 if len(shape) < 4 else 5]:
        turned = base.transpose(order)
        yield from (turned, turned[::-1], turned[..., ::2], turned[1:])
    yield np.broadcast_to(base, (3, *shape))
    yield np.broadcast_to(base[..., :1], shape)
    yield np.repeat(base[..., None], 3, -1)[..., 1]


def axes_of(array):
    for count in range(array.ndim + 1):
        yield from itertools.combinations(range(array.ndim), count)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_bits_are_those_of_a_copy_and_memory_lies_as_numpys(shape, dtype):
    names = ("sum", "prod") if np.dtype(dtype).kind == "c" else ("sum", "prod", "max", "min")
    for array in views(shape, dtype):
        if array.size:
            copy = array.copy()
            for axes, name in itertools.product(axes_of(array), names):
                found = getattr(ng, name)(ng.asarray(array), axis=axes).numpy()
                assert (
                    found.tobytes()
                    == getattr(ng, name)(ng.asarray(copy), axis=axes).numpy().tobytes()
                )
                with np.errstate(all="ignore"):
                    assert found.strides == getattr(np, name)(array, axis=axes).strides


@pytest.mark.parametrize("rows", [1, 5, 31, 32, 100, 1025])
@pytest.mark.parametrize("columns", [2, 8, 13, 100, 9000])
def test_long_and_short_rows_of_a_matrix(rows, columns):
    x = numbers((rows, columns))
    for array in (x[:, ::-1], x[::-1, 1:], np.asfortranarray(x), np.asfortranarray(x)[::2]):
        for axis in (None, 0, 1):
            found = ng.sum(ng.asarray(array), axis=axis).numpy()
            assert found.tobytes() == ng.sum(ng.asarray(array.copy()), axis=axis).numpy().tobytes()


@pytest.mark.parametrize("axes", [None, 0, 1, 2, (0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize("order", [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1)])
def test_no_copy_is_made(order, axes):
    x = ng.asarray(numbers((40, 50, 60)).transpose(order))
    if axes is None and order in [(1, 0, 2), (0, 2, 1), (2, 0, 1)]:
        axes = (0, 1)
    for name in ("sum", "max"):
        for _ in range(3):
            getattr(ng, name)(x, axis=axes)
        tracemalloc.start()
        try:
            getattr(ng, name)(x, axis=axes)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < x.nbytes / 4


@pytest.mark.parametrize("axes", [None, 0, 1, (0, 1)])
def test_derivatives_of_sums_of_a_transpose(axes):
    x = ng.tensor(np.linspace(-1.0, 1.2, 12).reshape(3, 4), requires_grad=True)
    assert ng.testing.gradcheck(lambda x: ng.sum(x.T * x.T, axis=axes), x)
    assert ng.testing.gradgradcheck(lambda x: ng.sum(x.T * x.T * x.T, axis=axes), x)
    assert ng.testing.gradcheck(lambda x: ng.prod(x.T, axis=axes), x)


def strided(shape, order):
    return np.zeros(shape).transpose(order)


@pytest.mark.parametrize(
    ("array", "axes", "form", "shape"),
    [
        (np.zeros((4, 5)).T, (-2,), "elements", (4, 5)),
        (np.zeros((4, 5)).T, (-1,), "columns", (4, 5)),
        (np.zeros((4, 5)).T, (-2, -1), "matrix", (5, 4)),
        (np.zeros((4, 9))[:, :5], (-2,), "groups", (1, 4, 5)),
        (np.zeros((4, 9))[:, :5], (-1,), "elements", (4, 5)),
        (strided((3, 4, 5), (1, 0, 2)), (-3, -2), "groups", (4, 3, 5)),
        (strided((3, 4, 5), (2, 1, 0)), (-3, -2, -1), "elements", (60,)),
        (np.zeros((3, 4, 5)), (-3, -1), "matrix", (4, 3, 5)),
        (np.zeros((3, 4, 5))[::-1], (-3, -2, -1), "matrix", (3, 20)),
        (np.zeros((6, 5))[::2, 0], (-1,), "matrix", (1, 3)),
    ],
)
def test_the_form_in_which_an_array_is_reduced(array, axes, form, shape):
    found = arrangement(array.shape, array.strides, axes, 8, ALL_FORMS)
    assert (found.form, found.shape) == (form, shape)
    assert found.is_copied == (form == "elements" and len(axes) == 3)
    assert found.seen(array).shape == shape


def test_without_kernels_for_other_forms_elements_are_copied():
    array = np.zeros((4, 5)).T
    assert arrangement(array.shape, array.strides, (-1,), 8, ()).is_copied
    assert not arrangement(array.shape, array.strides, (-2,), 8, ()).is_copied
