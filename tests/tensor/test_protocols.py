"""NumPy's own functions on tensors: the same values, as tensors, and a way out elsewhere."""

import inspect
from array import array

import numpy as np
import pytest
import scipy.special
from numba import njit, typeof, vectorize

import numgrad as ng
from numgrad.errors import DetachedError
from numgrad.functions.tensor.numpy_table import UFUNCS, functions

from ..docs.pages import table

X = np.array([[0.5, 0.25, 0.125], [0.75, 0.375, 0.625]])
Y = np.array([[0.25, 0.5, 0.75], [0.25, 0.125, 1.5]])
BITS = {
    "bitwise_and", "bitwise_count", "bitwise_or", "bitwise_xor", "gcd", "invert", "lcm",
    "left_shift", "right_shift",
}  # fmt: skip


def agree(result, expected):
    if isinstance(expected, (np.ndarray, np.generic)):
        assert isinstance(result, ng.Tensor)
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-13, atol=1e-15)
    elif isinstance(expected, (tuple, list)) and isinstance(expected[0], np.ndarray):
        assert isinstance(result, tuple) == isinstance(expected, tuple)
        for one, other in zip(result, expected, strict=True):
            agree(one, other)
    else:
        assert result == expected


UFUNCS_OF_SCIPY = [
    name for name in ng.special.__all__ if isinstance(getattr(scipy.special, name, None), np.ufunc)
]


# Universal functions ------------------------------------------------------------------------------


def test_where_results_cannot_go_the_error_says_where_they_can():
    x, total = ng.tensor(X, requires_grad=True), np.zeros_like(X)
    other = total
    with pytest.raises(TypeError, match=r"a = a \+ t for a \+= t"):
        total += x
    assert other is total
    with pytest.raises(TypeError, match=r"or total = ng\.zeros_like\(X\) at line \d+, which"):
        np.exp(x, out=total)


@pytest.mark.locked
@pytest.mark.parametrize("key", ["a[np.ix_([0, 1], [0, 1])]", "a[0]", "a[:, None, 1]", "a[...]"])
def test_elements_of_an_array_to_which_a_tensor_is_added_name_the_array(key, tmp_path):
    head = "import numpy as np\nimport numgrad as ng\n\ndef program(t):\n    a = np.zeros((3, 3))\n"
    program = f"    b = a\n    {key} += t * np.ones(np.shape({key}))\n    return b\n"
    path, names = tmp_path / "program.py", {}
    path.write_text(head + program)
    exec(compile(head + program, path, "exec"), names)
    with pytest.raises(DetachedError) as caught:
        names["program"](ng.tensor(2.0, requires_grad=True))
    text = str(caught.value)
    assert f"at {path}:7 in program: write import numgrad as np at line 1" in text
    assert "or a = ng.zeros((3, 3)) at line 5" in text
    assert "a = a + t" not in text
    exec(head.replace("np.zeros", "ng.zeros") + program, mended := {})
    found = mended["program"](ng.tensor(2.0, requires_grad=True))
    np.testing.assert_array_equal(found, names["program"](2.0))


def test_arrays_in_attributes_and_containers_to_which_a_tensor_is_added_are_named():
    class Model:
        K = None

    model, t = Model(), ng.tensor(2.0, requires_grad=True)
    model.K = K = np.zeros(3)
    held = {"K": np.zeros((2, 3)), "other": K}

    def attribute():
        model.K += t

    def element_of_attribute():
        model.K[[0, 1]] += t

    def item():
        held["K"] *= t

    def element_of_item():
        held["K"][1] -= t

    for change in (attribute, element_of_attribute, item, element_of_item):
        name = "held['K']" if "item" in change.__name__ else "model.K"
        edit = f"ng.zeros(...) where {name} is made"
        with pytest.raises((TypeError, DetachedError)) as caught:
            change()
        assert f"in {change.__name__}: write {edit}" in str(caught.value)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_ufunc(ufunc):
    others = {np.matmul: (X, Y.T), np.vecmat: (X[0, :2], Y), np.ldexp: (X, np.array([1, 2, 3]))}
    others[np._core.umath.clip] = (X, Y, Y + 1.0)  # which ndarray.clip calls
    if ufunc in others:
        args = others[ufunc]
    elif ufunc.__name__ in BITS:
        args = (np.array([1, 2, 3]), np.array([3, 2, 1]))[: ufunc.nin]
    else:
        args = (X, Y)[: ufunc.nin]
        if ufunc is np.arccosh:
            args = (X + 1,)
    agree(ufunc(*map(ng.tensor, args)), ufunc(*args))
    if ufunc.nin == 2 and ufunc not in others:
        agree(ufunc(args[0], ng.tensor(args[1])), ufunc(*args))


def test_ufunc_keeps_the_graph():
    x = ng.tensor(X, requires_grad=True)
    g = ng.grad(np.sin(x).sum(), x)[0]
    np.testing.assert_allclose(g.numpy(), np.cos(X))


def test_numpy_scalar_times_tensor_is_a_tensor():
    x = ng.tensor(X, requires_grad=True)
    for product in (np.float64(2) * x, np.ones(3) * x, np.ones((2, 3)) - x, np.float32(1) / x):
        assert isinstance(product, ng.Tensor)
        assert product.requires_grad


def test_lambertw_of_scipy_is_a_function_around_a_ufunc_of_another_name():
    x = ng.tensor(Y, requires_grad=True)
    y = scipy.special.lambertw(x).real
    expected = scipy.special.lambertw(Y).real
    np.testing.assert_allclose(y.detach().numpy(), expected, 1e-14)
    np.testing.assert_allclose(ng.grad(y.sum(), x)[0], expected / (1 + expected) / Y, 1e-14)


def test_options_of_ufuncs_that_mean_nothing_for_tensors_are_refused():
    x = ng.tensor(X, requires_grad=True)
    with pytest.raises(TypeError, match=r"np\.sin.*out=.*detach"):
        np.sin(x, out=np.empty_like(X))
    with pytest.raises(TypeError, match=r"np\.add with where= and without out="):
        np.add(x, 1, where=X > 0)
    with pytest.raises(TypeError, match="order="):
        np.add(x, 1, order="F")
    array = other = np.ones((2, 3))
    with pytest.raises(TypeError, match="out="):
        array += x
    assert other is array
    agree(np.add(ng.tensor(X), 1, where=True), X + 1)


def test_methods_that_ufuncs_do_not_have_are_refused():
    with pytest.raises(TypeError, match=r"np\.equal\.reduce .*detach"):
        np.equal.reduce(ng.tensor(X))


@pytest.mark.parametrize("ufunc", [np.isnat, scipy.special.smirnov])
def test_ufunc_without_counterpart_names_the_way_out(ufunc):
    args = (ng.tensor(X), 1.0)[: ufunc.nin]
    with pytest.raises(TypeError, match=rf"{ufunc.__name__} has no counterpart.*detach\(\)"):
        ufunc(*args)


def test_functions_of_python_objects_name_what_vectorizes():
    made = np.frompyfunc(lambda a, b: a * b, 2, 1)
    with pytest.raises(TypeError, match=r"made by np\.frompyfunc.*ng\.vectorize"):
        made(ng.tensor(X), 2.0)


class Container:
    """Another array type that handles tensors itself."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return "ufunc"

    def __array_function__(self, function, types, args, kwargs):
        return "function"


def test_other_containers_may_wrap_tensors():
    x = ng.tensor(X)
    assert np.add(x, Container()) == "ufunc"
    assert np.concatenate([x, Container()]) == "function"
    assert x + np.float64(1) is not None


# Other functions ----------------------------------------------------------------------------------

SQUARE = np.array([[4.0, 1.0], [1.0, 3.0]])
CUBE = np.arange(24.0).reshape(2, 3, 4)
CALLS = [
    (np.concatenate, ([X, Y],), {}),
    (np.concatenate, ([X, Y], 1), {}),
    (np.concatenate, ((X, Y),), {"axis": None}),
    (np.stack, ([X, Y],), {"axis": -1}),
    (np.lib.stride_tricks.sliding_window_view, (X, 2, 0), {}),
    (np.vstack, ([X, Y],), {}),
    (np.hstack, ([X, Y],), {}),
    (np.where, (X > 0.3, X, Y), {}),
    (np.sum, (X,), {}),
    (np.sum, (X, 0), {"keepdims": True}),
    (np.sum, (), {"a": X, "axis": 1}),
    (np.sum, (X, 0, None, None, True), {}),
    (np.max, (X, 1, None, True), {}),
    (np.mean, (X,), {"axis": (0, 1)}),
    (np.prod, (X,), {"axis": 0}),
    (np.amax, (X,), {"axis": 0}),
    (np.amin, (X,), {}),
    (np.var, (X,), {"axis": 1, "ddof": 1}),
    (np.std, (X, 0), {}),
    (np.median, (X,), {"axis": 1}),
    (np.astype, (X, np.float32), {}),
    (np.i0, (X,), {}),
    (np.sinc, (X,), {}),
    (np.cumsum, (X,), {}),
    (np.cumprod, (X, 1), {}),
    (np.count_nonzero, (X > 0.3,), {"axis": 1}),
    (np.cumulative_sum, (X,), {"axis": 1, "include_initial": True}),
    (np.cumulative_prod, (X,), {"axis": 0}),
    (np.diff, (X,), {"n": 2}),
    (np.trapezoid, (X, Y), {"axis": 1}),
    (np.fix, (X * 3,), {}),
    (np.nan_to_num, (np.where(X > 0.3, X, np.nan),), {"nan": 1.0}),
    (np.around, (X,), {"decimals": 1}),
    (np.array_split, (X, 2, 1), {}),
    (np.atleast_1d, (np.float64(2.0) * X[0, 0:1],), {}),
    (np.atleast_2d, (X[0],), {}),
    (np.atleast_3d, (X,), {}),
    (np.broadcast_arrays, (X, X[0]), {}),
    (np.column_stack, ([X[0], X[1]],), {}),
    (np.dstack, ([X, Y],), {}),
    (np.diag, (X[0],), {}),
    (np.diag, (X,), {"k": 1}),
    (np.fliplr, (X,), {}),
    (np.flipud, (X,), {}),
    (np.meshgrid, (X[0], Y[1]), {"indexing": "ij"}),
    (np.matrix_transpose, (CUBE,), {}),
    (np.rot90, (X,), {"k": 3}),
    (np.unstack, (X,), {"axis": 1}),
    (np.take_along_axis, (X, np.argsort(X, 1), 1), {}),
    (np.reshape, (X, (3, 2)), {}),
    (np.reshape, (X, -1), {"order": "C"}),
    (np.transpose, (CUBE,), {}),
    (np.transpose, (CUBE, (1, 2, 0)), {}),
    (np.ravel, (X,), {}),
    (np.squeeze, (X[None],), {"axis": 0}),
    (np.expand_dims, (X, 1), {}),
    (np.moveaxis, (CUBE, 0, -1), {}),
    (np.swapaxes, (CUBE, 0, 2), {}),
    (np.broadcast_to, (X, (4, 2, 3)), {}),
    (np.split, (CUBE, 2, 2), {}),
    (np.flip, (X,), {}),
    (np.flip, (X, 1), {}),
    (np.roll, (X, 1), {}),
    (np.roll, (CUBE, 2, 1), {}),
    (np.pad, (X, 1), {}),
    (np.pad, (X, ((0, 1), (2, 0))), {"mode": "constant"}),
    (np.tile, (X, (2, 1)), {}),
    (np.repeat, (X, 2), {}),
    (np.repeat, (X, 2, 1), {}),
    (np.take, (X, [0, 2], 1), {}),
    (np.diagonal, (SQUARE,), {}),
    (np.tril, (X,), {}),
    (np.triu, (X, 1), {}),
    (np.trace, (SQUARE,), {}),
    (np.dot, (X, Y.T), {}),
    (np.vdot, (X[0], Y[0]), {}),
    (np.inner, (X[0], Y[0]), {}),
    (np.outer, (X[0], Y[0]), {}),
    (np.tensordot, (X, Y), {"axes": ([1], [1])}),
    (np.einsum, ("ij,kj->ik", X, Y), {}),
    (np.einsum, ("ij->j", X), {"optimize": True}),
    (np.cross, (X, Y), {}),
    (np.kron, (X, SQUARE), {}),
    (np.linalg.cross, (X, Y), {"axis": 1}),
    (np.linalg.det, (SQUARE,), {}),
    (np.linalg.diagonal, (CUBE,), {"offset": 1}),
    (np.linalg.matmul, (X, Y.T), {}),
    (np.linalg.matrix_norm, (CUBE,), {"keepdims": True}),
    (np.linalg.matrix_power, (SQUARE, 3), {}),
    (np.linalg.matrix_transpose, (X,), {}),
    (np.linalg.multi_dot, ([X, Y.T, SQUARE],), {}),
    (np.linalg.outer, (X[0], Y[0]), {}),
    (np.linalg.slogdet, (SQUARE,), {}),
    (np.linalg.tensordot, (X, Y.T), {"axes": 1}),
    (np.linalg.trace, (CUBE,), {"offset": 1}),
    (np.linalg.vecdot, (X, Y), {"axis": 0}),
    (np.linalg.vector_norm, (X,), {"axis": 0, "ord": 1}),
    (np.linalg.inv, (SQUARE,), {}),
    (np.linalg.solve, (SQUARE, SQUARE[0]), {}),
    (np.linalg.cholesky, (SQUARE,), {}),
    (np.linalg.norm, (X[0],), {}),
    (np.linalg.norm, (X,), {"axis": 1}),
    (np.sort, (X,), {}),
    (np.sort, (X, 0), {}),
    (np.argsort, (X,), {"axis": 0}),
    (np.argwhere, (X > 0.5,), {}),
    (np.nonzero, (X > 0.5,), {}),
    (np.searchsorted, (X[1], 0.5), {"sorter": np.argsort(X[1])}),
    (np.unique_all, (X,), {}),
    (np.unique_counts, (X,), {}),
    (np.unique_inverse, (X,), {}),
    (np.unique_values, (X,), {}),
    (np.clip, (X, 0.2, 0.4), {}),
    (np.clip, (X,), {"a_min": 0.2, "a_max": 0.4}),
    (np.round, (X, 1), {}),
    (np.any, (X > 0.5,), {}),
    (np.all, (X > 0.5, 0), {}),
    (np.argmax, (X,), {}),
    (np.argmin, (X, 1), {}),
    (np.zeros_like, (X,), {}),
    (np.ones_like, (X,), {"dtype": int}),
    (np.full_like, (X, 2.0), {}),
    (np.real, (X + 1j,), {}),
    (np.imag, (X + 1j,), {}),
    (np.angle, (X + 1j,), {}),
    (np.copy, (X,), {}),
    (np.isclose, (X, Y), {"atol": 0.3}),
    (np.shape, (X,), {}),
    (np.ndim, (X,), {}),
    (np.size, (X,), {}),
    (np.size, (X, 0), {}),
    (np.iscomplexobj, (X,), {}),
    (np.isrealobj, (X,), {}),
    (np.allclose, (X, Y), {}),
    (np.array_equal, (X, X), {}),
    (np.array_equiv, (X, X), {}),
    (np.result_type, (X, np.float32), {}),
    (np.can_cast, (X[0], "float32"), {}),
    (np.array_str, (X,), {"precision": 2}),
    (np.array2string, (X,), {"separator": ", "}),
    (np.common_type, (X, np.zeros(2, np.float32)), {}),
    (np.min_scalar_type, (X,), {}),
    (np.may_share_memory, (X, Y), {}),
    (np.shares_memory, (X, Y), {}),
    (np.isfortran, (X,), {}),
    (np.choose, (np.array([0, 1, 0]), [X[0], Y[0]]), {}),
    (np.choose, (np.array([4, -1, 0]), [X[0], Y[0]]), {"mode": "wrap"}),
    (np.compress, ([True, False, True], X), {"axis": 1}),
    (np.extract, (X > 0.3, X), {}),
    (np.unique, (X,), {}),
    (np.unique, (X,), {"return_counts": True}),
    (np.isin, (X, Y), {}),
    (np.union1d, (X, Y), {}),
    (np.intersect1d, (X, Y), {}),
    (np.setdiff1d, (X, Y), {}),
    (np.setxor1d, (X, Y), {}),
    (np.sum, (X,), {"where": X > 0.3}),
    (np.prod, (X, 0), {"initial": 2.0}),
    (np.max, (X, 0), {"initial": 0.6, "where": Y > 0.3}),
    (np.concatenate, ([X, Y],), {"dtype": np.float32}),
    (np.take, (X, [0, 7]), {"mode": "wrap"}),
]


def tensors(value):
    """Replace arrays by tensors, but for arguments that are data of another kind."""
    if isinstance(value, np.ndarray):
        return ng.tensor(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(tensors, value))
    return value


@pytest.mark.parametrize(
    ("function", "args", "kwargs"), CALLS, ids=[f"{c[0].__name__}-{n}" for n, c in enumerate(CALLS)]
)
@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")
def test_function(function, args, kwargs):
    own = {name: tensors(value) for name, value in kwargs.items()}
    agree(function(*tensors(args), **own), function(*args, **kwargs))


def test_every_function_of_the_table_is_tried():
    tried = {call[0] for call in CALLS}
    elsewhere = {
        np.array, np.asarray, np.arange, np.empty, np.empty_like, np.eye, np.full, np.identity,
        np.linspace, np.ones, np.zeros, np.array_repr, np.min,
        np.isscalar, np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask,
    }  # fmt: skip
    page = {name for name, how, _ in table("numpy_coverage.md", "function", "numgrad", "why")}
    for module, prefix in ((np, ""), (np.linalg, "linalg."), (np.fft, "fft.")):
        public = [(prefix + name, f) for name, f in vars(module).items() if callable(f)]
        elsewhere |= {f for name, f in public if name in page}
    assert {f.__name__ for f in functions() if f not in tried | elsewhere} == set()


def public_counterparts():
    """Return the NumPy functions that numgrad has under the same name."""
    for place, source in ((np, ng), (np.linalg, ng.linalg)):
        for name in dir(source):
            function = getattr(place, name, None)
            if (
                not name.startswith("_")
                and callable(getattr(source, name))
                and function is not None
            ):
                yield name, function


def test_every_function_that_numpy_has_too_is_in_a_table():
    missing = {
        name
        for name, function in public_counterparts()
        if (isinstance(function, np.ufunc) and function not in UFUNCS)
        or (hasattr(function, "_implementation") and function not in functions())
    }
    assert missing == set()


def test_function_keeps_the_graph():
    x = ng.tensor(X, requires_grad=True)
    y = np.concatenate([x, np.stack([x[0], x[1]])])
    assert ng.grad(np.sum(y * 3.0), x)[0].tolist() == [[6.0] * 3] * 2


def test_like_makes_tensors():
    x = ng.tensor([1.0])
    assert isinstance(np.zeros(2, like=x), ng.Tensor)
    assert isinstance(np.asarray([1.0, 2.0], like=x), ng.Tensor)
    assert isinstance(np.arange(3, like=x), ng.Tensor)


def test_array_repr_is_that_of_tensors():
    assert np.array_repr(ng.tensor([1.25, 2.0]), precision=1) == "tensor([1.2, 2. ])"


def test_parameters_without_counterpart_are_refused():
    x = ng.tensor(X, requires_grad=True)
    with pytest.raises(TypeError, match=r"np\.sum: out=.*detach"):
        np.sum(x, out=np.empty(()))
    with pytest.raises(TypeError, match="out="):
        np.max(x, 0, np.empty(3))
    with pytest.raises(TypeError, match="order="):
        np.sort(x, order="field")
    agree(np.sum(ng.tensor(X), out=None), X.sum())


@pytest.mark.parametrize("function", [np.packbits, np.unpackbits, np.is_busday])
def test_function_without_counterpart_names_the_way_out(function):
    name = f"np.*{function.__name__}"
    with pytest.raises(TypeError, match=rf"{name} has no counterpart.*detach\(\)"):
        function(ng.tensor(X))


@pytest.mark.parametrize("name", ["sqrt", "log", "arcsin"])
def test_functions_of_any_domain_name_those_of_complex_numbers(name):
    x = ng.tensor([0.5, -2.0], requires_grad=True)
    with pytest.raises(TypeError, match=rf"write np\.{name}\(x \+ 0j\)"):
        getattr(np.emath, name)(x)
    instead, expected = getattr(np, name)(x + 0j), getattr(np.emath, name)(x.detach().numpy())
    np.testing.assert_allclose(instead.detach(), expected, rtol=1e-15)


def test_tables_name_functions_with_documentation():
    for own in (*UFUNCS.values(), *(getattr(ng.special, name) for name in UFUNCS_OF_SCIPY)):
        assert inspect.getdoc(own)


def test_a_ufunc_of_scipy_without_counterpart_is_called_by_its_name():
    special = pytest.importorskip("scipy.special")
    with pytest.raises(TypeError, match=r"scipy\.special\.smirnov has no counterpart"):
        special.smirnov(1, ng.tensor([1.0, 2.0]))


def test_a_function_of_numba_says_how_it_gets_a_derivative():
    @njit
    def energy(x):
        return (x * x).sum()

    x = np.array([1.0, 2.0])
    calls = [
        lambda: energy(ng.tensor(x)),
        lambda: ng.func.grad(lambda x: energy(x) + energy(x))(x),
        lambda: ng.jit(lambda x: energy(x))(ng.tensor(x)),
        lambda: ng.func.vmap(lambda x: energy(x))(np.ones((2, 3))),
    ]
    said = r"Numba.*at .*test_protocols.*`from numgrad import njit`"
    for call in calls:
        with pytest.raises(ng.errors.ArgTypeError, match=said):
            call()
    assert energy(ng.tensor(x).numpy()) == 5.0
    assert np.array_equal(ng.func.grad(energy)(x), [2.0, 4.0])  # a transform knows what it is given


def test_a_universal_function_of_a_user_is_called_by_its_own_name():
    @vectorize
    def doubled(x):
        return 2 * x

    assert doubled(np.ones(2)).tolist() == [2.0, 2.0]
    said = r"^doubled, a universal function of a user.*write ng.operator"
    with pytest.raises(TypeError, match=said):
        doubled(ng.tensor([1.0]))


def test_numba_that_types_a_tensor_in_python_is_refused_too():
    t = ng.tensor([1.0, 2.0])
    for call in (lambda: typeof(t), lambda: njit(lambda: t.sum())()):
        with pytest.raises(ng.errors.ArgTypeError, match="called with a tensor"):
            call()


class Reading:
    """An object that NumPy reads as an array, and that has no arithmetic of its own."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0, 3.0], dtype)


@pytest.mark.parametrize(
    "make", [lambda: memoryview(np.arange(1.0, 4.0)), lambda: array("d", [1, 2, 3]), Reading]
)
def test_memory_that_numpy_reads_is_an_operand(make):
    numbers, other = np.array([1.0, 2.0, 3.0]), make()
    x = ng.tensor([2.0, 5.0, 0.5], requires_grad=True)
    for y in (x * other, other * x, np.multiply(x, other), np.multiply(other, x)):
        np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), numbers)
    np.testing.assert_array_equal((x < other).numpy(), x.detach().numpy() < numbers)
    np.testing.assert_array_equal((other - x).detach().numpy(), numbers - x.detach().numpy())
    y = x * 1.0
    y += other
    np.testing.assert_array_equal(y.detach().numpy(), x.detach().numpy() + numbers)
    np.testing.assert_array_equal(ng.jit(lambda a: other * a)(numbers), numbers**2)


def test_objects_with_arithmetic_of_their_own_answer_themselves():
    class Answering(Reading):
        def __rmul__(self, other):
            return "own"

    assert ng.tensor([1.0, 2.0, 3.0]) * Answering() == "own"
    with pytest.raises(TypeError, match="unsupported operand"):
        ng.tensor([1.0]) * {1.0}
