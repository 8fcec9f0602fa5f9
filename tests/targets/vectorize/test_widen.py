"""Kernels that are written for whole vectors: the bits of their steps, whatever the length."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from numgrad.targets.cpu.codegen import scalar_graph
from numgrad.targets.cpu.kernels import scalar_kernel
from numgrad.targets.cpu.kernels.kernel import kernel
from numgrad.targets.cpu.platform import vector_library
from numgrad.targets.cpu.vectorize.value_numbering import dataflow_of
from numgrad.targets.cpu.vectorize.widen import lanes_of
from tests.sampling import exhaustive, one_in

from ..fused_tools import (
    BOOL,
    add,
    assert_same_bits,
    cast,
    choose,
    divide,
    fused_spec,
    less,
    make,
    multiply,
    one_after_the_other,
    sine,
)
from ..kernel_tools import C128, F32, F64, call, call_rows, generated_code, spec_of

I64, U8 = np.dtype(np.int64), np.dtype(np.uint8)


def root(x):
    return math.sqrt(abs(x))


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    """Graphs of few steps are written for vectors too."""
    monkeypatch.setattr(scalar_graph, "FEWEST_STEPS", 2)


class Straight:
    """Draws a graph of steps without branches over values of some dtypes."""

    def __init__(self, seed, dtypes, nin=5):
        self.rng = np.random.default_rng(seed)
        self.dtypes = dtypes
        self.in_dtypes = tuple(dtypes[k % len(dtypes)] for k in range(nin))
        self.values, self.steps = list(self.in_dtypes), []

    def add(self, function, dtype, *args):
        dtypes = [self.values[k] for k in args]
        self.steps.append((spec_of(function, *dtypes, dtype), args))
        self.values.append(dtype)
        return len(self.values) - 1

    def of(self, dtype):
        same = [k for k, other in enumerate(self.values) if other == dtype]
        return int(self.rng.choice(same[-6:]))

    def step(self):
        dtype = self.dtypes[self.rng.integers(len(self.dtypes))]
        x, y = self.of(dtype), self.of(dtype)
        other = self.dtypes[self.rng.integers(len(self.dtypes))]
        if dtype.kind == "f":
            function = [multiply, add, divide][self.rng.integers(3)]
            self.add(function, dtype, x, y)
            if self.rng.random() < 0.2:
                self.add(root, dtype, self.of(dtype))
        else:
            self.add([multiply, add][self.rng.integers(2)], dtype, x, y)
        if self.rng.random() < 0.3:
            self.add(choose, dtype, self.add(less, BOOL, x, y), y, self.of(dtype))
        if other.kind == "f":
            self.add(cast, other, self.of(dtype))

    def spec(self, count, scalars=0.3):
        while len(self.steps) < count:
            self.step()
        made = range(len(self.in_dtypes), len(self.values))
        outputs = {made[-1], *(int(k) for k in self.rng.choice(made, 3))}
        outputs |= {k for k in made if self.values[k] == BOOL and self.rng.random() < 0.5}
        alone = tuple(bool(x) for x in self.rng.random(len(self.in_dtypes)) < scalars)
        return fused_spec(self.steps, self.in_dtypes, sorted(outputs), alone)


def flowing(spec):
    flow = dataflow_of(scalar_graph.graph(spec))
    assert flow is not None
    return flow


def is_widened(spec):
    return lanes_of(flowing(spec)) > 0


DTYPES = {
    "float64": (F64,),
    "float32": (F32,),
    "both": (F32, F64),
    "integers": (I64, F64, U8),
}
LENGTHS = (1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 127, 129, 300)


def arrays_of(spec, rng, n, stride=1):
    inputs = [
        make(rng, dtype, 1 if one else n * stride)[:: 1 if one else stride]
        for dtype, one in zip(spec.in_dtypes, spec.scalars, strict=True)
    ]
    return inputs, [np.full(n * stride + 9, 5).astype(dtype) for dtype in spec.out_dtypes]


@pytest.mark.parametrize("count", [3, 25, 90])
@pytest.mark.parametrize("dtypes", DTYPES.values(), ids=DTYPES)
def test_bits_are_those_of_the_steps_at_every_length(dtypes, count):
    spec = Straight(count, dtypes).spec(count)
    assert is_widened(spec)
    rng = np.random.default_rng(count)
    for n in LENGTHS:
        for stride in (1, 3):
            inputs, outputs = arrays_of(spec, rng, n, stride)
            steps = [a.strides[0] for a in inputs] + [a.itemsize * stride for a in outputs]
            assert call(kernel(spec), [*inputs, *outputs], n, steps) == 0
            for found, wanted in zip(outputs, one_after_the_other(spec, inputs, n), strict=True):
                assert_same_bits(found[: n * stride : stride], wanted)
                untouched = found[n * stride :]
                assert (untouched == np.full(9, 5).astype(found.dtype)).all()


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_outputs_may_be_inputs_at_every_length(dtype, n, offset):
    draw = Straight(4, (dtype,), nin=2)
    spec = draw.spec(40, scalars=0)
    last = len(draw.values) - 1
    spec = fused_spec(draw.steps, spec.in_dtypes, (last, last - 1))
    x, y = (make(draw.rng, dtype, n + offset)[offset:] for _ in range(2))
    expected = one_after_the_other(spec, [x.copy(), y.copy()], n)
    assert call(kernel(spec), [x, y, y, x], n, [dtype.itemsize] * 4) == 0
    assert_same_bits(y, expected[0])
    assert_same_bits(x, expected[1])


@pytest.mark.parametrize("n", [3, 16, 21])
def test_numbers_may_change_from_row_to_row(n):
    product, total = spec_of(multiply, F64, F64, F64), spec_of(add, F64, F64, F64)
    steps = [(product, (1, 1)), (total, (2, 0)), (product, (3, 2)), (total, (4, 0))]
    spec = fused_spec(steps, (F64, F64), (5,), (False, True))
    assert len(flowing(spec).once) == 1
    rng = np.random.default_rng(n)
    x, c, out = rng.random((4, n)), rng.random(4), np.zeros((4, n))
    assert call_rows(kernel(spec), [x, c, out], n, 4, [8, 0, 8], [8 * n, 8, 8 * n])[0] == 0
    square = (c * c)[:, None]
    np.testing.assert_array_equal(out, (x + square) * square + x)


def test_truth_values_are_bytes():
    smaller, choice = spec_of(less, F64, F64, BOOL), spec_of(choose, BOOL, F64, F64, F64)
    steps = [(smaller, (0, 1)), (choice, (2, 0, 1)), (smaller, (4, 1))]
    spec = fused_spec(steps, (F64, F64, BOOL), (3, 5, 2))
    for n in LENGTHS:
        rng = np.random.default_rng(n)
        x, y, given = rng.random(n), rng.random(n), rng.integers(0, 2, n).astype(bool)
        outputs = [np.zeros(n, bool), np.zeros(n, bool), np.zeros(n, bool)]
        assert call(kernel(spec), [x, y, given, *outputs], n, [8, 8, 1, 1, 1, 1]) == 0
        np.testing.assert_array_equal(outputs[0], x < y)
        np.testing.assert_array_equal(outputs[1], np.where(given, x, y) < y)
        np.testing.assert_array_equal(outputs[2], given)


def test_single_numbers_alone_take_one_lane():
    spec = Straight(1, (F64,)).spec(12, scalars=2)
    assert all(spec.scalars)
    assert lanes_of(flowing(spec)) == 1
    inputs, outputs = arrays_of(spec, np.random.default_rng(0), 1)
    for n in (1, 5):
        steps = [0] * len(inputs) + [a.itemsize for a in outputs]
        assert call(kernel(spec), [*inputs, *outputs], n, steps) == 0
        for found, wanted in zip(outputs, one_after_the_other(spec, inputs, n), strict=True):
            assert_same_bits(found[:n], wanted)


# Which way is taken


def chain(step, count, dtype=F64):
    steps = [(step, (k, 0)[: len(step.in_dtypes)]) for k in range(count)]
    return fused_spec(steps, (dtype,), (count,))


def test_a_long_chain_is_written_for_vectors_and_its_body_exists_once(monkeypatch):
    monkeypatch.setattr(scalar_kernel, "_looped", None)
    code, _ = generated_code(chain(spec_of(divide, F64, F64, F64), 30), monkeypatch)
    assert code.count("fdiv <") == 30 * scalar_kernel._INTERLEAVE
    assert "fdiv double" not in code


def raising(x):
    if x < 0:
        raise ValueError("negative")
    return x + 1


def branching(x):
    total = x
    for _ in range(int(x)):
        total += math.sqrt(total)
    return total


@pytest.mark.parametrize(
    ("function", "dtype"), [(raising, F64), (branching, F64), (multiply, C128)]
)
def test_what_is_not_straight_is_linked(function, dtype, monkeypatch):
    monkeypatch.setattr(scalar_kernel, "_widened", None)
    dtypes = [dtype] * (3 if function is multiply else 2)
    generated_code(chain(spec_of(function, *dtypes), 5, dtype), monkeypatch)


def test_single_operators_are_linked(monkeypatch):
    monkeypatch.setattr(scalar_kernel, "_widened", None)
    generated_code(spec_of(multiply, F64, F64, F64), monkeypatch)


@pytest.mark.skipif(vector_library.vector_library() is None, reason="no vector library here")
def test_functions_need_as_many_lanes_as_they_have():
    wave, wide = spec_of(sine, F32, F32), spec_of(cast, F32, F64)
    assert is_widened(fused_spec([(wave, (0,)), (wave, (1,))], (F32,), (2,)))
    assert not is_widened(fused_spec([(wave, (0,)), (wide, (1,))], (F32,), (2,)))
    double = spec_of(sine, F64, F64)
    assert is_widened(fused_spec([(wide, (0,)), (double, (1,))], (F32,), (2,)))


@pytest.mark.parametrize(
    ("steps", "inputs", "apart", "vectors"),
    [(4, 2, 1, 1), (20, 2, 1, 2), (60, 2, 1, 4), (200, 2, 1, 4), (200, 2, 16, 1), (60, 20, 1, 1)],
)
def test_code_that_waits_for_itself_works_on_several_vectors(steps, inputs, apart, vectors):
    product = spec_of(multiply, F64, F64, F64)
    made = [(product, (max(0, inputs + k - apart), k % inputs)) for k in range(steps)]
    last = range(inputs + steps - apart, inputs + steps)
    spec = fused_spec(made, (F64,) * inputs, last)
    assert scalar_kernel._vectors(scalar_graph.graph(spec), flowing(spec)) == vectors


@pytest.mark.skipif(vector_library.vector_library() is None, reason="no vector library here")
def test_code_that_calls_functions_one_after_the_other_works_on_several_vectors():
    wave, product = spec_of(sine, F64, F64), spec_of(multiply, F64, F64, F64)
    for count, vectors in ((1, 2), (2, 4)):
        steps = [(wave, (k,)) for k in range(count)]
        steps += [(product, (k, 0)) for k in range(count, count + 8)]
        spec = fused_spec(steps, (F64,), (count + 8,))
        assert scalar_kernel._vectors(scalar_graph.graph(spec), flowing(spec)) == vectors


# Operations


def test_equal_operations_are_one():
    product, total = spec_of(multiply, F64, F64, F64), spec_of(add, F64, F64, F64)
    steps = [(product, (0, 1)), (product, (0, 1)), (total, (2, 3)), (total, (3, 2))]
    flow = flowing(fused_spec(steps, (F64, F64), (4, 5)))
    assert [node.name for node in flow.nodes] == ["fmul", "fadd"]
    assert flow.outputs == (3, 3)


def test_what_others_wait_for_longest_comes_first_and_what_nobody_needs_not_at_all():
    product, quotient = spec_of(multiply, F64, F64, F64), spec_of(divide, F64, F64, F64)
    steps = [(product, (0, 0)), (product, (0, 1)), (quotient, (3, 1)), (product, (4, 2))]
    unread = [(product, (1, 1))]
    flow = flowing(fused_spec([*steps, *unread], (F64, F64), (5,)))
    assert flow.order == (3, 2, 4, 5)


@exhaustive
@pytest.mark.short_ways
@pytest.mark.skipif(sys.platform != "linux", reason="names a processor")
@pytest.mark.parametrize(
    ("processor", "function"),
    one_in(2, [pytest.param("haswell", "log"), pytest.param("x86-64", "sqrt")]),
)
def test_narrower_registers(processor, function, tmp_path):
    code = f"function = {function!r}" + """
import numpy as np, numgrad as ng
from numgrad.targets.cpu.codegen import scalar_graph as fused
from numgrad.targets.cpu.kernels import scalar_kernel as joining
def f(x, y):
    z = getattr(ng, function)(x * x + 2.0) * y / (x - 5.0) - ng.sqrt(y)
    return ng.where(z > 0.5, z * x, -z) + z / y
widened = []
fused.FEWEST_STEPS = 2
written = joining._widened
joining._widened = lambda *args: widened.append(1) or written(*args)
for n in (1, 2, 3, 5, 8, 13, 1003):
    x, y = np.linspace(-3.0, 4.0, n), np.linspace(1.0, 2.0, n)
    one, other = (np.asarray(ng.jit(f, fuse=way)(x, y)) for way in ("now", "never"))
    assert one.tobytes() == other.tobytes(), n
print(len(widened) > 0)
"""
    names = {"NUMBA_CPU_NAME": processor, "NUMGRAD_CACHE_DIR": str(tmp_path)}
    features = {"NUMBA_CPU_FEATURES": ""} if processor == "x86-64" else {}
    found = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **names, **features},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.stdout.split() == ["True"], found.stderr
