"""Errors of users' operators: each names the operator, the kernel and the remedy."""

import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from numba import guvectorize, njit
from numba.core import event

import numgrad as ng
from numgrad._errors import (
    DeclarationError,
    DtypeError,
    KernelError,
    NotDifferentiableError,
    OperatorCallError,
    OperatorError,
)
from tests.sampling import exhaustive

from .user_operators import rhs

pytestmark = pytest.mark.device_sample


@ng.operator("(n)->(n)")
@njit
def logarithm(x, out):
    for i in range(x.size):
        if x[i] <= 0:
            raise ValueError("not positive")
        out[i] = math.log(x[i])


@logarithm.backward
@njit
def logarithm_backward(g, x, out, gx):
    for i in range(x.size):
        if g[i] == 7.0:
            raise ZeroDivisionError("seven")
        gx[i] = g[i] / x[i]


@pytest.fixture
def debug():
    ng.set_flags(debug=True)
    yield
    ng.set_flags(debug=False)


# Kernels that fail
# ------------------------------------------------------------------------------------


def test_a_kernel_that_raises_names_index_line_and_cause():
    with pytest.raises(OperatorError, match=r"logarithm: .*test_errors") as caught:
        logarithm(np.array([[1.0, 2.0], [3.0, -1.0]]))
    assert "loop index (1,)" in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)
    assert caught.value.__cause__.args == ("not positive",)


@pytest.mark.parametrize("rows", [5, 3000])
def test_a_backward_kernel_that_raises_names_the_row(rows):
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    y = ng.exp(logarithm(2.0 * x))
    seeds = np.ones((rows, 2))
    seeds[rows - 2 :, 1] = 7.0 / y.detach().numpy()[1]
    with pytest.raises(OperatorError, match=f"logarithm_backward: .* at row {rows - 2} ") as caught:
        ng.grad(y, x, seeds, is_grads_batched=True, retain_graph=True)
    assert "recorded at" in str(caught.value)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert ng.grad(y, x, np.ones(2))[0].shape == (2,)


def test_the_status_of_one_call_does_not_reach_the_next():
    with pytest.raises(OperatorError):
        logarithm(np.array([-1.0]))
    assert logarithm(np.array([1.0])).tolist() == [0.0]


def test_out_of_bounds_in_debug_mode(debug):
    @ng.operator("(n)->(n)")
    @njit
    def beyond(x, out):
        for i in range(x.size + 1):
            out[i] = x[i]

    with pytest.raises(OperatorError, match=r"beyond: .*out of bounds") as caught:
        beyond(np.ones(3))
    assert isinstance(caught.value.__cause__, IndexError)


def test_unwritten_elements_in_debug_mode(debug):
    @ng.operator("(n)->(n)")
    @njit
    def inner(x, out):
        for i in range(1, x.size - 1):
            out[i] = x[i]

    @inner.backward
    @njit
    def inner_backward(g, x, out, gx):
        for i in range(x.size):
            if x[0] > 2:
                gx[i] = 0.0
            gx[i] += g[i]

    with pytest.raises(OperatorError, match=r"inner: the kernel did not write out\[0, 4\]"):
        inner(np.ones(5))
    ng.set_flags(debug=False)
    x = ng.tensor(np.ones(2), requires_grad=True)
    y = inner(x)
    ng.set_flags(debug=True)
    with pytest.raises(OperatorError, match=r"inner_backward: .* did not write gx\[0, 1\]"):
        ng.grad(y, x, np.ones((3, 2)), is_grads_batched=True)


def test_a_result_that_is_not_a_number_is_no_unwritten_one(debug):
    @ng.operator("(n)->(n)")
    @njit
    def undefined(x, out):
        for i in range(x.size):
            out[i] = x[i] / x[i]

    assert np.isnan(undefined(np.zeros(2)).numpy()).all()


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
def test_marks_of_every_dtype(debug, dtype):
    @ng.operator("(n)->(n)")
    @njit
    def lazy(x, out):
        out[0] = x[0]

    assert lazy(np.ones(1, dtype)).tolist() == [1.0]
    with pytest.raises(OperatorError, match=r"did not write out\[1\]"):
        lazy(np.ones(2, dtype))


# Kernels that contradict the declaration
# --------------------------------------------------------------


@pytest.mark.parametrize(
    ("signature", "results", "kernel", "message"),
    [
        ("(),()->()", None, lambda x, y: (x, y), "returns 2 values .* where 1 result is declared"),
        ("()->(),()", None, lambda x: x, "returns float64, where 2 results are declared"),
        (
            "()->()",
            ("int64",),
            lambda x: 2.5 * x,
            "float64, where the dtype of the result is int64",
        ),
        ("()->()", None, lambda x: x * 1j, "complex128, where the dtype of the result is float64"),
        ("(n)->()", None, lambda x, out: x.sum(), "returns float64, where it must write"),
        ("(n)->()", None, lambda x, out: x.foo(), "Unknown attribute 'foo'"),
    ],
)
def test_what_a_kernel_returns(signature, results, kernel, message):
    op = ng.operator(signature, name="mine", results=results)(njit(kernel))
    arguments = [np.ones(2) if "n" in signature else 1.0] * len(op.inputs)
    with pytest.raises(KernelError, match=f"mine.*{message}") as caught:
        op(*arguments)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_the_text_of_numba_in_debug_mode(debug):
    op = ng.operator("(n)->()", name="mine")(njit(lambda x, out: x.foo()))
    with pytest.raises(KernelError, match="Unknown attribute") as caught:
        op(np.ones(2))
    assert "nopython" in str(caught.value.__cause__)


def three(x, out, k):
    out[:] = k * x


@pytest.mark.parametrize(
    ("signature", "kernel", "right"),
    [
        ("()->()", lambda x, out: x, "write def <lambda>(x), which returns its results; 'out' is"),
        ("(),()->()", lambda x: x, "write def <lambda>(x1, x2), which returns its results"),
        ("(n)->(n)", lambda x: x, "write def <lambda>(x, out), which writes its results"),
        ("(n),(n)->()", lambda a, b: a, "write def <lambda>(x1, x2, out), which writes its"),
        ("(n)->(n)", lambda a, b, k: a, "write def <lambda>(a, b), which writes its results; 'k'"),
    ],
)
def test_the_right_arguments_of_a_kernel_are_shown(signature, kernel, right):
    with pytest.raises(DeclarationError, match=re.escape(right)):
        ng.operator(signature)(kernel)


def test_the_right_arguments_of_a_backward_kernel_are_shown():
    scaled = ng.operator("()->()")(lambda x: 2.0 * x)
    right = re.escape("write def <lambda>(g, x, y), which returns its results; 'gx' is not")
    with pytest.raises(DeclarationError, match=right):
        scaled.backward(lambda g, x, y, gx: g)


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: ng.operator("(n->()")(three), "three: .* is not a gufunc signature"),
        (lambda: ng.operator(three), "needs a gufunc signature"),
        (lambda: ng.operator("(n)->(n)")(rhs), "expected a function .* got UserOperator"),
        (lambda: ng.operator("(n)->(n)")(three), r"'k' is not declared: write static=\('k',\)"),
        (lambda: ng.operator("(n),(n)->(n),(n)")(three), "must be 2 inputs, 2 arrays to write"),
        (lambda: ng.operator("(n)->(n)", static=("k", "j"))(three), "'j' is no parameter"),
        (lambda: ng.operator("(n)->(n)", static=("x",))(three), "'k' is not declared"),
        (lambda: ng.operator("(n)->(n)", static="k")(three), "sequence of names"),
        (lambda: ng.operator("(n),(n)->(n)", static=("x",))(lambda a, x, o: 0), "must come last"),
        (
            lambda: ng.operator("(n)->(n)", static=("k",), nondifferentiable=("z",))(three),
            "names 'z', but the inputs are x",
        ),
        (lambda: ng.operator("(n)->(n)", static=("k",), results=("f8",) * 2)(three), "1 dtypes"),
        (lambda: ng.operator("()->()")(lambda *x: 0), r"takes \*x"),
        (lambda: rhs.backward(njit(three)), "the backward of operator rhs was declared already"),
        (lambda: rhs.jvp(njit(three)), "the jvp of operator rhs was declared already"),
    ],
)
def test_declarations(declare, message):
    with pytest.raises(DeclarationError, match=message):
        declare()


def test_a_guvectorized_kernel_is_refused_with_the_remedy():
    @guvectorize(["void(f8[:], f8[:])"], "(n)->(n)")
    def kernel(x, out):
        out[:] = x

    with pytest.raises(DeclarationError, match=r"use @numba\.njit"):
        ng.operator("(n)->(n)")(kernel)


def test_parameters_of_a_backward_kernel():
    op = ng.operator("(n),(m)->(n)", name="mine")(njit(lambda x, i, out: None))
    with pytest.raises(
        DeclarationError, match=r"1 cotangent, 2 inputs, 1 output, 2 arrays"
    ) as caught:
        op.backward(njit(lambda g, x, i, out, gx: None))
    assert "nondifferentiable" in str(caught.value)
    with pytest.raises(DeclarationError, match="'k' is not declared"):
        op.backward(njit(lambda g, x, i, out, gx, gi, k: None))
    with pytest.raises(DeclarationError, match="1 cotangent, 2 inputs, 1 output, but"):
        op.backward(lambda g, x: None)
    with pytest.raises(DeclarationError, match="decorate it with @njit"):
        op.jvp(lambda tx, ti, x, i, out, tout: None)


# Calls
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: logarithm(), OperatorCallError, r"takes 1 array \(x\), got 0"),
        (lambda: logarithm(1.0), OperatorCallError, "fewer axes"),
        (lambda: logarithm(ng.tensor(1.0)), OperatorCallError, "fewer axes"),
        (lambda: logarithm(["a"]), DtypeError, "input 'x'"),
        (lambda: logarithm(None), DtypeError, "input 'x'"),
        (lambda: logarithm(np.ones(2), k=1), OperatorCallError, "no static parameter 'k'"),
        (lambda: scaled(np.ones(2)), OperatorCallError, r"needs the static parameter 'k': pass k="),
        (lambda: scaled(np.ones(2), k=[1]), OperatorCallError, "must be hashable, got a list"),
        (lambda: scaled(np.ones(2), k=np.ones(2)), OperatorCallError, "'k' is an array"),
        (lambda: scaled(np.ones(2), k=2**80), OperatorCallError, "64 bits"),
        (lambda: added(np.ones(2), np.ones(3)), OperatorCallError, "dimension n .* is 2 and 3"),
        (lambda: added(np.ones((2, 2)), np.ones((3, 2))), OperatorCallError, "cannot be broadcast"),
    ],
)
def test_calls(call, error, message):
    with pytest.raises(error, match=message):
        call()


scaled = ng.operator("(n)->(n)", static=("k",), name="scaled")(njit(three))


@ng.operator("(n),(n)->(n)")
@njit
def added(x, y, out):
    out[:] = x + y


@ng.operator("(n)->(n)")
@njit
def printed(x, out):
    text = str(x.size)
    out[:] = len(text)


def test_an_operator_without_backward():
    x = ng.tensor(np.ones(2), requires_grad=True)
    assert ng.grad(scaled(x, k=2.0).sum(), x)[0].tolist() == [2.0, 2.0]
    with pytest.raises(NotDifferentiableError, match=r"(?s)in printed.*@printed.backward"):
        ng.grad(printed(x).sum(), x)


def test_a_kernel_that_decides_does_not_run_on_tensors():
    @ng.operator("()->()")
    @njit
    def ramp(x):
        return max(x, 0.0)

    @ramp.backward
    @njit
    def ramp_backward(g, x, out):
        return g if x > 0 else 0.0

    x = ng.tensor([1.0, -1.0], requires_grad=True)
    assert ng.grad(ramp(x).sum(), x)[0].tolist() == [1.0, 0.0]
    with pytest.raises(NotDifferentiableError, match=r"ramp_backward.*@ramp_backward.backward"):
        ng.grad(ramp(x).sum(), x, create_graph=True)


# Elementwise operators
# --------------------------------------------------------------------------------


@ng.elementwise
def root(x):
    if x < 0:
        raise ValueError("negative")
    return math.sqrt(x)


def test_an_elementwise_operator_that_raises():
    with pytest.raises(OperatorError, match=r"root: .* loop index \(1,\)") as caught:
        root(np.array([1.0, -1.0]))
    assert isinstance(caught.value.__cause__, ValueError)
    assert root(4.0).item() == 2.0


def test_the_function_that_is_called_again_is_compiled_once_for_all_elements():
    with (
        event.install_recorder("numba:compile") as events,
        pytest.raises(OperatorError, match=r"root: .* loop index \(50,\)"),
    ):
        root(np.append(np.ones(50), -1.0))
    assert len(events.buffer) < 50


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: root.partial("z"), "root has no parameter 'z'"),
        (
            lambda: root.partial("x")(lambda q: q),
            "'q': it can read the inputs x, and the value as y",
        ),
        (lambda: root.partial("x")(lambda x: 1.0 if x > 0 else 0.0), "takes a decision"),
        (lambda: root.partial("x")(lambda x: x and 1.0), "takes a decision"),
        (lambda: root.partial("x")(lambda x: max(x, 0.0)), "uses max"),
    ],
)
def test_partials(declare, message):
    with pytest.raises(DeclarationError, match=message):
        declare()


def test_a_missing_partial_is_no_silent_zero():
    @ng.elementwise
    def plane(a, b):
        return a + 2.0 * b

    @plane.partial("a")
    def plane_da():
        return 1.0

    a, b = (ng.tensor(1.0, requires_grad=True) for _ in range(2))
    with pytest.raises(NotDifferentiableError, match=r"plane .*@plane\.partial\('b'\)"):
        ng.grad(plane(a, b), [a, b])
    with pytest.raises(DeclarationError, match="declared already"):
        plane.partial("a")(lambda: 1.0)


# The cache
# --------------------------------------------------------------------------------------------

PROGRAM = """
import numpy as np, numgrad as ng
from numba import njit
from numgrad.engine.graph.runtime import runtime
table = np.array([1.0, 2.0])

@ng.operator("(n)->(n)", static=("mode", "k"))
@njit
def op(x, out, mode, k):
    for i in range(x.size):
        out[i] = FACTOR * x[i] * table[i] + k if mode == "a" else 0.0

@op.backward
@njit
def op_backward(g, x, out, gx, k):
    gx[:] = FACTOR * g * table

x = ng.tensor(np.ones(2), requires_grad=True)
y = op(x, mode="a", k=0.5)
ng.grad(y.sum(), x)
print(y.tolist(), runtime.target.cache_info().compiled)
"""


def run(path, factor, folder):
    path.write_text(PROGRAM.replace("FACTOR", factor))
    result = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=True,
        env={**os.environ, "NUMGRAD_CACHE_DIR": str(folder)},
    )  # fmt: skip
    values, _, count = result.stdout.strip().rpartition(" ")
    return values, int(count)


@exhaustive
def test_a_second_process_compiles_nothing_and_an_edit_is_noticed(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    path = tmp_path / "program.py"
    values, compiled = run(path, "2.0", folder)
    assert values == "[2.5, 4.5]"
    assert compiled > 2
    assert run(path, "2.0", folder) == (values, 0)
    assert run(path, "3.0", folder) == ("[3.5, 6.5]", 2)


def test_want_of_memory_in_a_kernel_is_no_error_of_an_operator():
    @ng.operator("(n)->(n)")
    @njit
    def greedy(x, out):
        if x[0] < 0:
            raise MemoryError
        out[:] = x

    captured = ng.jit(lambda x: greedy(x * 1.0))
    captured(np.ones(3))
    for call in (greedy, captured):
        with pytest.raises(MemoryError, match=r"greedy.*: no memory is left .*\(3,\)"):
            call(-np.ones(3))
