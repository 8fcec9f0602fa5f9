"""Arrays that are not quite what kernels read: another byte order, a mask, tensors in a list."""

import sys
import types

import numpy as np
import pytest

import numgrad as ng
from numgrad._tensor import Tensor

NATIVE = np.arange(1.0, 4.0)
SWAPPED = NATIVE.astype(NATIVE.dtype.newbyteorder("S"))
MASKED = np.ma.array(NATIVE, mask=[1, 0, 0])

READERS = {
    "tensor": lambda a: ng.sin(ng.tensor(a)),
    "asarray": lambda a: ng.sin(ng.asarray(a)),
    "function": ng.sin,
    "operand": lambda a: ng.tensor(NATIVE) * a,
    "reflected": lambda a: a * ng.tensor(NATIVE),
    "stack": lambda a: ng.stack([a, ng.tensor(NATIVE)]),
    "where": lambda a: ng.where(ng.tensor(NATIVE) > 1, a, 0.0),
    "func.grad": ng.func.grad(lambda x: (x**3).sum()),
    "func.jacobian": ng.func.jacobian(lambda x: x**3),
    "jit": ng.jit(lambda x: ng.sin(x) * 2),
    "jit with two": lambda a: ng.jit(lambda x, y: ng.sin(x) * y)(a, a[::-1]),
}


def value(x):
    return x.numpy() if isinstance(x, Tensor) else x


@pytest.mark.parametrize("way", READERS)
def test_the_byte_order_of_an_array_makes_no_difference(way):
    found, expected = value(READERS[way](SWAPPED)), value(READERS[way](NATIVE))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("code", ["<", ">"])
def test_dtypes_of_tensors_have_the_byte_order_of_the_machine(code):
    asked = np.dtype(code + "f4")
    tensors = ng.tensor([1], dtype=asked), ng.zeros(2, dtype=asked), ng.ones(2).astype(asked)
    assert all(t.dtype.isnative and t.dtype == np.float32 for t in tensors)


def test_an_array_that_is_read_at_each_call_cannot_be_converted():
    with pytest.raises(ng.errors.CaptureError, match=r"byte order.*astype"):
        ng.jit(lambda x: x * SWAPPED)(NATIVE)
    with pytest.raises(ValueError, match="without a copy"):
        ng.asarray(SWAPPED, copy=False)


def test_arrays_are_read_while_another_thread_imports_masked_arrays(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy.ma", types.ModuleType("numpy.ma"))  # as it begins
    assert ng.tensor(NATIVE).tolist() == [1.0, 2.0, 3.0]
    assert (ng.tensor(1.0) + NATIVE).tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    "read",
    [
        ng.tensor, ng.asarray, ng.sum, lambda a: ng.add(ng.tensor(NATIVE), a),
        ng.func.grad(lambda x: x.sum()), lambda a: ng.stack([a, a]), ng.jit(lambda x: 2 * x),
    ],
)  # fmt: skip
def test_a_mask_is_not_lost(read):
    with pytest.raises(TypeError, match=r"(?i)masked ?array"):
        read(MASKED)


def test_masked_arrays_answer_for_operators():
    total = ng.tensor(NATIVE) + MASKED
    assert isinstance(total, np.ma.MaskedArray)
    assert total.mask.tolist() == [True, False, False]
    with pytest.raises(ng.errors.DetachedError):
        ng.tensor(NATIVE, requires_grad=True) + MASKED


# Tensors in a list --------------------------------------------------------------------------------


def test_a_list_of_tensors_becomes_a_tensor_in_a_captured_function_too():
    def rotated(x):
        return ng.asarray([[x[1], 0.0], [2, x[0]]])

    np.testing.assert_array_equal(ng.jit(rotated)(NATIVE), [[2.0, 0.0], [2.0, 1.0]])
    np.testing.assert_array_equal(ng.jit(lambda x: ng.linspace(x[0], x[2], 3))(NATIVE), NATIVE)
    assert ng.jit(lambda numbers: ng.asarray(numbers).sum())([1.5, 2.5]) == 4.0


OPERANDS = {
    "beside a tensor": lambda np, x: x[:2] + [x[0], x[1]],
    "before a tensor": lambda np, x: [x[1], 2, x[0]] / x,
    "numbers among them": lambda np, x: np.maximum([x[0], 1], 0.5),
    "alone": lambda np, x: np.sin([x[0], 2.0, x[1]]),
    "nested": lambda np, x: np.exp([[x[0], 1], [2, x[1]]]),
    "tuples": lambda np, x: np.hypot((x[0], 2), (x[1], x[2])),
    "arrays": lambda np, x: np.add([x, 2 * x], [1, 2, 3]),
    "in place": lambda np, x: np.multiply(x, [x[0], 1, x[1]], out=np.zeros(3)),
    "a reduction": lambda np, x: np.maximum.reduce([x[0], x[1]]),
    "of a mask": lambda np, x: np.where(x > 1.5, [x[2], 1, 2], x),
}


@pytest.mark.parametrize("use", OPERANDS.values(), ids=OPERANDS)
def test_lists_of_tensors_are_operands(use):
    x = ng.tensor(NATIVE, requires_grad=True)
    np.testing.assert_allclose(use(ng, x).detach().numpy(), use(np, NATIVE), 1e-15)
    assert ng.testing.gradcheck(lambda x: use(ng, x), [x])
    gradient = ng.func.grad(lambda x: (use(ng, x) ** 2).sum())
    np.testing.assert_allclose(ng.jit(gradient)(NATIVE), gradient(NATIVE), 1e-14)
    both = ng.func.vmap(gradient)(np.stack([NATIVE, NATIVE]))
    np.testing.assert_allclose(both[1], gradient(NATIVE), 1e-14)
    single = NATIVE.astype(np.float32)
    assert use(ng, ng.tensor(single)).dtype == use(np, single).dtype


@pytest.mark.usefixtures("numpy_as_it_is")
def test_a_list_of_tensors_where_none_can_be_taken_names_the_way_out():
    def use(x):
        return ng.tensor([x[0], x[1]])

    x = ng.tensor(NATIVE, requires_grad=True)
    with pytest.raises(ng.errors.DetachedError, match=r"ng\.asarray.*ng\.stack"):
        use(x)
    with pytest.raises(ng.errors.CaptureError, match=r"ng\.asarray.*ng\.stack"):
        ng.jit(use)(NATIVE)
    assert use(x.detach()).shape == (2,)
    with pytest.raises(ng.errors.DetachedError, match=r"or ng\.array\(\[x\[0\], x\[1\]\]\)"):
        np.array([x[0], x[1]])


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_refused_since_its_product_is_another_one():
    matrix, x = np.matrix([[1.0, 2.0], [3.0, 4.0]]), np.ones((2, 2))
    for call in (
        lambda: ng.tensor(matrix),
        lambda: ng.asarray(matrix),
        lambda: matrix * ng.tensor(x),
        lambda: ng.tensor(x) * matrix,
        lambda: ng.func.grad(lambda a: (a * a).sum())(matrix),
        lambda: ng.func.grad(lambda a: (a * matrix).sum())(x),
        lambda: ng.jit(lambda a: a * matrix)(x),
    ):
        with pytest.raises(TypeError, match=r"numpy\.matrix is no tensor"):
            call()


def test_the_conjugate_of_real_numbers_is_the_tensor_itself():
    for x in (ng.tensor([1.0, 2.0]), ng.tensor([1, 2])):
        assert x.conj() is x.conjugate() is x
        assert np.conj(x) is not x
