"""Composed functions: the operations that were noted give the bits of the function itself."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.record.composition import Composition, Operations, composed
from numgrad.functions.creation.ranges import _between as spaced
from numgrad.functions.linalg.least_squares import _residuals, shortest
from numgrad.functions.linalg.norms import _norm
from numgrad.functions.reduction.histograms import _equal
from numgrad.functions.reduction.quantiles import _at_number, _at_numbers
from numgrad.functions.shape.grids import _geometric
from numgrad.functions.signal.filters import _from_rest, _from_state, _lfilter, _sosfilt
from numgrad.functions.signal.fourier import _transform, _transforms
from numgrad.functions.signal.polynomial_fits import _between as roots_between
from numgrad.functions.signal.polynomial_fits import _coefficients

pytestmark = pytest.mark.short_ways

VECTOR, OTHER = np.array([0.3, -1.2, 2.0]), np.array([1.5, 0.25, -0.5])
MATRIX = np.array([[4.0, 1.0, 0.5], [-1.0, 3.0, 0.2], [0.1, 0.7, 5.0]])
TREES = (np.ndarray, list, tuple)
HOLES = np.where(MATRIX == 0.5, np.nan, MATRIX)
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
    "quantiles": (_at_numbers, (VECTOR, [0.1, 0.7], True, (-1,), "linear", False, False, True), {}),
    "quantiles, a matrix of them": (
        _at_numbers, (MATRIX, [[0.1], [0.7]], False, (-1,), "hazen", True, False, False), {},
    ),
    "nanquantiles": (
        _at_numbers, (HOLES, [0.2, 0.5], True, (-2,), "midpoint", False, True, True), {},
    ),
    "nanmedian": (ng.nanmedian, (HOLES,), {"axis": 1}),
    "nanmean": (ng.nanmean, (HOLES,), {"axis": 0, "keepdims": True}),
    "nanvar": (ng.nanvar, (HOLES,), {"ddof": 1}),
    "nanstd": (ng.nanstd, (HOLES,), {"axis": 1}),
    "nansum": (ng.nansum, (HOLES,), {}),
    "nanprod": (ng.nanprod, (HOLES,), {"axis": 0}),
    "nancumsum": (ng.nancumsum, (HOLES,), {"axis": 0}),
    "nancumprod": (ng.nancumprod, (HOLES,), {"axis": 0}),
    "nanmax": (ng.nanmax, (HOLES,), {"axis": 0}),
    "nanmin": (ng.nanmin, (HOLES,), {}),
    "cov": (ng.cov, (MATRIX,), {"ddof": 0}),
    "cov of two": (ng.cov, (VECTOR, OTHER), {}),
    "corrcoef": (ng.corrcoef, (MATRIX,), {}),
    "corrcoef of complex numbers": (ng.corrcoef, (MATRIX + 1j * MATRIX.T,), {}),
    "corrcoef of one variable": (ng.corrcoef, (VECTOR,), {}),
    "trapezoid": (ng.trapezoid, (MATRIX, VECTOR), {"axis": 0}),
    "gradient": (ng.gradient, (MATRIX,), {}),
    "gradient, a spacing": (ng.gradient, (VECTOR, np.array(0.5)), {"edge_order": 2}),
    "gradient, places": (ng.gradient, (VECTOR, OTHER), {}),
    "linspace": (spaced, (VECTOR, OTHER, 4, True), {}),
    "linspace from a scalar": (spaced, (np.array(0.5), 2.0, 4, False), {}),
    "logspace": (ng.logspace, (VECTOR, 2.0, 3), {}),
    "geomspace": (_geometric, (VECTOR, OTHER, 3, True, None), {}),
    "equal bins": (_equal, (VECTOR, 4), {}),
    "qr": (ng.linalg.qr, (MATRIX,), {}),
    "eigh": (ng.linalg.eigh, (MATRIX,), {}),
    "eigvalsh": (ng.linalg.eigvalsh, (MATRIX,), {}),
    "eigvals": (ng.linalg.eigvals, (MATRIX,), {}),
    "svd": (ng.linalg.svd, (MATRIX,), {}),
    "pinv": (ng.linalg.pinv, (MATRIX[:, :2],), {}),
    "lstsq": (shortest, (MATRIX[:, :2], VECTOR, None), {}),
    "residuals": (_residuals, (MATRIX[:, :2], VECTOR, VECTOR[:2]), {}),
    "cond": (ng.linalg.cond, (MATRIX,), {}),
    "cond, 1": (ng.linalg.cond, (MATRIX, 1), {}),
    **{f"norm, {p}": (_norm, (MATRIX, p, None, True), {}) for p in (1, 2, -2, np.inf, "nuc")},
    **{f"norm of vectors, {p}": (_norm, (MATRIX, p, 1, False), {}) for p in (1, 3, 0.5, -np.inf)},
    "matrix_norm": (ng.linalg.matrix_norm, (MATRIX,), {}),
    "vector_norm": (ng.linalg.vector_norm, (MATRIX,), {"axis": 0}),
    "tensorinv": (ng.linalg.tensorinv, (MATRIX.reshape(3, 3, 1), 1), {}),
    "tensorsolve": (ng.linalg.tensorsolve, (MATRIX, VECTOR), {}),
    "multi_dot": (ng.linalg.multi_dot, ([MATRIX, MATRIX, VECTOR],), {}),
    "fft": (_transform, ("fft", "fft", VECTOR, 4, -1, "ortho"), {}),
    "irfft": (_transform, ("irfft", "irfft", MATRIX + 1j * MATRIX.T, None, 0, "backward"), {}),
    "fftn": (_transforms, ("fftn", MATRIX, None, None, "backward"), {}),
    "irfft2": (_transforms, ("irfft2", MATRIX + 0j, [3, 4], None, "forward"), {}),
    "convolve": (ng.convolve, (VECTOR, OTHER, "same"), {}),
    "correlate": (ng.correlate, (VECTOR, OTHER, "full"), {}),
    "signal.convolve": (ng.signal.convolve, (MATRIX, MATRIX[:2, 1:]), {}),
    "signal.correlate": (ng.signal.correlate, (MATRIX, MATRIX[:2, 1:], "same", "fft"), {}),
    "fftconvolve": (ng.signal.fftconvolve, (VECTOR, OTHER), {}),
    "oaconvolve": (ng.signal.oaconvolve, (MATRIX, MATRIX[:1]), {"axes": -1}),
    "convolve2d": (ng.signal.convolve2d, (MATRIX, MATRIX[:2]), {"boundary": "wrap"}),
    "correlate2d": (ng.signal.correlate2d, (MATRIX, MATRIX[:2]), {"mode": "same"}),
    "detrend": (ng.signal.detrend, (MATRIX,), {"axis": 0}),
    "detrend, pieces": (ng.signal.detrend, (MATRIX,), {"bp": [1]}),
    "hilbert": (ng.signal.hilbert, (VECTOR,), {}),
    "lfilter": (_lfilter, ([0.5, 1.0], [2.0, -0.5], VECTOR, -1, None), {}),
    "lfilter of tensors": (_from_rest, ("lfilter", OTHER, VECTOR, MATRIX, 0), {}),
    "lfilter from a state": (
        _from_state, ("lfilter", OTHER, VECTOR, MATRIX, -1, MATRIX[:, :2]), {},
    ),
    "lfilter_zi": (ng.signal.lfilter_zi, (OTHER, VECTOR), {}),
    "sosfilt": (_sosfilt, ([[1.0, 0.5, 0.0, 2.0, -0.3, 0.0]], VECTOR, -1, None), {}),
    "polyadd": (ng.polyadd, (VECTOR, OTHER[:2]), {}),
    "polysub": (ng.polysub, (VECTOR, OTHER), {}),
    "polyder": (ng.polyder, (VECTOR,), {}),
    "polyint": (ng.polyint, (VECTOR, 2), {"k": [1.0, 0.5]}),
    "poly": (ng.poly, (VECTOR,), {}),
    "roots": (roots_between, (VECTOR, 0, 2), {}),
    "polyfit": (_coefficients, (VECTOR, OTHER, 1, None, None), {}),
    "polyfit, weights": (_coefficients, (VECTOR, OTHER, 1, 1e-9, OTHER + 1.0), {}),
    "insert": (ng.insert, (MATRIX, 1, VECTOR), {"axis": 1}),
    "insert, a scalar": (ng.insert, (VECTOR, [0, 2], np.array(3.0)), {}),
    "select": (ng.select, ([[True, False, False], [True, True, False]], [VECTOR, OTHER], 0.5), {}),
    "logpdf": (ng.stats.norm._computed, ("logpdf", VECTOR, OTHER, np.array(2.0)), {}),
    "cdf of a gamma distribution": (ng.stats.gamma._computed, ("cdf", VECTOR), {"a": 1.5}),
    "diag": (ng.diag, (VECTOR,), {}),
    "diag of a matrix": (ng.diag, (MATRIX, 1), {}),
    "triu": (ng.triu, (MATRIX,), {}),
    "tril": (ng.tril, (MATRIX, -1), {}),
    "append": (ng.append, (VECTOR, OTHER), {}),
    "append, a number": (ng.append, (VECTOR, 1.5), {}),
    "delete": (ng.delete, (MATRIX, 1), {"axis": 1}),
    "delete, a slice": (ng.delete, (MATRIX, slice(0, 3, 2)), {"axis": 0}),
}  # fmt: skip


def turned(x):
    """Other numbers of the same shape."""
    if isinstance(x, list):
        return [turned(item) for item in x]
    if not isinstance(x, np.ndarray):
        return x
    is_square = x.ndim == 1 or x.shape == x.shape[::-1]
    return (x.T if is_square else x)[::-1].copy() if x.ndim else np.array(x + 0.25)


def leaves(arrays, scale):
    if isinstance(arrays, np.ndarray):
        return ng.tensor(arrays * arrays.dtype.type(scale), requires_grad=True)
    return type(arrays)([leaves(a, scale) if isinstance(a, TREES) else a for a in arrays])


def tensors_in(args):
    each = [tensors_in(x) if isinstance(x, (list, tuple)) else [x] for x in args]
    return [x for found in each for x in found if isinstance(x, ng.Tensor)]


def bits(function, args, kwargs):
    """The type, the results and their first and second derivatives."""
    found = function(*args, **kwargs)
    results = found if isinstance(found, tuple) else (found,)
    tensors = tensors_in(args)
    loss = sum((abs(y) ** 2).sum() for y in results)
    first = ng.grad(loss, tensors, create_graph=True)
    second = ng.grad(sum((abs(g) ** 2).sum() for g in first), tensors)
    arrays = [x.detach().numpy() for x in (*results, *first, *second)]
    return type(found), [y.is_scalar for y in results], [a.tobytes() for a in arrays]


@pytest.mark.parametrize("name", CALLS)
def test_later_calls_have_the_bits_of_the_function(name):
    function, arrays, kwargs = CALLS[name]
    others = [turned(a) for a in arrays]
    for given, scale in ((arrays, 1.0), (others, 1.25), (arrays, 0.75), (others, 1.5)):
        args = leaves(given, scale)  # the second call notes the operations
        expected = bits(function.__wrapped__, args, kwargs)
        assert bits(function, args, kwargs) == expected, scale


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("name", CALLS)
def test_calls_that_a_finder_answers_have_the_bits_of_the_function(name):
    function, arrays, kwargs = CALLS[name]
    composition = Composition(function.__wrapped__)
    others = [turned(a) for a in arrays]
    for given, scale in 3 * ((arrays, 1.0), (others, 1.25), (arrays, 0.75), (others, 1.5)):
        args = leaves(given, scale)
        expected = bits(function.__wrapped__, args, kwargs)
        called = (lambda *args, **kwargs: composition.call(args, kwargs)) if kwargs else None
        assert bits(called or composition.apply, args, kwargs) == expected, scale


@pytest.mark.usefixtures("often")
def test_a_finder_tells_apart_what_operations_depend_on():
    composition = Composition(lambda x, y, p=1.0: (x * x.detach() + y.sum()) ** p)
    x, y = (ng.tensor([n, 3.0], requires_grad=True) for n in (1.0, 2.0))
    for _ in range(6):
        composition.apply(x, y, 2.0)
    assert composition.apply is composition.finders[()]
    strided = ng.tensor([[1.0, 0.0], [3.0, 0.0]], requires_grad=True)[:, 0]
    scalar = (x * 1.0)[1]
    cases = [
        (x, y, 2.0), (x, x, 2.0), (strided, y, 2.0), (x.detach(), y, 2.0), (x, y, 2), (x, y, -0.0),
        (x, y, 0.0), (x, y), (x, x.detach(), 2.0), (scalar, y, 2.0), (ng.tensor(3.0), y, 2.0),
        (x, y, float("nan")), (x, y, True), (x, np.array([2.0, 3.0]), 2.0),
    ]  # fmt: skip
    for _ in range(4):
        for args in cases:
            expected, found = composition.function(*args), composition.apply(*args)
            np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy())
            assert found.is_scalar == expected.is_scalar
            if args[0] is x:
                results = [ng.grad(z.sum(), x)[0].tolist() for z in (found, expected)]
                np.testing.assert_array_equal(*results)


@pytest.mark.usefixtures("often")
def test_a_finder_tells_one_tensor_twice_from_two_and_a_number():
    composition = Composition(lambda x, y, n=5: x * y.detach() + n)
    x, y = (ng.tensor([n, 3.0], requires_grad=True) for n in (1.0, 2.0))
    other = x.detach()  # with the array of x
    for _ in range(6):
        for args in ((x, x), (x, y, 0), (x, y), (x, x, 0), (x, y, 1), (x, other), (other, x)):
            expected, found = composition.function(*args), composition.apply(*args)
            assert found.tolist() == expected.tolist()
            assert found.requires_grad == expected.requires_grad
            if args[0] is x:
                assert ng.grad(found.sum(), x)[0].tolist() == args[1].tolist()
    assert composition.apply is composition.finders[()]


@pytest.mark.usefixtures("often")
def test_a_finder_sees_writes_and_other_modes():
    composition = Composition(lambda x, y: x * x.detach() + y)
    x = ng.tensor([1.0, 3.0], requires_grad=True)
    y = x * 1.0
    for _ in range(6):
        composition.apply(x, y)
    view = y[:]
    y += 1.0
    assert composition.apply(view, x).tolist() == [5.0, 19.0]
    with ng.no_grad():
        assert not composition.apply(x, y).requires_grad
    assert ng.jit(composition.apply)(x, y).tolist() == [3.0, 13.0]
    assert ng.func.vmap(composition.apply)(x, y).tolist() == [3.0, 13.0]


def _takes_arrays(name):
    function, arrays, _ = CALLS[name]
    is_public = function.__name__[0] != "_" and function is not shortest
    return is_public and sum([isinstance(a, np.ndarray) for a in arrays]) > 1


@pytest.mark.parametrize("name", [*filter(_takes_arrays, CALLS)])
def test_later_calls_with_arrays_beside_a_tensor_have_the_bits_of_the_function(name):
    function, arrays, kwargs = CALLS[name]
    others = [turned(a) for a in arrays]
    first = [isinstance(a, np.ndarray) for a in arrays].index(True) + 1
    for given, scale in ((arrays, 1.0), (others, 1.25), (arrays, 0.75), (others, 1.5)):
        args = [*leaves(given[:first], scale), *given[first:]]
        expected = bits(function.__wrapped__, args, kwargs)
        assert bits(function, args, kwargs) == expected, scale


def _without(args):
    if isinstance(args, ng.Tensor):
        return args.detach()
    return [_without(x) if isinstance(x, (ng.Tensor, list, tuple)) else x for x in args]


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
            count = len(args) if first == "constants" else 1 + isinstance(args[0], str)
            alone(*_without(args[:count]), *args[count:], **kwargs)
    for scale in (1.5, 2.0, 0.5):
        args = leaves(arrays, scale)
        assert bits(alone, args, kwargs) == bits(function.__wrapped__, args, kwargs), scale


@pytest.mark.parametrize("name", CALLS)
def test_calls_without_gradients_have_the_values_of_the_function(name):
    """What is computed from constants without an operation would stay as it was."""
    function, arrays, kwargs = CALLS[name]
    others = [turned(a) for a in arrays]
    for given, scale in ((arrays, 1.0), (others, 1.25), (arrays, 0.75), (others, 1.5)):
        args = _without(leaves(given, scale))
        found, expected = (f(*args, **kwargs) for f in (function, function.__wrapped__))
        pairs = zip(found, expected, strict=True) if type(found) is not ng.Tensor else None
        for one, two in pairs or [(found, expected)]:
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", CALLS)
def test_operations_are_noted(name):
    function, arrays, kwargs = CALLS[name]
    composition = Composition(function.__wrapped__)
    for scale in (1.0, 1.25):
        composition.call(tuple(leaves(arrays, scale)), kwargs)
    assert any(composition.known.values())


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


def test_strides_of_one_tensor_are_not_taken_for_what_is_known_of_another():
    dense, repeated = ng.asarray(np.ones((2, 3))), ng.asarray(np.broadcast_to(1.0, (2, 3)))
    composition = Composition(lambda x, y: ng.exp(x) * y)
    for pair in [(dense, repeated), (repeated, dense)]:
        for _ in range(3):
            composition.call(pair, {})
    assert len(composition.known) == 2


def test_one_tensor_twice_is_noted_as_such():
    calls = []

    @composed
    def product(x, y):
        calls.append(x)
        return x * y

    for n in (1.0, 2.0, 3.0, 4.0):
        x = ng.tensor([n, -n], requires_grad=True)
        assert product(x, x).tolist() == [n * n, n * n]
        assert ng.grad(product(x, x).sum(), x)[0].tolist() == [2 * n, -2 * n]
        assert product(x, ng.tensor([2.0, 3.0])).tolist() == [2 * n, -3 * n]
    assert len(calls) == 4  # two with one tensor, two with two
    for n in (1.0, 2.0, 3.0, 4.0):
        x = ng.tensor([n, -n], requires_grad=True)
        assert ng.grad(product(x, x.detach()).sum(), x)[0].tolist() == [n, -n]
    assert len(calls) == 8


def test_what_is_made_of_constants_is_computed_once():
    powers = []

    @composed
    def weighted(x):
        powers.append(ng.sqrt(ng.tensor([1.0, 9.0])))
        return x * powers[-1][::-1]

    for n in (1.0, 2.0, 3.0, 4.0):
        x = ng.tensor([n, 2.0], requires_grad=True)
        y = weighted(x)
        assert y.tolist() == [n * 3.0, 2.0]
        assert ng.grad(y.sum(), x)[0].tolist() == [3.0, 1.0]
        powers[-1][...] = 7.0  # what others do with it later changes nothing
    assert len(powers) == 2


@pytest.mark.parametrize("made", [lambda x: ng.array([1.0, 2.0]), lambda x: x.detach() * 0.0 + 1.0])
def test_results_never_share_memory_with_later_ones(made):
    @composed
    def pair(x):
        return x * 1.0, made(x)[::-1]

    for n in (1.0, 2.0, 3.0, 4.0):
        found = pair(ng.tensor([n, 2.0]))[1]
        before = found.tolist()
        found[...] = 9.0
        assert before == made(ng.tensor([n, 2.0]))[::-1].tolist()


def test_an_array_beside_a_tensor_and_a_scalar_are_operands():
    calls = []

    @composed
    def line(x, a, b):
        calls.append(x)
        return x * a + b

    for n in (1.0, 2.0, 3.0, 4.0):
        x, b = ng.tensor([n, -n], requires_grad=True), ng.tensor(n, requires_grad=True)
        a = np.array([n, 2.0])
        y = line(x, a, b)
        a[...] = 9.0  # the user may write before the derivative is asked for
        assert y.tolist() == [n * n + n, -2 * n + n]
        assert [g.tolist() for g in ng.grad(y.sum(), [x, b])] == [[n, 2.0], 2.0]
    assert len(calls) == 2


def test_large_arrays_beside_tensors_are_not_copied():
    calls = []

    @composed
    def total(x, a):
        calls.append(a)
        return (x * a).sum()

    a = np.arange(5000.0)
    for n in (1.0, 2.0, 3.0):
        assert total(ng.tensor([n]), a).item() == n * 12497500.0
    assert [given is a for given in calls] == [True] * 3


def test_errors_name_the_function():
    for n in (2, 2, 2):
        ng.vander(ng.tensor([1.0, 2.0]), n)
    with pytest.raises(TypeError, match=r"^vander: N must be an integer"):
        ng.vander(ng.tensor([1.0, 2.0]), "two")


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
