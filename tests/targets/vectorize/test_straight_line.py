"""Scalar functions read from their LLVM code: operations, constants, and what is not straight."""

import math

import numpy as np
import pytest
from llvmlite import binding as llvm

from numgrad.targets.cpu.codegen import scalar_graph
from numgrad.targets.cpu.kernels.kernel import kernel
from numgrad.targets.cpu.vectorize.straight_line import Operation, straight_line_of

from ..fused_tools import BOOL, cast, fused_spec, multiply
from ..kernel_tools import C128, F32, F64, call, spec_of


def read(body, result="double"):
    code = f"define {result} @f(double %x, double %y, i64 %n) {{\nentry:\n{body}\n}}"
    return straight_line_of(llvm.parse_assembly(code).as_bitcode(), "f")


def test_operations_are_read_in_order_with_their_operands():
    found = read(
        """  %a = fmul double %x, 2.5e-01
  %c = fcmp olt double %a, %y
  %s = select i1 %c, double %a, double %y
  %z = fneg double %s
  ret double %z"""
    )
    assert found is not None
    assert found.parameters == ("%x", "%y", "%n")
    assert found.result == "%z"
    real = ("double", "double")
    assert found.operations == (
        Operation("%a", "fmul", ("%x", "2.500000e-01"), real, "double"),
        Operation("%c", "fcmp olt", ("%a", "%y"), real, "i1"),
        Operation("%s", "select", ("%c", "%a", "%y"), ("i1", *real), "double"),
        Operation("%z", "fneg", ("%s",), ("double",), "double"),
    )


def test_casts_and_calls_say_what_they_make():
    found = read(
        """  %b = bitcast double %x to i64
  %w = sitofp i64 %b to float
  %r = call float @g(float %w, float 1.0)
  ret float %r
}
declare float @g(float, float)
define void @other() {
  ret void""",
        "float",
    )
    assert found is not None
    assert [(o.name, o.to) for o in found.operations] == [
        ("bitcast", "i64"), ("sitofp", "float"), ("@g", "float"),
    ]  # fmt: skip


@pytest.mark.parametrize(("source", "to"), [("bool", "int64"), ("int16", "int32")])
def test_casts_of_which_the_results_have_a_known_range_are_read(source, to):
    one = scalar_graph.scalar(spec_of(cast, np.dtype(source), np.dtype(to)))
    found = straight_line_of(one.bit_code, one.symbol)
    assert found is not None
    assert [o.to for o in found.operations] == [f"i{8 * np.dtype(to).itemsize}"]


@pytest.mark.parametrize(
    "body",
    [
        "  %a = fadd fast double %x, %y\n  ret double %a",  # may have other bits for a vector
        "  %p = inttoptr i64 %n to ptr\n  store i64 1, ptr %p\n  ret double %x",
        "  %a = fadd double %x, poison\n  ret double %a",
        "  ret double undef",
        "  br label %next\nnext:\n  ret double %x",
    ],
)
def test_what_is_not_known_is_not_straight(body):
    assert read(body) is None


def test_results_may_be_parameters_and_constants():
    same, none = read("  ret double %y"), read("  ret double 0.0")
    assert same == (("%x", "%y", "%n"), (), "%y")
    assert none == (("%x", "%y", "%n"), (), "0.000000e+00")


def sign(x):
    return math.copysign(1.0, x) < 0


def tenth(x):
    return 0.1


def unbounded(x):
    return where(x < 0, -math.inf, math.nan)  # noqa: F821 - bound in the kernel


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_constants_and_patterns_of_bits_are_steps_of_kernels(dtype):
    steps = [
        (spec_of(sign, dtype, BOOL), (0,)), (spec_of(tenth, dtype, dtype), (0,)),
        (spec_of(multiply, dtype, dtype, dtype), (0, 2)), (spec_of(unbounded, dtype, dtype), (0,)),
    ]  # fmt: skip
    spec = fused_spec(steps, (dtype,), (1, 2, 3, 4))
    assert all(
        straight_line_of(one.bit_code, one.symbol) for one, _ in scalar_graph.graph(spec).steps
    )
    x = np.linspace(-2, 2, 37).astype(dtype)
    outputs = [np.zeros(37, bool), *(np.zeros(37, dtype) for _ in range(3))]
    strides = [a.itemsize for a in (x, *outputs)]
    assert call(kernel(spec), [x, *outputs], 37, strides) == 0
    np.testing.assert_array_equal(outputs[0], np.signbit(x))
    np.testing.assert_array_equal(outputs[1], dtype.type(0.1))
    np.testing.assert_array_equal(outputs[2], x * dtype.type(0.1))
    np.testing.assert_array_equal(outputs[3], np.where(x < 0, -np.inf, np.nan))


def test_complex_numbers_are_not_straight():
    one = scalar_graph.scalar(spec_of(cast, C128, C128))
    assert straight_line_of(one.bit_code, one.symbol) is None
