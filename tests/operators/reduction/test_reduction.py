"""Reductions: one value for every layout, derivatives at the points where formulas break."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.operators.reduction.reductions import sum_to

from ..derivatives import check_batched, check_derivatives, gradient, in_program, second

SUM, PROD, MAX, MIN = (registry[name] for name in ("sum", "prod", "max", "min"))
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def random(rng, shape, dtype=np.float64):
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def layouts(x):
    """Return ``x`` in several memory layouts."""
    wide = np.empty((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    mirrored = x[..., ::-1].copy()[..., ::-1]
    return {"C": x, "F": np.asfortranarray(x), "strided": wide[..., ::2], "reversed": mirrored}


# Sums ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (3, 40), (1100, 20), (2, 600, 9), (5, 3, 2, 10)])
def test_a_sum_has_the_same_bits_for_every_layout_and_in_programs(rng, shape, dtype):
    x = random(rng, shape, dtype)
    for axes in {
        (-1,),
        (-len(shape),),
        tuple(range(-len(shape), 0)),
        tuple(range(-len(shape), -1)),
    } - {()}:
        expected = SUM(x, axes=axes).numpy()
        reference = np.sum(x.astype(np.result_type(dtype, np.float64)), axis=axes)
        np.testing.assert_allclose(
            expected, reference, 1e-5 if x.real.itemsize == 4 else 1e-12, 1e-4
        )
        for layout in layouts(x).values():
            np.testing.assert_array_equal(SUM(layout, axes=axes).numpy(), expected)
            np.testing.assert_array_equal(in_program(SUM, layout, axes=axes), expected)


def test_rows_of_a_matrix_are_summed_with_the_bits_of_contiguous_columns(rng):
    for rows in (0, 1, 7, 8, 9, 511, 512, 513, 1500):
        x = random(rng, (rows, 130), np.float32)
        columns = np.stack([SUM(np.ascontiguousarray(c), axes=(-1,)).numpy() for c in x.T])
        np.testing.assert_array_equal(SUM(x, axes=(-2,)).numpy(), columns)


def test_no_transposing_copy_for_a_bias(rng):
    from numgrad.engine.lower import lower as programs
    from numgrad.engine.record.apply import deferring
    from numgrad.targets.null import NullTarget

    with deferring(True):
        value = SUM(random(rng, (50, 16)), axes=(-2,))
    assert [i.name for i in programs.lower([value], NullTarget()).instructions] == ["sum"]


def test_float32_sums_are_as_accurate_as_pairwise_ones(rng):
    x = rng.random(1 << 20).astype(np.float32)
    exact = np.sum(x, dtype=np.float64)
    error = abs(float(SUM(x, axes=(-1,)).numpy()) - exact)
    assert error <= 2 * abs(float(np.sum(x)) - exact) + 1e-7 * exact


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_infinities_survive_compensation(rng, value):
    x = rng.random((2000, 10))
    x[700, 3] = value
    np.testing.assert_array_equal(SUM(x, axes=(-2,)).numpy()[3], value)
    np.testing.assert_array_equal(SUM(x, axes=(-2, -1)).numpy(), value)


def test_sum_to_undoes_broadcasting(rng):
    for shape, target in [
        ((4, 3), (3,)),
        ((1, 3), (3,)),
        ((4, 1, 3), (1, 3)),
        ((2, 1, 4, 3), (4, 1)),
        ((1, 1), ()),
    ]:
        x = random(rng, shape)
        lead = x.ndim - len(target)
        axes = tuple(n for n in range(x.ndim) if n < lead or (target[n - lead] == 1 != shape[n]))
        expected = np.sum(x, axis=axes).reshape(target)
        np.testing.assert_allclose(sum_to(ng.tensor(x), target).numpy(), expected)


@pytest.mark.parametrize("axes", [(), (-1,), (-2,), (-3, -1), (-3, -2), (-3, -2, -1)])
@pytest.mark.parametrize("operator", [SUM, PROD, MAX, MIN])
def test_derivatives(rng, operator, axes):
    x = random(rng, (3, 2, 4))
    check_derivatives(lambda x: operator(x, axes=axes), x, rng)
    check_batched(lambda x: operator(x, axes=axes), x, rng)


# Products -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "first", "mixed"),
    [
        ([0, 2, 3], [6, 0, 0], [5, 3, 2]),
        ([0, 0, 3], [0, 0, 0], [3, 3, 0]),
        ([0, 0, 0], [0, 0, 0], [0, 0, 0]),
    ],
)
def test_products_with_zeros_have_exact_derivatives(x, first, mixed):
    x = np.array(x, float)

    def product(x):
        return PROD(x, axes=(-1,))

    np.testing.assert_array_equal(gradient(product, x), first)
    np.testing.assert_array_equal(second(product, x, np.array(1.0), np.ones(3)), mixed)


def test_third_derivative_of_a_product_with_zeros():
    x = ng.tensor([0.0, 0.0, 0.0, 5.0], requires_grad=True)
    y = PROD(x, axes=(-1,))
    for position in (0, 1, 2):
        (gx,) = ng.grad(y, x, create_graph=True)
        y = SUM(registry["multiply"](gx, np.eye(4)[position]), axes=(-1,))
    assert y.item() == 5.0


def test_the_derivative_of_a_complex_product_is_conjugated(rng):
    x = random(rng, (4,), np.complex128)
    others = np.array([np.prod(np.delete(x, i)) for i in range(4)])
    np.testing.assert_allclose(gradient(lambda x: PROD(x, axes=(-1,)), x), others.conj())


# Extrema ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("operator", "numpy"), [(MAX, np.max), (MIN, np.min)])
def test_extrema_propagate_nan(operator, numpy):
    x = np.array([[1.0, np.nan, 3.0, -2.0, 0.0], [5.0, 4.0, np.inf, 1.0, -np.inf]])
    np.testing.assert_array_equal(operator(x, axes=(-1,)).numpy(), numpy(x, -1))
    np.testing.assert_array_equal(in_program(operator, x, axes=(-2,)), numpy(x, -2))


def test_ties_share_the_gradient():
    np.testing.assert_array_equal(
        gradient(lambda x: MAX(x, axes=(-1,)), np.array([3.0, 1, 3])), [0.5, 0, 0.5]
    )
    np.testing.assert_array_equal(
        gradient(lambda x: MIN(x, axes=(-1,)), np.array([3.0, 3, 3, 9])), [1 / 3] * 3 + [0]
    )


def test_the_gradient_at_nan_is_nan():
    assert np.isnan(gradient(lambda x: MAX(x, axes=(-1,)), np.array([1.0, np.nan]))).all()


@pytest.mark.parametrize("operator", [MAX, MIN, registry["argmax"], registry["argmin"]])
def test_extrema_need_an_element(operator):
    with pytest.raises(ValueError, match=operator.name):
        operator(np.zeros((0, 3)), axes=(-2,))
    with pytest.raises(ValueError, match=operator.name):
        in_program(operator, np.zeros((0, 3)), axes=(-2,))
    assert operator(np.zeros((0, 3)), axes=(-1,)).shape == (0,)


# Searching ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["any", "all", "count_nonzero", "argmax", "argmin"])
def test_kernels_of_searching_agree_with_numpy(rng, name):
    operator = registry[name]
    x = rng.integers(-2, 3, (4, 5, 6)).astype(float)
    x[0, 0, 3] = np.nan
    for axes in ((-1,), (-2,), (-3, -2, -1)):
        eager = operator(x, axes=axes).numpy()
        program = in_program(operator, x, axes=axes)
        np.testing.assert_array_equal(program, eager)
        assert program.dtype == eager.dtype
        if name.startswith("arg"):
            axis = None if len(axes) == 3 else axes[0]
            np.testing.assert_array_equal(eager, getattr(np, name)(x, axis))
        else:
            np.testing.assert_array_equal(eager, getattr(np, name)(x, axis=axes))


def test_shifted_exp_at_infinity():
    x = np.array([-np.inf, np.inf, 1.0])
    np.testing.assert_array_equal(registry["shifted_exp"](x, x).numpy(), np.ones(3))
