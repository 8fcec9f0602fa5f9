"""Composed functions: the operations that were noted give the bits of the function itself."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.record.composition import Operations, composed
from numgrad.functions.reduction.quantiles import _at_number

pytestmark = pytest.mark.short_ways

VECTOR, OTHER = np.array([0.3, -1.2, 2.0]), np.array([1.5, 0.25, -0.5])
MATRIX = np.array([[4.0, 1.0, 0.5], [-1.0, 3.0, 0.2], [0.1, 0.7, 5.0]])
CALLS = {
    "var": (ng.var, (MATRIX,), {"axis": 0}),
    "var of complex numbers": (ng.var, (MATRIX + 1j * MATRIX.T,), {}),
    "std": (ng.std, (MATRIX,), {"ddof": 1, "keepdims": True}),
    "logsumexp": (ng.logsumexp, (MATRIX,), {"axis": -1}),
    "solve": (ng.linalg.solve, (MATRIX, VECTOR), {}),
    "solve, one operand of another dtype": (ng.linalg.solve, (MATRIX, MATRIX[0].astype("f4")), {}),
    "inv": (ng.linalg.inv, (MATRIX,), {}),
    "det": (ng.linalg.det, (MATRIX,), {}),
    "slogdet": (ng.linalg.slogdet, (MATRIX,), {}),
    "outer": (ng.outer, (VECTOR, OTHER), {}),
    "kron": (ng.kron, (MATRIX, VECTOR), {}),
    "cross": (ng.cross, (VECTOR, OTHER), {}),
    "vdot": (ng.vdot, (VECTOR, OTHER), {}),
    "inner": (ng.inner, (MATRIX, VECTOR), {}),
    "vecdot": (ng.vecdot, (MATRIX, VECTOR), {}),
    "matvec": (ng.matvec, (MATRIX, VECTOR), {}),
    "vecmat": (ng.vecmat, (VECTOR, MATRIX), {}),
    "matrix_power": (ng.linalg.matrix_power, (MATRIX, 3), {}),
    "matrix_power, negative": (ng.linalg.matrix_power, (MATRIX, -2), {}),
    "softmax": (ng.special.softmax, (MATRIX,), {"axis": 0}),
    "log_softmax": (ng.special.log_softmax, (VECTOR,), {}),
    "pad": (ng.pad, (MATRIX, ((1, 2), (0, 1))), {"constant_values": 0.5}),
    **{f"pad, {mode}": (ng.pad, (MATRIX, 1), {"mode": mode}) for mode in (
        "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric",
        "wrap",
    )},
    "vander": (ng.vander, (VECTOR, 4), {}),
    "unwrap": (ng.unwrap, (5 * VECTOR,), {"discont": 1.5}),
    "median": (ng.median, (MATRIX,), {"axis": 1}),
    "quantile": (_at_number, (VECTOR, 0.3, (-1,), "linear", False, False, True), {}),
    "quantile, hazen": (_at_number, (MATRIX, 0.4, (-2,), "hazen", True, False, True), {}),
    "nanquantile": (_at_number, (MATRIX, 0.25, (-1,), "linear", False, True, True), {}),
    "diag": (ng.diag, (VECTOR,), {}),
    "diag of a matrix": (ng.diag, (MATRIX, 1), {}),
    "triu": (ng.triu, (MATRIX,), {}),
    "tril": (ng.tril, (MATRIX, -1), {}),
    "append": (ng.append, (VECTOR, OTHER), {}),
    "append, a number": (ng.append, (VECTOR, 1.5), {}),
    "delete": (ng.delete, (MATRIX, 1), {"axis": 1}),
    "delete, a slice": (ng.delete, (MATRIX, slice(0, 3, 2)), {"axis": 0}),
}  # fmt: skip


def leaves(arrays, scale):
    return [
        ng.tensor(a * a.dtype.type(scale), requires_grad=True) if isinstance(a, np.ndarray) else a
        for a in arrays
    ]


def bits(function, args, kwargs):
    """The type, the results and their first and second derivatives."""
    found = function(*args, **kwargs)
    results = found if isinstance(found, tuple) else (found,)
    tensors = [x for x in args if isinstance(x, ng.Tensor)]
    loss = sum((abs(y) ** 2).sum() for y in results)
    first = ng.grad(loss, tensors, create_graph=True)
    second = ng.grad(sum((abs(g) ** 2).sum() for g in first), tensors)
    arrays = [x.detach().numpy() for x in (*results, *first, *second)]
    return type(found), [y.is_scalar for y in results], [a.tobytes() for a in arrays]


@pytest.mark.parametrize("name", CALLS)
def test_later_calls_have_the_bits_of_the_function(name):
    function, arrays, kwargs = CALLS[name]
    turned = [a.T[::-1].copy() if isinstance(a, np.ndarray) else a for a in arrays]
    for given, scale in ((arrays, 1.0), (turned, 1.25), (arrays, 0.75), (turned, 1.5)):
        args = leaves(given, scale)  # the second call notes the operations
        expected = bits(function.__wrapped__, args, kwargs)
        assert bits(function, args, kwargs) == expected, scale


def _without(args):
    return [x.detach() if isinstance(x, ng.Tensor) else x for x in args]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("first", ["no_grad", "constants", "one constant"])
def test_calls_without_gradients_decide_nothing_about_calls_with_them(name, first):
    """Without a gradient, a view of all of an array looks like a value that is detached."""
    function, arrays, kwargs = CALLS[name]
    alone = composed(function.__wrapped__)
    for scale in (1.0, 1.25, 0.75):
        args = leaves(arrays, scale)
        if first == "no_grad":
            with ng.no_grad():
                alone(*args, **kwargs)
        else:
            count = len(args) if first == "constants" else 1
            alone(*_without(args[:count]), *args[count:], **kwargs)
    for scale in (1.5, 2.0, 0.5):
        args = leaves(arrays, scale)
        assert bits(alone, args, kwargs) == bits(function.__wrapped__, args, kwargs), scale


@pytest.mark.parametrize("name", CALLS)
def test_calls_without_gradients_have_the_values_of_the_function(name):
    """What is computed from constants without an operation would stay as it was."""
    function, arrays, kwargs = CALLS[name]
    turned = [a.T[::-1].copy() if isinstance(a, np.ndarray) else a for a in arrays]
    for given, scale in ((arrays, 1.0), (turned, 1.25), (arrays, 0.75), (turned, 1.5)):
        args = _without(leaves(given, scale))
        found, expected = (f(*args, **kwargs) for f in (function, function.__wrapped__))
        for one, two in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
            np.testing.assert_array_equal(one, two)


def test_what_is_composed_is_applied_without_the_function():
    calls = []

    @composed
    def mean_of_squares(x):
        calls.append(x)
        return (x * x).sum() / x.size

    for n in range(1, 6):
        x = ng.tensor([1.0 * n, 2.0], requires_grad=True)
        y = mean_of_squares(x)
        assert y.item() == (n * n + 4.0) / 2
        assert ng.grad(y, x)[0].tolist() == [1.0 * n, 2.0]
    assert len(calls) == 2
    mean_of_squares(ng.tensor([1.0, 2.0, 3.0]))
    assert len(calls) == 3  # another spec
    mean_of_squares(ng.tensor([[1.0, 9.0], [2.0, 9.0]])[:, 0])
    assert len(calls) == 4  # elements that lie otherwise


def test_tensors_that_are_detached_inside_stay_detached():
    @composed
    def shifted(x):
        return x * x.detach()

    for n in (1.0, 2.0, 3.0, 4.0):
        x = ng.tensor([n, -n], requires_grad=True)
        y = shifted(x)
        assert y.tolist() == [n * n, n * n]
        assert ng.grad(y.sum(), x)[0].tolist() == [n, -n]


def test_results_that_no_operation_has_made_are_never_noted():
    @composed
    def itself(x):
        return x

    out = ng.tensor([[0.0], [0.0]])
    for n in (1.0, 2.0, 3.0, 4.0):
        x = ng.tensor([n, 2.0])
        assert itself(x) is x
        assert ng.outer(x, ng.tensor([1.0]), out=out) is out
        assert out.tolist() == [[n], [2.0]]


def test_a_function_that_looks_at_elements_is_asked_every_time():
    @composed
    def doubled(x):
        return ng.tensor(x.detach().numpy()) + x

    @composed
    def positive(x):
        return x * 1.0 if x[0] > 0 else x * -1.0

    for n in (1.0, 2.0, -3.0, 4.0):
        x = ng.tensor([n, 2.0])
        assert doubled(x).tolist() == [2 * n, 4.0]
        assert positive(x)[0].item() == abs(n)


def test_one_tensor_twice_says_nothing_of_two():
    x, y = ng.tensor(MATRIX), ng.tensor(MATRIX.T.copy())
    for _ in range(3):
        assert np.allclose(ng.linalg.solve(x, x), np.eye(3))
        assert np.allclose(ng.inner(x.detach(), x), MATRIX @ MATRIX.T)
    for _ in range(3):
        assert np.allclose(ng.linalg.solve(x, y), np.linalg.solve(MATRIX, MATRIX.T))
        assert np.allclose(ng.inner(x, y), MATRIX @ MATRIX)


def test_operands_that_are_aligned_are_no_constants():
    """A view of one axis less, without gradients: the function makes another view of its memory."""
    stack = np.stack([MATRIX, MATRIX + np.eye(3)])
    for n in range(1, 5):
        memory = np.arange(18.0).reshape(3, 3, 2) * n
        right = ng.asarray(memory[1])
        x = ng.linalg.solve(ng.tensor(stack, requires_grad=n % 2 == 0), right)
        assert np.allclose(x.detach(), np.linalg.solve(stack, memory[1])), n


def test_a_singular_matrix_is_an_error_of_its_function():
    good, singular = ng.tensor(MATRIX), ng.tensor(np.ones((3, 3)))
    for _ in range(3):
        ng.linalg.inv(good)
    with pytest.raises(np.linalg.LinAlgError, match="inv"):
        ng.linalg.inv(singular)
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        ng.linalg.inv(good[:2])


def test_a_constant_that_shares_memory_with_an_operand_is_no_constant():
    seen = Operations()
    x = ng.tensor([1.0, 2.0])
    seen.add_source(x, 0)
    seen.applied("operator", {}, (x,), (y := x * 2.0,))
    seen.applied("operator", {}, (ng.asarray(y.numpy()[:1]),), (x,))
    assert not seen.is_whole
