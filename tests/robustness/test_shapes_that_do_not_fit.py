"""The error for operands of an elementwise operator that cannot be broadcast together."""

import numpy as np
import pytest

import numgrad as ng


def _tensors(*shapes):
    return [ng.tensor(np.ones(shape), requires_grad=True) for shape in shapes]


CALLS = {
    "eager": lambda x, y: x + y,
    "a function": ng.add,
    "of NumPy": np.add,
    "captured": lambda x, y: ng.jit(lambda a, b: a + b)(x, y),
    "an array": lambda x, y: x + y.detach().numpy(),
    "a list": lambda x, y: x + y.tolist(),
    "in place": lambda x, y: (x * 1.0).__iadd__(y),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_error_names_the_operator_the_shapes_and_what_to_write(name):
    x, y = _tensors((6, 3), (6,))
    with pytest.raises(ValueError, match=r"add: operands of shapes \(6, 3\) and \(6,\)") as caught:
        CALLS[name](x, y)
    assert "axis -1 has 3 and 6 elements" in str(caught.value)
    assert "write x[..., None] in place of the operand of shape (6,)" in str(caught.value)
    assert (x + y[..., None]).shape == (6, 3)
    np.testing.assert_array_equal(x.detach(), np.ones((6, 3)))


def test_two_vectors_may_be_meant_for_all_pairs():
    x, y = _tensors((3,), (4,))
    with pytest.raises(ValueError, match=r"multiply: .* for all pairs .* write x\[:, None"):
        x * y
    assert (x[:, None] * y).shape == (3, 4)


@pytest.mark.parametrize("shapes", [((6, 3), (6, 4)), ((2, 3), (3, 2)), ((6, 3), (4,))])
def test_no_remedy_is_named_where_none_is_known(shapes):
    with pytest.raises(ValueError, match=r"cannot be broadcast together, as axis -1 .* elements$"):
        np.less(*_tensors(*shapes))


def test_three_operands():
    x, y = _tensors((6, 3), (4,))
    with pytest.raises(ValueError, match=r"where: .* \(6, 3\), \(6, 3\) and \(4,\) cannot"):
        ng.where(x > 0, x, y)


def test_under_vmap_the_shapes_are_those_of_one_sample():
    x, y = _tensors((5, 3), (5, 4))
    with pytest.raises(ValueError, match=r"multiply: operands of shapes \(3,\) and \(4,\)"):
        ng.func.vmap(lambda a, b: a * b)(x, y)


def test_other_errors_of_value_are_left_as_they_are():
    with pytest.raises(ValueError, match="egative integer power"):
        ng.pow(ng.tensor([2, 3]), ng.tensor([-1, -2]))
