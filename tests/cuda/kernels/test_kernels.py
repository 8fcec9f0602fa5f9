"""Kernels: how operands lie, in which order they are added, and joined functions."""

import math

import numba
import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import HostOperator, registry
from numgrad.ir import program as _program
from numgrad.ir.pairwise import sum_all
from numgrad.operators.special.formulas import Tabled
from numgrad.targets.cuda.launch.host_steps import is_for_host
from numgrad.targets.cuda.program import lowering
from numgrad.targets.cuda.program.reduction_launch import role_of

from ..programs import TARGET, on_both, on_device, program_of, require_equal

RNG = np.random.default_rng(3)
X = RNG.standard_normal((4, 3, 5))
LIES = {
    "in order": X,
    "transposed": X.transpose(2, 0, 1).copy().transpose(1, 2, 0),
    "reversed": X[::-1, :, ::-1].copy()[::-1, :, ::-1],
    "every second": np.repeat(X, 2, axis=2)[:, :, ::2],
    "repeated": np.broadcast_to(X[:1], X.shape),
    "a number": np.broadcast_to(X[0, 0, 0], X.shape),
}


@pytest.mark.parametrize("first", LIES)
@pytest.mark.parametrize("second", ["in order", "reversed", "repeated"])
def test_operands_may_lie_in_any_way(first, second):
    require_equal(on_both(lambda x, y: x * y - x, LIES[first], LIES[second]))


def test_operands_are_broadcast():
    row, column = X[0, :1], X[0, :, :1]
    require_equal(on_both(lambda x, a, b: (x + a) * b, X, row, column))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16", "float32", "complex64"])
def test_elements_of_all_dtypes_are_read_and_written(dtype):
    x = (10 * X).astype(dtype)
    require_equal(on_both(lambda a: (a + a, a == a, ng.where(a == a, a, a)), x))


def test_more_elements_than_32_bits_number_are_walked_over_in_64(monkeypatch):
    monkeypatch.setattr(lowering, "_WIDE", 8)
    require_equal(on_both(lambda x, y: x * y + x, LIES["transposed"], X))


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 7, 3), (2, 3, 2), (1, 9, 4), (4, 1, 5)])
def test_tiles_of_a_product_end_where_matrices_do(shape):
    rows, inner, cols = shape
    a, b = RNG.standard_normal((2, rows, inner)), RNG.standard_normal((cols, inner)).T
    require_equal(on_both(lambda x, y: x @ y, a, b), 1e-13)


@pytest.mark.parametrize("count", [1, 31, 32, 33, 64, 65, 130, 300, 513, 1024, 1025, 2500])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_are_added_in_the_order_of_the_processor(count, dtype):
    x = RNG.standard_normal((2, count)).astype(dtype)
    require_equal(on_both(lambda v: (v.sum(1), v.sum(0), v.max(1), v.min(1)), x))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_sums_of_complex_numbers_have_the_bits_of_the_processor(dtype):
    x = (RNG.standard_normal((3, 3000)) + 1j * RNG.standard_normal((3, 3000))).astype(dtype)
    x[1, 700] = complex(np.inf, 1)  # of this row the imaginary part is finite
    require_equal(on_both(lambda v: (v.sum(1), v.sum(), v[:, :100].sum(1)), x))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "uint64"])
@pytest.mark.parametrize("count", [40, 2500])
def test_integers_are_reduced_in_warps(count, dtype):
    x = RNG.integers(0, 200, (3, count)).astype(dtype)
    require_equal(on_both(lambda v: (v.sum(1), v.max(1), v.min(), v.sum()), x))


def special(rows):
    """Rows of numbers at which an order of additions or comparisons shows."""
    x = RNG.standard_normal((rows, 2100)).astype(np.float32)
    x[0] = -0.0
    x[1, ::7], x[1, 1::7] = 0.0, -0.0
    x[2, 1500], x[3, 40], x[4, 2099] = np.inf, -np.inf, np.nan
    x[5, :1050], x[5, 1050:] = 1e6 * x[5, :1050], -1e6 * x[5, 1049::-1]
    return x


def test_signs_of_zero_infinities_and_cancellation_are_as_on_the_processor():
    x = special(7)
    results = on_both(lambda v: (v.sum(1), v.max(1), v.min(1), v.sum(), v[:2].max()), x)
    for found, expected in results:
        np.testing.assert_array_equal(found, expected)
        numbers = ~np.isnan(expected)
        assert np.array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


@pytest.mark.parametrize("count", [9, 2050])
def test_parts_of_several_rows_are_added_up_together(count):
    """A block of threads takes two rows in the simulator, and so many parts in several pieces."""
    x = RNG.standard_normal((32 * count, 3)).astype(np.float64)
    require_equal(on_both(lambda v: v.sum(0), x))


def test_sums_without_terms_are_zero():
    require_equal(on_both(lambda v: (v.sum(0), v.sum()), np.empty((0, 3))))


def test_extrema_and_integers_need_no_order_of_blocks():
    """Their blocks are elements of a reduction again, so that no thread joins them one by one."""
    for x in (np.ones(33 * 1024, np.float32), np.ones(33 * 1024, np.int64)):
        steps = TARGET.bind(program_of(lambda v: v.max(), x)).steps
        launches = [one for step in steps for one in getattr(step, "launches", [step])]
        assert len(launches) == 2
        assert not any("shared" in one.kernel.kernel.text for one in launches)


def test_sums_in_blocks_are_added_in_the_order_of_the_processor(monkeypatch):
    monkeypatch.setattr(_program, "MANY_ELEMENTS", 1 << 9)
    x = RNG.standard_normal(9001).astype(np.float32)
    program = program_of(lambda v: v.sum(), x)
    assert len(program.instructions) == 2
    names = [step.kernel.kernel.text.count("cuda.shared") for step in TARGET.bind(program).steps]
    assert names == [0, 2]  # warps reduce blocks, and threads share what they add up
    require_equal(on_both(lambda v: (v.sum(), v.max()), x))
    require_equal(on_both(lambda v: v.sum(0), x[:9000].reshape(450, 20)))


def test_joined_functions_are_one_kernel_with_the_same_results():
    def function(x, y):
        z = ng.sin(x) * y
        return ng.exp(z) + z, z - y

    require_equal(on_both(function, X, LIES["reversed"], fused=True), 1e-13)


def test_joined_functions_round_at_every_step():
    x = X.astype(np.float32)
    require_equal(on_both(lambda v: v * v * v - v * v, x, fused=True))


def test_a_failure_on_the_host_says_where():
    singular = np.stack([np.eye(2), np.zeros((2, 2))])
    x = ng.tensor(singular, device="cuda")
    with pytest.raises(np.linalg.LinAlgError, match=r"singular"):
        ng.linalg.inv(x)


def test_what_threads_have_no_memory_for_is_done_by_the_host():
    x = RNG.standard_normal((3, 50))
    x[1, 7] = np.nan
    require_equal(on_both(lambda v: (ng.argsort(v, axis=1), ng.sort(v, axis=1)), x))


def test_programs_are_bound_once_and_run_with_other_arrays():
    f = ng.sin
    a, b = (ng.tensor(x, device="cuda") for x in (X, 2 * X))
    for x, expected in ((a, X), (b, 2 * X), (a, X)):
        np.testing.assert_allclose(f(x).cpu().numpy(), np.sin(expected), 1e-14)


def test_results_without_elements():
    (found,) = on_device(program_of(lambda v: v * 2, np.empty((0, 3))))
    assert found.shape == (0, 3)
    assert TARGET.empty((0,), np.dtype(float)).nbytes == 0


def test_only_what_needs_memory_of_its_own_is_done_by_the_host():
    of_libraries = HostOperator | Tabled  # operators of NumPy's and SciPy's functions
    operators = [o for o in registry.values() if not (o.is_view or isinstance(o, of_libraries))]
    functions = {op.name: getattr(op, "function", None) for op in operators}
    found = {n for n, f in functions.items() if hasattr(f, "__code__") and is_for_host(f)}
    assert found == {"argsort", "countable", "positions", "remains", "solve_banded"}


def test_an_error_of_a_function_of_the_user_is_raised():
    @ng.elementwise
    def root(x):
        if x < 0:
            raise ValueError("of a negative number")
        return math.sqrt(x)

    x = ng.tensor([4.0, 9.0], device="cuda")
    np.testing.assert_allclose(root(x).cpu().numpy(), [2.0, 3.0])
    with pytest.raises(ng.errors.OperatorError, match="root"):
        root(-x)


def test_an_operator_of_the_user_runs_on_the_device():
    @ng.operator("(n)->(n)")
    @numba.njit
    def running(x, out):
        total = 0.0
        for i in range(x.size):
            total += x[i] * x[i]
            out[i] = total

    @running.backward
    @numba.njit
    def running_backward(g, x, out, gx):
        total = 0.0
        for i in range(x.size - 1, -1, -1):
            total += g[i]
            gx[i] = 2 * x[i] * total

    x = ng.tensor(X, device="cuda", requires_grad=True)
    y = running(x)
    np.testing.assert_allclose(y.detach().cpu().numpy(), np.cumsum(X * X, -1), 1e-12)
    h = ng.tensor(X, requires_grad=True)
    seeds = RNG.standard_normal((2, *X.shape))
    (found,) = ng.grad(y, x, seeds, is_grads_batched=True)
    (expected,) = ng.grad(running(h), h, seeds, is_grads_batched=True)
    np.testing.assert_allclose(found.cpu().numpy(), expected.numpy(), 1e-12)


def whole(x, out):
    sum_all(x, out)


def doubled(x, out):
    sum_all(x, out)
    out[()] *= 2


def test_functions_that_do_more_than_call_a_reduction_are_called_as_they_are():
    assert role_of(whole) is role_of(numba.njit(whole)) is not None
    assert role_of(doubled) is None
