"""Tensor behaves like an array: operators, comparisons, iteration, text, copies, exchange."""

import operator

import numpy as np
import pytest

import numgrad as ng
from numgrad.functions.tensor.methods import Methods
from numgrad.functions.tensor.python_operators import Arithmetic

BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
UNARY = [operator.neg, operator.pos, abs]


def leaf(data, dtype=None):
    return ng.tensor(data, dtype=dtype, requires_grad=True)


def same(result, expected):
    assert isinstance(result, ng.Tensor)
    expected = np.asarray(expected)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-14)


# Operators ----------------------------------------------------------------------------------------

LEFT = np.array([[1.5, -2.0, 3.0], [4.0, 0.5, 2.5]])
RIGHT = np.array([2.0, 1.5, 3.0])


@pytest.mark.parametrize("operate", BINARY, ids=lambda o: o.__name__)
@pytest.mark.parametrize("right", [RIGHT, 2, 2.5, np.float64(1.5), [2.0, 1.5, 3.0]], ids=repr)
def test_operator_is_that_of_arrays_from_both_sides(operate, right):
    left = np.abs(LEFT)
    with np.errstate(all="ignore"):
        same(operate(ng.tensor(left), right), operate(left, np.asarray(right)))
        same(operate(right, ng.tensor(left)), operate(np.asarray(right), left))


@pytest.mark.parametrize("operate", BINARY, ids=lambda o: o.__name__)
def test_operator_of_two_tensors(operate):
    same(operate(ng.tensor(abs(LEFT)), ng.tensor(RIGHT)), operate(abs(LEFT), RIGHT))


@pytest.mark.parametrize("operate", BITS, ids=lambda o: o.__name__)
@pytest.mark.parametrize("right", [3, np.array([1, 2, 3])], ids=["number", "array"])
def test_operator_on_bits(operate, right):
    left = np.array([4, 5, 6])
    same(operate(ng.tensor(left), right), operate(left, right))
    same(operate(right, ng.tensor(left)), operate(right, left))


@pytest.mark.parametrize("operate", [operator.and_, operator.or_, operator.xor])
def test_operator_on_truth_values(operate):
    left, right = np.array([True, True, False]), np.array([True, False, False])
    same(operate(ng.tensor(left), ng.tensor(right)), operate(left, right))
    same(~ng.tensor(left), ~left)


@pytest.mark.parametrize("operate", UNARY, ids=lambda o: o.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_unary_operator(operate, dtype):
    array = np.array([-1.0, 2.0, -3.0]).astype(dtype)
    same(operate(ng.tensor(array)), operate(array))


def test_matmul_from_both_sides():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for left, right in ((ng.tensor(a), ng.tensor(b)), (ng.tensor(a), b), (a, ng.tensor(b))):
        same(left @ right, a @ b)


def test_divmod_and_round():
    quotient, rest = divmod(ng.tensor([7.0, -7.0]), 2)
    same(quotient, [3.0, -4.0])
    same(rest, [1.0, 1.0])
    quotient, rest = divmod(7, ng.tensor([2, 3]))
    same(quotient, [3, 2])
    same(rest, [1, 1])
    same(round(ng.tensor([1.26, 2.5]), 1), np.round([1.26, 2.5], 1))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.float32([1, 2]), 2.5),
        (np.float32([1, 2]), np.float64(2.5)),
        (np.float32([1, 2]), np.arange(2)),
        (np.array([1, 2], "int32"), 2),
        (np.array([1, 2], "int32"), 2.5),
        (np.array([True, False]), 1),
        (np.array([1.0, 2.0]), 1j),
        (np.float16([1, 2]), 2.0),
    ],
)
def test_promotion_is_that_of_numpy(left, right):
    same(ng.tensor(left) * right, left * right)
    same(right * ng.tensor(left), right * left)


@pytest.mark.parametrize("value", [np.float64(2.0), np.array([2.0, 3.0]), np.array(2.0), 2.0])
def test_gradient_flows_whatever_stands_to_the_left(value):
    x = leaf([1.0, 2.0])
    y = value * x
    assert isinstance(y, ng.Tensor)
    same(ng.grad(y.sum(), x)[0], np.broadcast_to(value, (2,)))


# Foreign operands ---------------------------------------------------------------------------------


class Foreign:
    """A container that wraps tensors and answers their operators."""

    __array_ufunc__ = None

    def __radd__(self, other):
        return "radd"

    def __rmatmul__(self, other):
        return "rmatmul"

    def __eq__(self, other):
        return "eq"

    __hash__ = None

    def __gt__(self, other):
        return "gt"


def test_a_foreign_operand_gets_its_turn():
    x, foreign = ng.tensor([1.0]), Foreign()
    assert x + foreign == "radd"
    assert x @ foreign == "rmatmul"
    assert (x == foreign) == "eq"
    assert (x < foreign) == "gt"


@pytest.mark.parametrize("other", [None, "text", object(), {}, {1.0}, np.datetime64("2020-01-01")])
@pytest.mark.parametrize(
    ("sign", "operate"), [("+", operator.add), ("@", operator.matmul), ("<", operator.lt)]
)
def test_an_operand_that_is_no_number_is_named(sign, operate, other):
    with pytest.raises(TypeError, match="Tensor") as raised:
        operate(ng.tensor([1.0]), other)
    assert sign in str(raised.value) or "ufunc" in str(raised.value)


@pytest.mark.parametrize("other", [np.array(["a"]), np.array([object()])])
def test_an_array_that_holds_no_numbers_is_no_operand(other):
    with pytest.raises(TypeError, match="Tensor"):
        ng.tensor([1.0]) + other
    with pytest.raises(TypeError, match="Tensor"):
        other + ng.tensor([1.0])


def test_comparison_with_a_foreign_object_is_false():
    x = ng.tensor([1.0])
    assert (x == None) is False  # noqa: E711 - what users write
    assert (x != "text") is True


# Truth, hashing, iteration ------------------------------------------------------------------------


def test_hash_is_by_identity():
    x, y = ng.tensor([1.0, 2.0]), ng.tensor([1.0, 2.0])
    assert len({x, y, x}) == 2
    assert {x: "x", y: "y"}[y] == "y"


def test_truth_of_several_elements_is_ambiguous():
    assert ng.tensor([2.0])
    assert not ng.tensor(0)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(ng.tensor([1.0, 2.0]))


def test_contains_compares_elements():
    x = leaf([1.0, 2.0])
    assert 2.0 in x
    assert 3.0 not in x
    assert "text" not in x


def test_iteration_gives_differentiable_elements():
    x = leaf([1.0, 2.0, 3.0])
    total = ng.tensor(0.0)
    for n, element in enumerate(x):
        total = total + n * element
    same(ng.grad(total, x)[0], [0.0, 1.0, 2.0])
    a, b, c = x
    assert (a.shape, b.item(), c.item()) == ((), 2.0, 3.0)
    assert [row.shape for row in ng.tensor(LEFT)] == [(3,), (3,)]


def test_a_number_is_not_iterable_and_has_no_length():
    with pytest.raises(TypeError, match="0-d"):
        iter(ng.tensor(1.0))
    with pytest.raises(TypeError, match="0-d"):
        len(ng.tensor(1.0))


# Methods ------------------------------------------------------------------------------------------

METHODS = {
    "all": (), "any": (), "argmax": (0,), "argmin": (1,), "argsort": (0,), "clip": (0.5, 2.0),
    "conj": (), "copy": (), "cumprod": (0,), "cumsum": (1,), "diagonal": (), "dot": (RIGHT,),
    "flatten": (), "max": (1,), "mean": (0,), "min": (), "prod": (1,), "ravel": (),
    "repeat": (2, 0), "reshape": (3, 2), "round": (), "squeeze": (), "std": (0,), "sum": (1,),
    "swapaxes": (0, 1), "take": ([0, 2], 1), "trace": (), "transpose": (1, 0), "var": (1,),
}  # fmt: skip
WITHOUT_GRADIENT = {"all", "any", "argmax", "argmin", "argsort"}


@pytest.mark.parametrize("name", METHODS)
def test_method_is_that_of_arrays(name):
    same(getattr(ng.tensor(LEFT), name)(*METHODS[name]), getattr(LEFT, name)(*METHODS[name]))


@pytest.mark.parametrize("name", METHODS)
def test_method_keeps_the_graph(name):
    result = getattr(leaf(LEFT), name)(*METHODS[name])
    assert result.requires_grad == (name not in WITHOUT_GRADIENT)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "std", "var", "prod", "any", "all"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_reduction_keeps_axes_when_asked(name, axis):
    same(
        getattr(ng.tensor(LEFT), name)(axis=axis, keepdims=True),
        getattr(LEFT, name)(axis=axis, keepdims=True),
    )


@pytest.mark.parametrize(
    "sizes", [(3, 2), ((3, 2),), (-1,), (-1, 1), ([6],), (np.array([3, 2]),), (np.array(6),)]
)
def test_reshape_takes_sizes_or_a_tuple(sizes):
    same(ng.tensor(LEFT).reshape(*sizes), LEFT.reshape(*sizes))


@pytest.mark.parametrize("axes", [(), (None,), (2, 0, 1), ((1, 2, 0),), (-1, 0, 1)])
def test_transpose_takes_axes_or_a_tuple(axes):
    array = np.arange(24.0).reshape(2, 3, 4)
    same(ng.tensor(array).transpose(*axes), array.transpose(*axes))


def test_transposes():
    array = np.arange(24.0).reshape(2, 3, 4)
    same(ng.tensor(array).T, array.T)
    same(ng.tensor(array).mT, array.mT)
    same(ng.tensor(array).permute(2, 0, 1), array.transpose(2, 0, 1))


def test_parts_of_complex_numbers():
    array = np.array([1 + 2j, 3 - 4j])
    same(ng.tensor(array).real, array.real)
    same(ng.tensor(array).imag, array.imag)
    same(ng.tensor(array).conj(), array.conj())
    same(ng.tensor([1.0]).imag, [0.0])


def test_sort_is_in_place_as_in_numpy():
    x = ng.tensor([3.0, 1.0, 2.0])
    assert x.sort() is None
    same(x, [1.0, 2.0, 3.0])


def test_fill_writes_every_element():
    x = ng.tensor([3.0, 1.0])
    x.fill(2)
    same(x, [2.0, 2.0])


def test_every_method_is_bound_and_documented():
    for source in (Arithmetic, Methods):
        for name, member in vars(source).items():
            if callable(member) or isinstance(member, property):
                assert vars(ng.Tensor)[name] is member
                assert name.startswith("__") or member.__doc__, name


# Text ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (ng.tensor([1.0, 2.0]), "tensor([1., 2.])"),
        (ng.tensor(1.5), "tensor(1.5)"),
        (ng.tensor([1, 2]), "tensor([1, 2])"),
        (ng.tensor([1.0], dtype="float32"), "tensor([1.], dtype=float32)"),
        (leaf(2.0), "tensor(2., requires_grad=True)"),
        (leaf(2.0) * 2, "tensor(4., grad_fn=<multiply>)"),
        (ng.tensor([]), "tensor([], dtype=float64)"),
        (ng.tensor(np.zeros((0, 3))), "tensor([], shape=(0, 3), dtype=float64)"),
        (
            ng.tensor(np.arange(2000)),
            "tensor([   0,    1,    2, ..., 1997, 1998, 1999], shape=(2000,))",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.host_only("the text of a tensor names its device")
def test_repr(tensor, text):
    assert repr(tensor) == str(tensor) == text


def test_repr_stays_within_the_line_width():
    text = repr(leaf(np.arange(11.0) / 7))
    assert max(map(len, text.splitlines())) <= np.get_printoptions()["linewidth"]
    assert "requires_grad=True" in text


@pytest.mark.host_only("the text of a tensor names its device")
def test_format_of_a_number():
    assert f"{leaf(2.5):.3f}" == "2.500"
    assert f"{ng.tensor(3):04d}" == "0003"
    assert f"{ng.tensor([1.0])}" == "tensor([1.])"
    with pytest.raises(TypeError, match="0-d"):
        f"{ng.tensor([1.0]):.3f}"


# Attributes that cannot be assigned ---------------------------------------------------------------


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize(
    ("name", "value", "instead"),
    [
        ("shape", (2, 2), r"t\.reshape\(shape\)"),
        ("dtype", np.dtype(np.float32), r"t\.astype\(dtype\)"),
        *[(name, None, name) for name in ("T", "device", "grad_fn", "is_leaf", "ndim", "size")],
        *[(name, None, name) for name in ("data", "strides", "nbytes", "itemsize")],
    ],
)
def test_attributes_that_numpy_or_torch_would_change_are_refused(name, value, instead, recorded):
    t = leaf([1.0, 2.0, 3.0, 4.0])
    t = t * 2.0 if recorded else t
    with pytest.raises(AttributeError, match=instead):
        setattr(t, name, value)
    assert (t.shape, t.dtype, t.is_leaf) == ((4,), np.float64, not recorded)
    assert ng.grad(t.sum(), t)[0].tolist() == [1.0, 1.0, 1.0, 1.0]


def test_requires_grad_is_checked_where_it_is_assigned():
    with pytest.raises(ng.errors.DtypeError):
        ng.tensor([1, 2]).requires_grad = True
    y = leaf([1.0]) * 2.0
    with pytest.raises(ng.errors.NoGradError, match="detach"):
        y.requires_grad = False
    y.requires_grad = True  # it does
    x = ng.tensor([1.0])
    x.requires_grad = np.True_
    assert ng.grad(x * x, x)[0].tolist() == [2.0]
    x.requires_grad = False
    assert not (x * x).requires_grad
