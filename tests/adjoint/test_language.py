"""The language of kernels: each part of it, and what is refused."""

import numpy as np
import pytest
from numba import njit, prange

from numgrad._adjoint import AdjointError, adjoint, adjoint_source, derive, type_of

from . import functions, lengths, more_functions
from .language import KERNELS, REFUSED
from .test_kernels import along, called

ALL = KERNELS + functions.KERNELS + lengths.KERNELS + more_functions.KERNELS


@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.__name__)
def test_gradient_is_that_of_differences(kernel):
    x = np.array([0.93, 0.41, 0.78, 0.27, 0.55])
    derived = derive(kernel, [type_of(x)])
    shadows, _, _ = called(derived, [x])
    direction = np.array([0.3, -0.7, 0.4, 1.1, -0.2])
    expected = along(kernel, [x], [0], [direction], 1e-5)
    np.testing.assert_allclose(shadows[0] @ direction, expected, rtol=1e-7)


@pytest.mark.parametrize(
    ("kernel", "words"), REFUSED, ids=lambda part: getattr(part, "__name__", "")
)
def test_what_is_not_understood_is_refused_with_its_line(kernel, words):
    with pytest.raises(
        AdjointError, match=rf"language.py, line \d+, in {kernel.__name__}"
    ) as found:
        derive(kernel, [type_of(np.zeros(3))])
    assert words in str(found.value)


def test_function_without_source_is_refused():
    space = {}
    exec("def f(x):\n    return x", space)
    with pytest.raises(AdjointError, match="is not available"):
        adjoint(space["f"])


def test_stale_source_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "stale_kernel.py"
    file.write_text("def f(x):\n    return x * 2.0\n")
    space = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    file.write_text("def f(x):\n    return x * 3.0\n")
    with pytest.raises(AdjointError, match="changed since f was defined"):
        adjoint(space["f"])


def test_source_names_the_lines_and_variables_of_the_user():
    text = adjoint_source(KERNELS[0], np.zeros(3))
    assert "# line" in text
    assert "s += v * FACTOR" in text


@njit(parallel=True)
def largest_by_if(x):
    m = 0.0
    for i in prange(len(x)):
        if x[i] > m:
            m = x[i]
    return m


def test_number_that_parallel_iterations_hand_on_is_refused():
    with pytest.raises(AdjointError, match="write a reduction"):
        derive(largest_by_if, [type_of(np.zeros(3))])


def test_arguments_that_share_memory_are_refused_where_one_is_written():
    def kernel(x, y):
        y[0] = x[0] * 2.0
        return y[0]

    x = np.zeros(3)
    with pytest.raises(AdjointError, match="share memory"):
        adjoint(kernel)(x, x[1:])


def test_closure_numbers_are_constants():
    factor = 2.5

    def kernel(x):
        return factor * x[0] ** 2

    np.testing.assert_allclose(adjoint(kernel)(np.array([3.0]))[0], [15.0])


def test_kind_of_argument_that_is_not_understood_is_refused_with_its_name():
    def kernel(x, p):
        return x[0]

    table = np.zeros(3, dtype=[("mass", "f8"), ("charge", "f8")])
    with pytest.raises(AdjointError, match=r"line \d+, in kernel: the argument `p` has elements"):
        derive(kernel, [type_of(np.zeros(3)), type_of(table)])


def test_numpy_functions_of_single_floats_stay_single():
    def kernel(x):
        a = np.outer(x[:3], x[1:4]) + np.eye(3, dtype=np.float32)
        low = np.linalg.cholesky(a @ a.T)
        total = np.linalg.det(a) + np.linalg.slogdet(a)[1] + low[2, 1]
        return total + np.sum(np.kron(a, a) @ np.ones(9, dtype=np.float32))

    x = np.array([0.93, 0.41, 0.78, 0.27, 0.55])
    single = derive(kernel, [type_of(x.astype(np.float32))])
    assert single.results[0].dtype == "float32"
    found = adjoint(kernel)(x.astype(np.float32))[0]
    assert found.dtype == np.float32
    shadows, _, _ = called(derive(kernel, [type_of(x)]), [x])
    np.testing.assert_allclose(found, shadows[0], rtol=2e-5)
