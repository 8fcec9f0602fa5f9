"""What captured functions close over: NumPy arrays, in every place of every public function.

Each call below is captured with every array in it closed over; then each array is written in place,
and the captured function must do what the function itself does with the array as it is now.
"""

import inspect
import itertools

import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

from .test_jit_numpy import CAPTURED

X = np.array([[0.25, 0.75, 0.5], [0.6, 0.1, 0.9]])
V = np.array([0.3, 0.8, 0.55])
S = np.array([[4.0, 1.0], [1.0, 3.0]])
MASK = np.array([True, False, True])
SPECIAL = np.array([np.nan, np.inf, -np.inf])


def at(value):
    """An array without axes."""
    return np.array(value)


class Call:
    """A call of a public function; its arrays, in containers too, are written one after the other.

    ``writes`` says what is written into integer arrays, by their place; others get other numbers of
    their kind.
    """

    def __init__(self, function, *args, writes=None, **options):
        self.function, self.args, self.options = function, args, options
        self.writes = writes or {}

    def __repr__(self):
        name = getattr(self.function, "__name__", "function")
        return name if name != "<lambda>" else inspect.getsource(self.function).strip()[:60]


def arrays_of(tree):
    if isinstance(tree, np.ndarray):
        yield tree
    elif isinstance(tree, slice):
        yield from arrays_of((tree.start, tree.stop, tree.step))
    elif isinstance(tree, list | tuple):
        for item in tree:
            yield from arrays_of(item)
    elif isinstance(tree, dict):
        yield from arrays_of(list(tree.values()))


def copied(tree):
    if isinstance(tree, np.ndarray):
        return tree.copy()
    if isinstance(tree, slice):
        return slice(*copied((tree.start, tree.stop, tree.step)))
    if isinstance(tree, list | tuple):
        return type(tree)(map(copied, tree))
    if isinstance(tree, dict):
        return {key: copied(item) for key, item in tree.items()}
    return tree


def written(array, value):
    """Write into an array in place."""
    if value is not None:
        array[...] = value
    elif array.dtype.kind == "b":
        array[...] = np.roll(array, 1) if array.ndim and not array.all() else ~array
    elif array.dtype.kind in "iu":
        array[...] = array + 1
    else:
        array[...] = array * 0.875 + 0.03125


def values(result):
    """The numbers of a result."""
    if isinstance(result, ng.Tensor):
        return [result.detach().numpy()]
    if isinstance(result, np.ndarray):
        return [result]
    if isinstance(result, list | tuple):
        return list(itertools.chain.from_iterable(map(values, result)))
    return [np.asarray(result)]


def written_by(name):
    """Return a function that gives what one of NumPy's writes to a copy of its first argument."""

    def write(target, *args):
        target = ng.array(target)
        getattr(ng, name)(target, *args)
        return target

    return write


UNARY = (
    "abs absolute acos arccos asin arcsin asinh arcsinh atan arctan atanh arctanh all amax "
    "amin any "
    "angle argmax argmin argsort argwhere around atleast_1d atleast_2d atleast_3d cbrt ceil conj "
    "conjugate cos cosh count_nonzero cumprod cumsum deg2rad degrees "
    "diag diagonal diff empty_like exp exp2 expand_dims expm1 fabs fix flatten flip fliplr flipud "
    "floor imag isfinite isinf isnan iscomplexobj isrealobj log log10 log1p log2 logical_not "
    "logsumexp matrix_transpose max mean median meshgrid min nan_to_num negative nonzero ones_like "
    "permute_dims positive prod rad2deg radians ravel real reciprocal rint rot90 round "
    "sign signbit sin sinh sort sqrt square squeeze std sum tan tanh trace transpose trapezoid "
    "tril "
    "triu trunc unique_all unique_counts unique_inverse unique_values unstack var zeros_like clip "
    "asarray tensor from_dlpack broadcast_arrays array copy ndim stop_gradient "
    "shape size isscalar unique"
)
BINARY = (
    "add arctan2 atan2 array_equal array_equiv copysign divide equal floor_divide fmax fmin "
    "fmod greater greater_equal hypot isclose less less_equal logaddexp logaddexp2 logical_and "
    "logical_or logical_xor maximum minimum mod multiply not_equal pow power remainder subtract "
    "true_divide inner kron outer vdot cross vecdot dot in1d intersect1d isin setdiff1d setxor1d "
    "union1d"
)
INTEGERS = (
    "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift left_shift "
    "right_shift"
)
JOINING = "column_stack concat concatenate dstack hstack stack vstack"
N, M = np.array([1, 2, 3]), np.array([2, 1, 1])

CALLS = [
    *[Call(getattr(ng, name), X) for name in UNARY.split()],
    *[Call(getattr(ng, name), V, V[::-1].copy()) for name in BINARY.split()],
    *[Call(getattr(ng, name), N, M) for name in INTEGERS.split()],
    *[Call(getattr(ng, name), N) for name in ("bitwise_invert", "bitwise_not", "invert")],
    *[Call(getattr(ng, name), [X, X * 2]) for name in JOINING.split()],
    *[Call(getattr(ng.special, name), V) for name in (
        "digamma", "erf", "erfc", "expit", "gammaln", "lgamma", "log_expit", "logit", "ndtr", "psi",
        "sigmoid",
    )],
    *[Call(getattr(ng.linalg, name), S) for name in (
        "cholesky", "det", "diagonal", "inv", "matrix_norm", "matrix_transpose", "norm", "slogdet",
        "trace", "vector_norm",
    )],
    *[Call(getattr(ng.linalg, name), S, S + 1) for name in ("matmul", "solve", "tensordot")],
    *[Call(getattr(ng.linalg, name), V, V + 1) for name in ("cross", "outer", "vecdot")],
    Call(ng.linalg.multi_dot, [S, S + 1, S]),
    Call(ng.linalg.matrix_power, S, at(2)),
    Call(ng.linalg.norm, X, None, at(0)), Call(ng.linalg.vector_norm, X, axis=at(0)),
    Call(ng.linalg.diagonal, S, offset=at(0)),
    Call(ng.linalg.cholesky, S, upper=at(False)),
    Call(ng.special.xlogy, V, V + 1),
    Call(ng.special.polygamma, at(1), V),
    Call(ng.acosh, V + 2), Call(ng.arccosh, V + 2),
    Call(ng.angle, V, at(False)),
    Call(ng.matmul, S, S), Call(ng.einsum, "ij,jk", S, S), Call(ng.tensordot, S, S),
    Call(ng.einsum, S, [0, 1], S, [1, 2]),
    # Options that are arrays ---------------------------------------------------------------------
    Call(ng.arange, at(1), at(7), at(2)), Call(ng.arange, at(4)),
    Call(ng.linspace, at(1.0), V, at(3)), Call(ng.linspace, X, 2.0), Call(ng.linspace, [V, V], 1.0),
    Call(ng.linspace, 0.0, 1.0, 5, at(True)),
    Call(ng.full, np.array([2, 3]), V, writes={0: [4, 3]}), Call(ng.full, 3, at(2.0)),
    Call(ng.full, 3, [at(2.0)] * 3),
    Call(ng.full, (at(2), 3), 1.0),
    Call(ng.full_like, X, V), Call(ng.full_like, X, 1.0, shape=np.array([2, 2])),
    Call(ng.zeros, np.array([2, 3])), Call(ng.ones, at(2)), Call(ng.ones, (at(2), at(1))),
    Call(ng.zeros_like, X, shape=at(2)), Call(ng.ones_like, X, shape=(at(2), 1)),
    Call(ng.eye, at(3), at(4), at(0)), Call(ng.identity, at(2)),
    Call(ng.asarray, V, np.float32), Call(ng.asarray, V, copy=True), Call(ng.asarray, [V, V]),
    Call(ng.asarray, [at(1.0), at(2.0)]), Call(ng.asarray, N, np.float64),
    Call(ng.tensor, V, np.float32), Call(ng.tensor, [V, [at(1.0), 2.0, 3.0]]), Call(ng.tensor, N),
    Call(ng.tensor, V, requires_grad=True), Call(ng.from_dlpack, V, copy=True),
    Call(ng.astype, V, np.float32), Call(ng.astype, MASK, np.float64),
    Call(ng.repeat, V, np.array([1, 0, 2])), Call(ng.repeat, V, at(2)),
    Call(ng.repeat, X, 2, at(0)),
    Call(ng.repeat, X, [at(1), at(2)], 0),
    Call(ng.tile, V, at(2)), Call(ng.tile, V, np.array([2, 1])), Call(ng.tile, V, (at(2), 1)),
    Call(ng.pad, V, at(1)), Call(ng.pad, V, np.array([1, 2])),
    Call(ng.pad, X, ((at(1), 2), (0, 1))),
    Call(ng.pad, X, {0: at(1)}), Call(ng.pad, V, 1, constant_values=at(3.0)),
    Call(ng.pad, V, 1, constant_values=np.array([3.0, 4.0])), Call(ng.pad, V, at(1), "edge"),
    Call(ng.split, V, np.array([1, 2]), writes={1: [0, 1]}),
    Call(ng.split, V, at(1), writes={1: 3}),
    Call(ng.split, X, 1, at(0)), Call(ng.split, V, [at(1)]),
    Call(ng.array_split, V, np.array([1, 2])), Call(ng.array_split, V, at(2)),
    Call(ng.array_split, X, 2, at(0)),
    Call(ng.roll, V, at(1)), Call(ng.roll, X, np.array([1, 0]), (0, 1)),
    Call(ng.roll, X, (at(1), 1), (0, 1)), Call(ng.roll, X, 1, at(0)),
    Call(ng.rot90, X, at(1)), Call(ng.rot90, X, 1, np.array([0, 1]), writes={1: [1, 0]}),
    Call(ng.flip, X, at(0)), Call(ng.flip, X, (at(0),)),
    Call(ng.diag, V, at(0)), Call(ng.diag, X, at(0)), Call(ng.diagonal, X, at(0)),
    Call(ng.trace, X, at(0)), Call(ng.tril, X, at(0)), Call(ng.triu, X, at(0)),
    Call(ng.reshape, X, np.array([2, 3]), writes={1: [3, 2]}),
    Call(ng.reshape, X, (at(2), -1), writes={1: 3}), Call(ng.reshape, X, at(-1), writes={1: 6}),
    Call(ng.broadcast_to, V, np.array([1, 3]), writes={1: [2, 3]}),
    Call(ng.broadcast_to, V, (at(1), 3)), Call(ng.expand_dims, X, at(0)),
    Call(ng.squeeze, X[:, None, None], at(1)), Call(ng.swapaxes, X[None], at(0), 2),
    Call(ng.moveaxis, X[None], at(0), 2), Call(ng.moveaxis, X[None], 2, at(0)),
    Call(ng.transpose, X[None], np.array([0, 1, 2]), writes={1: [2, 0, 1]}),
    Call(ng.permute_dims, X[None], (at(0), 1, 2), writes={1: -3}),
    *[Call(getattr(ng, name), X, at(0)) for name in (
        "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "count_nonzero", "cumprod",
        "cumsum", "logsumexp", "max", "mean", "median", "min", "prod", "sort", "std", "sum", "var",
    )],
    *[Call(getattr(ng, name), X, axis=at(0)) for name in (
        "cumulative_sum", "cumulative_prod", "diff", "trapezoid",
    )],
    Call(ng.sum, X[None], (at(0), 2)),
    Call(ng.std, X, axis=0, mean=V), Call(ng.cumulative_sum, V, include_initial=at(False)),
    Call(ng.argsort, V, descending=at(False)), Call(ng.sort, V, descending=at(False)),
    Call(ng.sort, X, at(0)), Call(ng.unstack, X, at(0)), Call(ng.stack, [X, X], at(0)),
    Call(ng.concat, [X, X], at(0)), Call(ng.concat, (V, [at(1.0)])),
    Call(ng.diff, V, at(1)), Call(ng.diff, V, prepend=at(0.5), append=V),
    Call(ng.trapezoid, V, V.cumsum()), Call(ng.trapezoid, V, dx=at(2.0)),
    Call(ng.tensordot, S, S, at(1), writes={2: 2}),
    Call(ng.tensordot, S, S, (at(0), [at(1)]), writes={2: 1, 3: 0}),
    Call(ng.vecdot, S, S, axis=at(0)), Call(ng.cross, np.ones((3, 3)), X.T @ X, axis=at(0)),
    Call(ng.clip, V, at(0.4), at(0.6)), Call(ng.clip, V, V * 0.9, None),
    Call(ng.nan_to_num, SPECIAL, nan=at(1.0), posinf=at(2.0), neginf=at(-2.0)),
    Call(ng.round, V * 0.77, at(0)), Call(ng.around, V * 7.7, decimals=at(-1)),
    Call(ng.where, MASK, V, V + 1),
    Call(ng.cond, at(True), ng.sin, ng.cos, V), Call(ng.cond, np.array([0]), ng.sin, ng.cos, V),
    Call(ng.scan, lambda c, x: (c * x, c + x), at(0.5), V),
    Call(ng.fori_loop, 0, 3, lambda i, c: c + i * c, V),
    Call(ng.while_loop, lambda c: c.sum() < 9, lambda c: 2 * c, V),
    Call(ng.isclose, V, V + 0.01, at(0.001), at(0.005)),
    Call(ng.searchsorted, V[[0, 2, 1]], V, writes={0: [0.1, 0.2, 0.3]}),
    Call(ng.searchsorted, V, V, sorter=np.array([0, 2, 1]), writes={2: [0, 1, 2]}),
    Call(ng.meshgrid, V, V, copy=at(True), sparse=at(False)),
    Call(ng.choose, np.array([0, 1, 1]), [V, V + 1], writes={0: [1, 1, 0]}),
    Call(ng.compress, MASK, X, 1), Call(ng.extract, MASK, V),
    *[Call(written_by(name), V, *args) for name, *args in (
        ("place", MASK, V + 2), ("putmask", MASK, V + 2), ("copyto", V + 2),
    )],
    *[Call(written_by(name), V, N - 1, V + 2, *rest, writes={1: [0, 2, 1]}) for name, *rest in (
        ("put",), ("put_along_axis", 0),
    )],
    Call(written_by("fill_diagonal"), S, at(2.0)),
    # Indices -------------------------------------------------------------------------------------
    Call(ng.take, V, np.array([0, 1])), Call(ng.take, V, at(1)), Call(ng.take, V, [at(1), at(0)]),
    Call(ng.take, X, N - 1, at(1), writes={1: [0, 0, 2], 2: -1}), Call(ng.take, V, MASK),
    Call(ng.take_along_axis, X, np.array([[0], [1]])),
    Call(ng.take_along_axis, X, np.array([[0, 0, 1]]), at(0), writes={1: [[1, 0, 1]], 2: -2}),
    *[
        Call(lambda x, key: ng.asarray(x)[key], X, key, writes=writes)
        for key, writes in [
            (at(0), {}), ((at(0), at(1)), {}), ((slice(None), MASK), {}), (X > 0.5, {}),
            (np.array([True, False]), {}), (slice(at(0), None), {}), (slice(None, at(1)), {}),
            (slice(None, None, at(1)), {}), ((slice(at(0), 2), at(1)), {}), ([at(0), 1], {}),
            ((np.array([True, True]), np.array([0, 1])), {1: [True, False]}),
            ((slice(at(0), 2), np.array([0, 1])), {}), (np.array([0, 1]), {1: [1, 1]}),
            ((np.array([0, 1]), at(1)), {1: [1, 1]}), (at(True), {}),
        ]
    ],
]  # fmt: skip


# Of these functions Python reads the elements, or makes a copy.
READ = (
    "argwhere nonzero unique_all unique_counts unique_inverse unique_values array_equal "
    "array_equiv tensor linspace full full_like array asarray from_dlpack pad unique union1d "
    "extract intersect1d setdiff1d setxor1d write"
)


def cases():
    for number, call in enumerate(CALLS):
        for place, _ in enumerate(arrays_of((call.args, call.options))):
            yield pytest.param(call, place, id=f"{number}-{call!r}-{place}")


def applied(call, given):
    args, options = given
    return call.function(*args, **options)


@pytest.mark.parametrize(("call", "place"), one_in(4, cases()))
def test_a_captured_function_sees_what_is_written_into_arrays(call, place):
    given = copied((call.args, dict(call.options)))
    calls = []

    def function(x):
        calls.append(1)
        result = applied(call, given)
        return [x, *result] if isinstance(result, list | tuple) else [x, result]

    captured = ng.jit(function)
    array = list(arrays_of(given))[place]
    before = array.copy()
    for step in range(5):
        if step == 3:
            written(array, call.writes.get(place))
        if step == 4:
            array[...] = before
        expected = values(applied(call, given))
        compare(call, values(captured(V)[1:]), expected)
    if array.dtype.kind == "f" and array.ndim and call.function.__name__ not in READ.split():
        assert len(calls) == 1  # an operand


NOT_CALLED = {
    "is about dtypes": "can_cast common_type finfo iinfo isdtype issubdtype min_scalar_type "
    "promote_types result_type",
    "writes, and is called above": "copyto fill_diagonal place put put_along_axis putmask",
    "is about memory and texts": "array2string array_repr array_str get_printoptions isfortran "
    "iterable may_share_memory printoptions set_printoptions shares_memory",
    "takes a shape alone": "empty",
    "answers with a Python bool that depends on operands": "allclose",
    "takes functions": "adjoint adjoint_source checkpoint elementwise jit njit once_differentiable "
    "operator",
    "is about the graph": "backward grad is_grad_enabled",
    "is about settings": "get_flags set_flags",
    "takes sizes alone, or places": "bartlett blackman diag_indices diag_indices_from fromfunction "
    "fromiter hamming hanning indices ix_ kaiser mask_indices ndenumerate ravel_multi_index tri "
    "tril_indices tril_indices_from triu_indices triu_indices_from unravel_index",
    "has no gradient": "argpartition bitwise_count digitize flatnonzero gcd histogram histogram2d "
    "histogram_bin_edges histogramdd iscomplex isneginf isposinf isreal lcm lexsort matrix_rank "
    "nanargmax nanargmin spacing",
    "is captured by tests of its own": "asfortranarray bincount block_diag cho_factor "
    "cho_solve circulant eigh_tridiagonal eigvalsh_tridiagonal expm "
    "fractional_matrix_power geomspace null_space orth polar solve_continuous_are "
    "solve_discrete_are hankel logm logspace lu lu_factor lu_solve polydiv solve_banded "
    "solve_circulant solve_continuous_lyapunov solve_discrete_lyapunov solve_sylvester "
    "solve_toeplitz solve_triangular solveh_banded sqrtm toeplitz real_if_close trim_zeros",
}


def test_every_public_function_is_called():
    called = {call.function for call in CALLS}
    known = set(" ".join(NOT_CALLED.values()).split())
    known |= {name.rpartition(".")[2] for name in CAPTURED}  # without indices, by its own test
    for module in (ng, ng.linalg):  # special functions are operators, each captured by its scenario
        for name, function in vars(module).items():
            own = inspect.isfunction(function) and function.__module__.startswith("numgrad")
            if own and not name.startswith("_") and name not in known:
                assert function in called, f"{module.__name__}.{name} is not among the calls"


def test_arrays_that_decide_where_is_written():
    keys = [
        (MASK.copy(), [False, True, True]),
        (at(0), 1),
        (slice(at(0), None), 1),
        (np.array([0, 1]), [2, 1]),
    ]
    for key, written_into in keys:
        captured = ng.jit(lambda x, key=key: put(x, key))
        array = next(arrays_of(key))
        for content in (None, None, written_into, written_into):
            if content is not None:
                array[...] = content
            expected = V.copy()
            expected[key] = 7.0
            np.testing.assert_array_equal(captured(V), expected)


def put(x, key):
    y = x.clone() if isinstance(x, ng.Tensor) else ng.asarray(x).clone()
    y[key] = 7.0
    return y


@pytest.mark.host_only("is about memory of NumPy")
def test_the_memory_of_an_array_that_a_tensor_shares_is_compared():
    counts = np.array([1, 0, 2])
    shared, mask = ng.asarray(counts), MASK.copy()
    inside, scale = ng.asarray(mask), ng.asarray(counts[0, ...])
    captured = ng.jit(lambda x: (ng.repeat(x, shared), x[inside], x * float(scale)))
    for step in range(4):
        counts[0], mask[:2] = step, (step == 2, step != 2)
        found = captured(V)
        np.testing.assert_array_equal(found[0], np.repeat(V, counts))
        np.testing.assert_array_equal(found[1], V[mask])
        np.testing.assert_array_equal(found[2], V * step)


VIEWS = [lambda a: a[::2], lambda a: a[2::-1], lambda a: a.reshape(2, 3)[0]]


@pytest.mark.parametrize("view", VIEWS)
def test_a_write_into_the_base_of_a_view_is_seen(view):
    counts = np.array([1, 2, 0, 1, 1, 2])
    part = view(counts)
    captured = ng.jit(lambda x: ng.repeat(x, view(counts)))
    for step in range(4):
        counts[0] = counts[-1] = step
        np.testing.assert_array_equal(captured(V), np.repeat(V, part))


def test_an_array_that_the_function_makes_itself_is_not_compared():
    captured = ng.jit(lambda x: x[np.arange(3) > 0] * ng.tensor(np.ones(2)))
    for _ in range(3):
        captured(V)
    (recorded,) = captured.jit_function.specializations.values()
    assert not recorded.trace.guards


def test_an_array_that_the_function_changes_while_it_reads_it():
    counts = np.array([1, 1, 1])

    def function(x):
        first = ng.repeat(x, counts)
        counts[0] += 1
        return first, ng.repeat(x, counts)

    captured = ng.jit(function)
    for step in range(1, 4):
        first, second = captured(V)
        assert (first.size, second.size) == (2 + step, 3 + step)


def test_what_is_seen_inside_reaches_the_functions_around():
    mask = MASK.copy()
    inner = ng.jit(lambda x: x[mask].sum())
    members = ng.jit(lambda x: ng.tensor(mask)[0] * x, ensemble=True)
    outer = ng.jit(lambda x: (inner(x), members(x), ng.func.grad(inner)(x)))
    for step in range(4):
        mask[0] = step % 2
        found = outer(V)
        np.testing.assert_allclose(found[0], V[mask].sum())
        np.testing.assert_array_equal(found[1], V * mask[0])
        np.testing.assert_array_equal(found[2], mask.astype(float))


class Masked(ng.Function):
    mask = MASK.copy()

    @staticmethod
    def forward(ctx, x):
        return x * 2.0

    @staticmethod
    def backward(ctx, g):
        y = ng.zeros(3)
        y[Masked.mask] = g[Masked.mask]
        return y


def test_what_a_derivative_of_the_user_reads_is_compared():
    captured = ng.jit(lambda x: Masked.apply(x) * x)
    leaf = ng.tensor(V, requires_grad=True)
    for step in range(4):
        Masked.mask[:] = [step % 2, 1, 0]
        (slope,) = ng.grad(captured(leaf).sum(), leaf)
        np.testing.assert_allclose(slope.numpy(), V * 2.0 + V * Masked.mask)


def compare(call, found, expected):
    assert len(found) == len(expected)
    for mine, wanted in zip(found, expected, strict=True):
        assert mine.shape == wanted.shape
        assert mine.dtype == wanted.dtype
        if call.function is not ng.empty_like:
            np.testing.assert_allclose(mine, wanted, rtol=1e-12)
