import operator

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import DetachedError

pd = pytest.importorskip("pandas")

NUMBERS = np.array([1.5, 2.0, 4.0])
MATRIX = np.array([[1.0, 2.0, 0.5], [4.0, 5.0, 6.0]])
OPERATORS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod,
    operator.floordiv, operator.lt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip


def operands():
    """Return what pandas has, each with its values, and a tensor beside them."""
    x = np.array([2.0, 2.0, 3.0])
    frame = pd.DataFrame(MATRIX, columns=list("abc"), index=[7, 3])
    series = pd.Series(NUMBERS, index=[5, 1, 9], name="s")
    return x, ((series, NUMBERS), (frame, MATRIX), (pd.Index(NUMBERS), NUMBERS))


def test_operators_compute_with_the_values():
    x, of_pandas = operands()
    for operate in OPERATORS:
        for found, values in of_pandas:
            for tensor in (ng.tensor(x), ng.tensor(x, requires_grad=True)):
                for result, expected in (
                    (operate(found, tensor), operate(values, x)),
                    (operate(tensor, found), operate(x, values)),
                ):
                    assert type(result) is ng.Tensor
                    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-15)


def test_gradients_reach_the_tensor():
    x, of_pandas = operands()
    for found, values in of_pandas:
        for transformed in (ng.func.grad, lambda f: ng.jit(ng.func.grad(f))):
            np.testing.assert_allclose(
                transformed(lambda t, s=found: (s * t**2).sum())(x),
                np.broadcast_to(2 * x * values, np.shape(values)).reshape(-1, 3).sum(0),
            )
    series = of_pandas[0][0]
    assert np.array_equal(ng.func.grad(lambda t: np.multiply(series, t).sum())(x), NUMBERS)
    assert np.array_equal(ng.func.grad(lambda t: np.maximum(t, series).sum())(x), [1.0, 0.5, 0.0])


def test_products_with_a_frame_on_the_right():
    frame = pd.DataFrame(MATRIX)
    gradient = ng.func.grad(lambda t: (t @ frame).sum())(np.ones(2))
    np.testing.assert_allclose(gradient, MATRIX.sum(1))


def test_products_with_a_frame_on_the_left_name_what_to_write():
    """pandas asks no right factor whether it has an answer, so there is none but an error."""
    for factor in (pd.DataFrame(MATRIX), pd.Series(NUMBERS)):
        message = r"test_pandas_operands\.py:\d+ in .*: write a\.to_numpy\(\) @ t"
        with pytest.raises(DetachedError, match=message):
            ng.func.grad(lambda t, a=factor: (a @ t).sum())(np.ones(3))


def test_writing_into_a_series_names_what_to_write():
    series = pd.Series(NUMBERS)
    with pytest.raises(DetachedError, match=r"series\.to_numpy\(\) \+ x"):
        series += ng.tensor(NUMBERS, requires_grad=True)


def test_a_tensor_is_written_by_a_series():
    x = ng.tensor(NUMBERS, requires_grad=True)
    y = kept = x * 1.0
    y += pd.Series(NUMBERS)
    assert kept is y
    assert np.array_equal(y.detach().numpy(), 2 * NUMBERS)


def test_columns_that_hold_no_numbers_are_refused():
    with pytest.raises(TypeError, match="unsupported operand"):
        ng.tensor(NUMBERS) * pd.Series(["a", "b", "c"])


def test_masks_and_positions():
    x = ng.tensor(NUMBERS)
    assert x[pd.Series(NUMBERS) > 1.8].tolist() == [2.0, 4.0]
    assert x[pd.Index([2, 0])].tolist() == [4.0, 1.5]


def test_what_is_transformed_may_return_constants_of_pandas():
    series, frame = pd.Series(NUMBERS), pd.DataFrame(MATRIX)

    def function(x):
        return {"series": series, "product": (series * x, frame)}

    for transform in (lambda f: f, ng.jit):
        blocks = ng.func.jacobian(transform(function))(NUMBERS)
        np.testing.assert_array_equal(blocks["series"], np.zeros((3, 3)))
        np.testing.assert_array_equal(blocks["product"][0], np.diag(NUMBERS))
    captured = ng.jit(function)
    for _ in range(3):
        found = captured(NUMBERS)
        np.testing.assert_array_equal(found["series"], NUMBERS)
        np.testing.assert_array_equal(found["product"][1], MATRIX)
    mapped = ng.func.vmap(function)(np.ones((2, 3)))
    np.testing.assert_array_equal(mapped["series"], [NUMBERS, NUMBERS])
    with pytest.raises(ng.errors.ArgTypeError, match=r"write \.to_numpy\(\)"):
        ng.jit(lambda x: pd.Series(["a"]))(NUMBERS)
    with pytest.raises(ng.errors.ArgTypeError, match=r"write \.to_numpy\(\)"):
        ng.func.grad(lambda s: (s**2).sum())(series)


def written(frame, x):
    frame["w"] = x


def test_frames_made_of_tensors_are_told_to_be_tensors():
    x = ng.tensor(NUMBERS, requires_grad=True)
    frame = pd.DataFrame({"u": NUMBERS})
    for call in (
        lambda: pd.Series(x), lambda: pd.DataFrame({"a": x}), lambda: written(frame, x * 2),
        lambda: ng.func.grad(lambda x: pd.Series(x).sum())(NUMBERS),
    ):  # fmt: skip
        with pytest.raises(DetachedError, match=r"write .*pandas holds no"):
            call()
