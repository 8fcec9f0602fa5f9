"""Options and methods of functions that are universal in NumPy: values are NumPy's, gradients those
of finite differences."""

import operator

import numpy as np
import pytest

import numgrad as ng
from numgrad.functions.elementwise.ufunc_methods import ASSOCIATIVE, methods_of
from numgrad.functions.tensor.numpy_table import UFUNCS

X = np.random.default_rng(0).uniform(0.2, 2.0, (3, 4, 2))
PAIRS = sorted(
    (u for u in UFUNCS if "reduce" in methods_of(u) and "dd->d" in u.types),
    key=lambda u: u.__name__,
)
INTEGERS = sorted(
    (u for u in UFUNCS if "reduce" in methods_of(u) and "ll->l" in u.types),
    key=lambda u: u.__name__,
)


def difference(function, x, h=1e-6):
    """Return the gradient of the sum of a function's values."""
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = h
        found[place] = (np.sum(function(x + step)) - np.sum(function(x - step))) / (2 * h)
    return found


def agree(own, theirs, x=X):
    """Compare values, and gradients."""
    t = ng.tensor(x, requires_grad=True)
    y, expected = own(t), theirs(x)
    assert y.dtype == expected.dtype
    np.testing.assert_allclose(y.detach().numpy(), expected, rtol=1e-12)
    if y.requires_grad:
        g = ng.grad(y.sum(), t)[0].numpy()
        np.testing.assert_allclose(g, difference(theirs, x), rtol=2e-5, atol=1e-7)


# Methods ------------------------------------------------------------------------------------------

SEVERAL_AT_ONCE = {"arctan2", "power"}
"""NumPy computes several elements at once, also along an axis where each needs the one before."""


@pytest.mark.parametrize("ufunc", PAIRS, ids=lambda u: u.__name__)
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions(ufunc, axis):
    agree(lambda t: ufunc.reduce(t, axis=axis), lambda x: ufunc.reduce(x, axis=axis))
    options = {"axis": axis, "initial": 0.7, "keepdims": True}
    agree(lambda t: UFUNCS[ufunc].reduce(t, **options), lambda x: ufunc.reduce(x, **options))


@pytest.mark.parametrize("ufunc", PAIRS, ids=lambda u: u.__name__)
def test_results_so_far(ufunc):
    agree(lambda t: ufunc.accumulate(t, 1), lambda x: ufunc.accumulate(x, 1))


@pytest.mark.parametrize("ufunc", PAIRS, ids=lambda u: u.__name__)
def test_reductions_of_slices(ufunc):
    axis = 0 if ufunc.__name__ in SEVERAL_AT_ONCE else 1
    indices = [0, 2, 1, 1] if axis else [0, 2, 1]
    agree(
        lambda t: ufunc.reduceat(t, indices, axis), lambda x: ufunc.reduceat(x, indices, axis)
    )


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.subtract])
def test_reductions_of_slices_of_many_lengths(ufunc):
    rng = np.random.default_rng(1)
    x, indices = rng.uniform(0.5, 1.5, (40, 2)), rng.integers(0, 40, 12)
    indices[4:] = np.sort(indices[4:])
    expected, call = ufunc.reduceat(x, indices), lambda t: ufunc.reduceat(t, indices)
    for found in (call(ng.tensor(x)).numpy(), ng.jit(call)(x)):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert ng.testing.gradcheck(call, (ng.tensor(x, requires_grad=True),))


@pytest.mark.parametrize("ufunc", PAIRS, ids=lambda u: u.__name__)
def test_all_pairs(ufunc):
    agree(lambda t: ufunc.outer(t[0], t[1, 0]), lambda x: ufunc.outer(x[0], x[1, 0]))


@pytest.mark.parametrize("ufunc", PAIRS, ids=lambda u: u.__name__)
def test_writes_at_indices_that_come_again(ufunc):
    def write(start, values):
        result = start * 1.0
        ufunc.at(result, ([0, 0, 2], slice(None)), values)
        return result

    agree(lambda t: write(t, t[:, ::-1]), lambda x: write(x, x[:, ::-1]))


@pytest.mark.parametrize("ufunc", INTEGERS, ids=lambda u: u.__name__)
@pytest.mark.parametrize("dtype", [np.int64, np.int8])
def test_methods_of_integers(ufunc, dtype):
    x = np.arange(1, 13).reshape(3, 4).astype(dtype)
    x = x % 4 + 1 if ufunc is np.lcm else x  # beyond int8 its sign is anything
    t = ng.tensor(x)
    for own, theirs in (
        (ufunc.reduce(t), ufunc.reduce(x)),
        (ufunc.accumulate(t, 1), ufunc.accumulate(x, 1)),
        (ufunc.outer(t[0], t[1]), ufunc.outer(x[0], x[1])),
    ):
        assert own.dtype == theirs.dtype
        np.testing.assert_array_equal(own.numpy(), theirs)
    ufunc.at(t, [0, 0, 1], 2)
    ufunc.at(x, [0, 0, 1], 2)
    np.testing.assert_array_equal(t.numpy(), x)


def test_reductions_of_nothing_begin_with_the_identity():
    for name in ("add", "multiply", "logaddexp", "hypot"):
        ufunc = getattr(np, name)
        assert getattr(ng, name).reduce(ng.zeros((0, 2))).tolist() == [ufunc.identity] * 2
    for name in ("fmax", "subtract", "maximum"):
        with pytest.raises(ValueError, match=r"no element|zero-size|empty"):
            getattr(ng, name).reduce(ng.zeros((0, 2)))


def test_several_axes_at_once_where_the_order_does_not_matter():
    assert "fmin" in ASSOCIATIVE
    agree(lambda t: np.fmin.reduce(t, (0, 2)), lambda x: np.fmin.reduce(x, (0, 2)))
    agree(lambda t: np.hypot.reduce(t, None), lambda x: np.hypot.reduce(x, None))
    with pytest.raises(ValueError, match="reorderable"):
        np.subtract.reduce(ng.tensor(X), (0, 1))


def test_ties_of_extrema_share_the_gradient():
    x = ng.tensor([1.0, 3.0, 3.0, 3.0], requires_grad=True)
    np.testing.assert_allclose(ng.grad(np.maximum.reduce(x), x)[0].numpy(), [0, *[1 / 3] * 3])
    assert ng.grad(np.maximum.accumulate(x)[-1], x)[0].sum().item() == 1.0


def test_methods_in_programs_and_transforms():
    def f(x):
        total = ng.zeros(2)
        ng.add.at(total, np.array([0, 1, 1, 0]), x * x)
        return np.maximum.accumulate(np.sin(x)).sum() + (total[0] * total[1])

    x = np.array([0.3, -1.0, 0.7, 2.0])
    expected = difference(
        lambda v: np.maximum.accumulate(np.sin(v)).sum()
        + (v[0] ** 2 + v[3] ** 2) * (v[1] ** 2 + v[2] ** 2),
        x,
    )
    np.testing.assert_allclose(ng.func.grad(f)(x), expected, atol=1e-6)
    np.testing.assert_allclose(ng.jit(ng.func.grad(f))(x), expected, atol=1e-6)
    np.testing.assert_allclose(ng.func.jacfwd(f)(x), expected, atol=1e-6)
    both = ng.func.vmap(ng.func.grad(f))(np.stack([x, x]))
    np.testing.assert_allclose(both, [expected, expected], atol=1e-6)


def test_an_array_is_not_written():
    with pytest.raises(TypeError, match=r"add\.at writes into tensors, not into ndarray"):
        np.add.at(np.zeros(3), [0, 1], ng.tensor([1.0, 2.0], requires_grad=True))


ARRAYS = {
    "plus": lambda np, a, t: operator.iadd(a, t),
    "minus a part": lambda np, a, t: operator.isub(a[:, 1], t[0]),
    "matrices": lambda np, a, t: operator.imatmul(a, t[:, :3]),
    "a vector of them": lambda np, a, t: operator.imatmul(a[0], t[:, :3]),
    "out": lambda np, a, t: np.multiply(t, 2, out=a),
    "out and where": lambda np, a, t: np.sqrt(abs(t), out=a, where=np.array([True, False, True])),
    "at": lambda np, a, t: np.add.at(a, [0, 0, 2], t),
    "itself": lambda np, a, t: np.add(a[::-1], t, out=a),
    "narrow": lambda np, a, t: operator.iadd(a.astype(np.float32), t),
    "other shape": lambda np, a, t: operator.iadd(a, t[:, :2]),
    "integers": lambda np, a, t: operator.iadd(a.astype(int), t),
}


@pytest.mark.parametrize("write", ARRAYS.values(), ids=ARRAYS)
def test_arrays_take_values_that_have_no_gradient(write):
    rng = np.random.default_rng(4)
    a, t = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))

    def run(library, t):
        written = a.copy()
        try:
            returned = write(library, written, t)
        except (TypeError, ValueError):
            return None, None
        assert not isinstance(returned, ng.Tensor)
        return written, returned

    expected, result = run(np, t)
    for library in (np, ng):
        for constant in (ng.tensor(t), ng.tensor(t, requires_grad=True)):
            with ng.no_grad():
                written, returned = run(library, constant)
            np.testing.assert_equal(type(written), type(expected))
            if expected is not None:
                np.testing.assert_allclose(written, expected, 1e-14)
            if result is not None:
                np.testing.assert_allclose(returned, result, 1e-14)
        assert run(library, ng.tensor(t, requires_grad=True)) == (None, None)
    held = a.copy()  # as a later call would find it
    with pytest.raises((TypeError, ValueError)):  # whose values are known later
        ng.jit(lambda t: write(np, held, t))(t)
    np.testing.assert_array_equal(held, a)


def test_an_array_of_the_other_byte_order_is_not_written():
    other = np.zeros(3, ">f8")
    with pytest.raises(TypeError, match="out= must be a tensor"):
        other += ng.tensor([1.0, 2.0, 3.0])


# Options ------------------------------------------------------------------------------------------


def test_results_go_where_they_shall():
    x = ng.tensor(X, requires_grad=True)
    for function in (ng.exp, np.exp):
        out = ng.zeros(X.shape)
        assert function(x, out=out) is out
        np.testing.assert_allclose(ng.grad(out.sum(), x)[0].numpy(), np.exp(X))
    with pytest.raises(ValueError, match="broadcast"):
        ng.exp(x, out=ng.zeros((2, 4, 2)))
    with pytest.raises(TypeError, match="cannot be written to out= of int64"):
        ng.exp(x, out=ng.zeros(X.shape, dtype=int))


def test_a_result_is_written_over_its_operand():
    y = ng.tensor(X, requires_grad=True) * 1.0
    before = y * 2.0
    ng.multiply(y, before, out=y)
    np.testing.assert_allclose(y.detach().numpy(), 2 * X * X)


SAFE = [(np.log, 1), (np.sqrt, 1), (np.arctanh, 1), (np.arccosh, 1), (np.divide, 2), (np.power, 2)]


@pytest.mark.parametrize(("ufunc", "count"), SAFE, ids=lambda p: getattr(p, "__name__", p))
def test_what_is_not_computed_has_no_part_in_gradients(ufunc, count):
    """Beside a pole, and outside of the domain, gradients are those of what is in ``out``."""
    x = np.array([0.0, -1.0, 0.5, 1.5])
    mask = np.array([False, False, ufunc is not np.arccosh, ufunc is not np.arctanh])
    args = (x,) if count == 1 else (np.array([1.0, 2.0, 3.0, 4.0]), x)
    expected = ufunc(*args, where=mask, out=np.full(4, 7.0))
    leaves = [ng.tensor(a, requires_grad=True) for a in args]
    y = ufunc(*leaves, where=mask, out=ng.full(4, 7.0))
    np.testing.assert_allclose(y.detach().numpy(), expected)
    for g in ng.grad(y.sum(), leaves):
        assert np.isfinite(g.numpy()).all()
        assert not g.numpy()[~mask].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_the_dtype_to_compute_in(dtype):
    x = ng.tensor([1.0, 2.0], dtype=np.float32, requires_grad=True)
    y = np.multiply(x, 0.1, dtype=dtype)
    expected = np.multiply(np.array([1.0, 2.0], np.float32), 0.1, dtype=dtype)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y.detach().numpy(), expected)


def test_conversions_that_lose_too_much_are_refused_as_by_numpy():
    for x in (X, ng.tensor(X)):
        with pytest.raises(TypeError, match="Cannot cast ufunc 'add'"):
            np.add(x, 1, dtype=np.int64)
        with pytest.raises(TypeError):
            np.add(x, np.float32(1), casting="no")


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="does not take axes="):
        ng.add(1.0, 2.0, axes=[0])
    with pytest.raises(TypeError, match="does not take where= that is None"):
        ng.add(1.0, 2.0, where=None)


INDICES = {
    "ellipsis": ..., "slice": slice(0, 1), "rows": (slice(None), [0, 0]), "new axis": (None, 0),
    "mask": np.array([[True, False, True], [False, False, True]]), "number": -1,
}  # fmt: skip


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum"])
def test_numpys_own_methods_write_at_any_index(name, index):
    expected, values = np.arange(6.0).reshape(2, 3), 2.5
    x = ng.tensor(expected)
    getattr(np, name).at(x, index, ng.tensor(values))
    getattr(np, name).at(expected, index, values)
    np.testing.assert_array_equal(x.numpy(), expected)
    y = ng.tensor(expected)
    np.negative.at(y, index)
    np.negative.at(expected, index)
    np.testing.assert_array_equal(y.numpy(), expected)


def test_a_reduction_at_no_index_has_no_elements():
    x = np.ones((2, 3))
    assert ng.add.reduceat(x, [], 1).shape == np.add.reduceat(x, [], 1).shape == (2, 0)


SAMPLES = {1: (np.array([0.3, 0.7]),), 2: (np.array([3.5, -0.25]), np.array([2.0, 2.0]))}
WHOLE = {1: (np.array([5, 6]),), 2: (np.array([5, 6]), np.array([1, 2]))}


def operands(ufunc):
    """Return arguments that a function of NumPy takes, and its results."""
    for samples in (SAMPLES, WHOLE, {2: (SAMPLES[2][0], WHOLE[2][1])}):
        try:
            with np.errstate(invalid="ignore"):
                found = ufunc(*samples[ufunc.nin])
        except (TypeError, KeyError):
            continue
        return samples[ufunc.nin], found if ufunc.nout > 1 else (found,)
    raise AssertionError(ufunc)


@pytest.mark.parametrize("ufunc", [u for u in UFUNCS if u.signature is None], ids=str)
def test_every_function_takes_options_and_a_place_for_results(ufunc):
    own, (args, expected) = UFUNCS[ufunc], operands(ufunc)
    mask, tensors = np.array([True, False]), [ng.tensor(a) for a in args]
    for function in (own, ufunc):
        for into, options in (
            ("place", {}), ("name", {}), ("name", {"where": mask}), ("name", {"casting": "unsafe"})
        ):  # fmt: skip
            if into == "place" and function in (np.maximum, np.minimum):
                continue  # deprecated
            outs = tuple(ng.zeros(2, r.dtype) for r in expected)
            if into == "place":
                found = function(*tensors, *outs)
            else:
                found = function(*tensors, out=outs if len(outs) > 1 else outs[0], **options)
            found = found if isinstance(found, tuple) else (found,)
            assert all(f is o for f, o in zip(found, outs, strict=True))
            for out, result in zip(outs, expected, strict=True):
                wanted = np.where(mask, result, 0) if "where" in options else result
                np.testing.assert_allclose(out.numpy(), wanted, 1e-15)
        arrays = tuple(np.zeros(2, r.dtype) for r in expected)
        function(*tensors, out=arrays)  # no gradient is lost
        for array, result in zip(arrays, expected, strict=True):
            np.testing.assert_allclose(array, result, 1e-15)
        with pytest.raises(TypeError, match="out= must be a tensor"):
            function(*tensors, out=tuple(result.tolist() for result in expected))
    with pytest.raises(TypeError, match="twice"):
        own(*tensors, *outs, out=outs)
    with pytest.raises(ValueError, match="results, and out="):
        own(*tensors, *outs, ng.zeros(2))


@pytest.mark.parametrize("name", ["modf", "divmod", "frexp"])
def test_functions_of_several_results(name):
    ufunc, own = getattr(np, name), getattr(ng, name)
    args, expected = operands(ufunc)
    tensors = [ng.tensor(a, requires_grad=True) for a in args]
    first = ng.zeros(2)
    found = own(*tensors, out=(first, None))
    assert found[0] is first
    np.testing.assert_array_equal(found[1].detach().numpy(), expected[1])
    assert ng.testing.gradcheck(lambda *xs: own(*xs, out=(ng.zeros(2), None))[0], tuple(tensors))
    if name != "frexp":
        for function in (own, ufunc):
            single = function(*tensors, dtype=np.float32)
            assert [r.dtype for r in single] == [r.dtype for r in ufunc(*args, dtype=np.float32)]
    with pytest.raises(TypeError, match="signature"):
        own(*tensors, dtype=complex)
    captured = ng.jit(lambda *xs: own(*xs, *[ng.zeros(2, r.dtype) for r in expected]))
    for one, other in zip(captured(*args), expected, strict=True):
        np.testing.assert_array_equal(one, other)
