"""Kernels for CUDA that users give their operators: forward, backward, declared rightly or not."""

import doctest
import math
from pathlib import Path

import numba.cuda
import numpy as np
import pytest
from numba import cuda, njit

import numgrad as ng
from numgrad.errors import DeclarationError, OperatorError

from ..own_kernels import operator

RNG = np.random.default_rng(5)
X, A = RNG.standard_normal((3, 2, 5)), RNG.standard_normal((3, 1))


def both(function, *arrays):
    """Return value, batched gradients and a jitted value on the processor and on the device."""
    for device in ("cpu", "cuda"):
        leaves = [ng.tensor(a, device=device, requires_grad=True) for a in arrays]
        y = function(*leaves)
        seeds = np.random.default_rng(1).standard_normal((4, *y.shape)).astype(y.dtype)
        found = [y, *ng.grad(y, leaves, seeds, is_grads_batched=True)]
        found.append(ng.jit(function)(*leaves))
        yield [v.detach().cpu().numpy() for v in found]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("x", "a"), [
    (X, A), (X[0, 0], A[0, 0]), (X.transpose(0, 2, 1)[:, :2], A), (X[:, ::-1], A[:1]),
    (X[:0], A[:0]), (X[0, :1], np.broadcast_to(A[0], (4, 1))),
])  # fmt: skip
def test_kernels_get_whole_arrays_with_one_axis_for_the_loop(x, a, dtype):
    expected, found = both(lambda x, a: operator(x, a, power=2, kind="damped"),
                           x.astype(dtype), a.astype(dtype))
    tolerance = 100 * np.finfo(dtype).eps
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, tolerance, tolerance)
        assert one.dtype == dtype


def test_the_kernel_for_cuda_is_what_runs_there():
    twice = plain()

    @twice.cuda
    def thrice(x, out):
        for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
            for j in range(x.shape[1]):
                out[i, j] = 3 * x[i, j]

    np.testing.assert_array_equal(twice(ng.tensor(X, device="cuda")).cpu().numpy(), 3 * X)
    np.testing.assert_array_equal(twice(ng.tensor(X)).numpy(), 2 * X)


def test_results_of_scalars_are_arrays_to_write():
    @ng.operator("(),()->(),()")
    @njit
    def polar(x, y):
        return math.hypot(x, y), math.atan2(y, x)

    @polar.cuda
    def polar_cuda(x, y, radius, angle):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            radius[i], angle[i] = math.hypot(x[i], y[i]), math.atan2(y[i], x[i])

    for found, expected in zip(
        polar(ng.tensor(X, device="cuda"), A[..., None]), polar(X, A[..., None]), strict=True
    ):
        np.testing.assert_allclose(found.cpu().numpy(), expected.numpy(), 1e-15)


def plain(signature="(n)->(n)", **options):
    @ng.operator(signature, **options)
    @njit
    def twice(x, out):
        for i in range(x.size):
            out[i] = 2 * x[i]

    return twice


def test_functions_that_a_kernel_calls_are_kernels_too():
    @cuda.jit(device=True)
    def double(v):
        return v + v

    twice = plain()

    @twice.cuda
    @numba.cuda.jit
    def twice_cuda(x, out):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            row, column = divmod(i, x.shape[1])
            out[row, column] = double(x[row, column])

    np.testing.assert_array_equal(twice(ng.tensor(X, device="cuda")).cpu().numpy(), 2 * X)


# Errors -------------------------------------------------------------------------------------------


def too_few(x):
    pass


def wrong_static(x, out, scale):
    pass


@pytest.mark.parametrize(("function", "options", "message"), [
    (too_few, {}, r"the CUDA kernel of operator twice: the parameters must be 1 input, 1 array to "
     r"write, but they are 1: \(x\)"),
    (wrong_static, {}, "'scale' is not declared"),
    (writes := lambda x, out: None, {"threads": 0}, "threads must be an integer from 1 to 1024"),
    (writes, {"threads": 2.0}, r"threads must .* got 2\.0"),
    ("kernel", {}, "expected a function"),
])  # fmt: skip
def test_declarations_that_are_wrong(function, options, message):
    with pytest.raises(DeclarationError, match=message):
        plain().cuda(**options)(function)


def test_static_parameters_are_those_of_the_kernel():
    @ng.operator("(n)->(n)", static=("a", "b"))
    @njit
    def scaled(x, out, a, b):
        out[:] = a * x + b

    with pytest.raises(DeclarationError, match=r"in its order: \(a, b\), but it takes \(b, a\)"):
        scaled.cuda(lambda x, out, b, a: None)


def test_a_kernel_is_declared_once_and_before_calls():
    twice = plain()
    twice.cuda(writes)
    with pytest.raises(DeclarationError, match="was declared already, as <lambda>"):
        twice.cuda(writes)
    called = plain()
    called(X)
    with pytest.raises(DeclarationError, match="before the operator is called"):
        called.cuda(writes)


def raises(x, out):
    if x[0, 0] < 0:
        raise ValueError("negative")


def makes_an_array(x, out):
    out[0, :] = np.zeros(5)


@pytest.mark.parametrize("function", [raises, makes_an_array])
def test_what_threads_cannot_do_is_refused(function):
    twice = plain()
    twice.cuda(function)
    twice(X)
    with pytest.raises(OperatorError, match=f"operator twice, {function.__name__}: it, or a"):
        twice(ng.tensor(X, device="cuda"))


def test_errors_of_launches_name_the_kernel():
    def beyond(x, out):
        out[x.shape[0], 0] = 1.0

    twice = plain()
    twice.cuda(beyond)
    with pytest.raises(OperatorError, match="CUDA kernel of operator twice, beyond: IndexError"):
        twice(ng.tensor(X, device="cuda"))


def test_a_race_for_shared_memory_is_found():
    size = 3
    twice = plain()

    @twice.cuda(threads=size)
    def races(x, out):
        values = cuda.shared.array(size, x.dtype)
        values[cuda.threadIdx.x] = x[0, cuda.threadIdx.x]
        out[0, 0] = values[size - 1 - cuda.threadIdx.x]

    with pytest.raises(OperatorError, match="races"):
        twice(ng.tensor(X, device="cuda"))


def test_the_example_of_the_documentation():
    page = (Path(__file__).parents[3] / "docs" / "writing_an_operator.md").read_text("utf-8")
    imports, section = page.split("\n## ")[0], page.split("\n## On CUDA\n")[1].split("\n## ")[0]
    text = (imports + section).replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, "On CUDA", None, 0)
    report = []
    failures, count = doctest.DocTestRunner().run(test, out=report.append)
    assert count > 10
    assert not failures, "".join(report)
