"""Chains have the bits of their operators one after the other, however many elements there are."""

import math
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from numgrad._specs import FusedSpec
from numgrad.targets.cpu import chains, fused, vector_forms, vectors
from numgrad.targets.cpu.kernels import kernel

from .kernel_tools import F32, F64, call, spec_of

LENGTHS = (0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 400)
pytestmark = pytest.mark.skipif(not vectors.block_bytes(), reason="chains need vector registers")


def add(x, y):
    return x + y


def subtract(x, y):
    return x - y


def multiply(x, y):
    return x * y


def divide(x, y):
    return x / y


def negative(x):
    return -x


def tanh(x):
    return math.tanh(x)


def specs(dtype):
    two = [spec_of(f, dtype, dtype, dtype) for f in (add, subtract, multiply, divide)]
    return [*two, *(spec_of(f, dtype, dtype) for f in (negative, tanh))]


def random_chain(rng, dtype, nin, count):
    """Return a chain of random steps, and the numbers of what it stores."""
    known = specs(dtype)
    steps = []
    for n in range(count):
        step = known[rng.integers(len(known))]
        recent = [nin + n - 1] * 3 if n else []
        choice = [*recent, *range(nin + n)]
        steps.append((step, tuple(int(rng.choice(choice)) for _ in step.in_dtypes)))
    stored = {nin + count - 1, *(int(k) for k in nin + rng.integers(0, count, 2))}
    outputs = tuple(sorted(stored))
    numbers = tuple(bool(rng.integers(2)) for _ in range(nin))
    return FusedSpec(
        "chain", tuple(steps), (dtype,) * nin, (dtype,) * len(outputs), outputs, numbers
    )  # fmt: skip


def one_by_one(spec, inputs, n):
    """Return the outputs as the kernels of the steps compute them."""
    values = [np.broadcast_to(a, (n,)) for a in inputs]
    for step, args in spec.steps:
        values.append(kernel(step).ufunc(*(values[k] for k in args)))
    return [values[k] for k in spec.outputs]


def run(chain, arrays, n, nin, numbers=()):
    size = arrays[0].itemsize
    steps = [0 if k < len(numbers) and numbers[k] else size for k in range(len(arrays))]
    return call(chain, arrays, n, steps, chain.core)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_chain_has_the_bits_of_its_steps(dtype, seed):
    rng = np.random.default_rng(seed)
    nin = int(rng.integers(1, 5))
    spec = random_chain(rng, dtype, nin, int(rng.integers(2, 25)))
    chain = chains.chain(spec)
    for n in LENGTHS:
        inputs = [
            rng.normal(size=1 if number else n).astype(dtype) for number in spec.scalars
        ]
        outputs = [np.full(n + 3, 7.0, dtype) for _ in spec.outputs]
        assert run(chain, [*inputs, *outputs], n, nin, spec.scalars) == 0
        with np.errstate(all="ignore"):
            expected = one_by_one(spec, inputs, n)
        for found, wanted in zip(outputs, expected, strict=True):
            assert found[:n].tobytes() == np.ascontiguousarray(wanted).tobytes(), n
            assert (found[n:] == 7.0).all()


@pytest.mark.parametrize("n", LENGTHS)
def test_chain_may_write_its_only_output_over_an_input(n):
    steps = [(spec_of(multiply, F64, F64, F64), (0, 1)), (spec_of(subtract, F64, F64, F64), (2, 0))]
    chain = chains.chain(FusedSpec("chain", tuple(steps), (F64, F64), (F64,), (3,), (False,) * 2))
    x, y = np.linspace(1.0, 2.0, n), np.linspace(-3.0, 5.0, n)
    expected = x * y - x
    run(chain, [x, y, x], n, 2)
    assert x.tobytes() == expected.tobytes()


def test_pointers_are_where_they_were_when_a_chain_ends():
    steps = [(spec_of(negative, F64, F64), (0,)), (spec_of(negative, F64, F64), (1,))]
    chain = chains.chain(FusedSpec("chain", tuple(steps), (F64,), (F64,), (2,), (False,)))
    rows = np.random.default_rng(0).normal(size=(3, 70))
    found = np.zeros_like(rows)
    for k in range(3):
        run(chain, [rows[k], found[k]], 70, 1)
    assert found.tobytes() == rows.tobytes()


def test_a_value_for_the_next_step_alone_is_not_stored():
    plus, minus = spec_of(add, F64, F64, F64), spec_of(negative, F64, F64)
    steps = ((plus, (0, 0)), (minus, (1,)), (plus, (2, 0)), (minus, (3,)))
    chain = chains.chain(FusedSpec("chain", steps, (F64,), (F64,), (4,), (False,)))
    store = vectors.frame(F64).forms["store"]
    assert chain.words.tolist().count(store) == 1
    assert chain.words[3] == 0  # no block of its own


def test_steps_are_put_in_an_order_in_which_registers_are_of_use():
    plus, minus = spec_of(add, F64, F64, F64), spec_of(negative, F64, F64)
    apart = [(minus, (0,))] * 8 + [(minus, (1 + k,)) for k in range(8)]
    total = [(plus, (9, 10)), *((plus, (17 + k, 11 + k)) for k in range(6))]
    chain = chains.chain(
        FusedSpec("chain", (*apart, *total), (F64,), (F64,), (23,), (False,))
    )  # fmt: skip
    store = vectors.frame(F64).forms["store"]
    assert chain.words.tolist().count(store) == 8  # seven paths of two steps, and the result


def test_what_nobody_reads_is_not_computed():
    minus = spec_of(negative, F64, F64)
    steps = ((minus, (0,)), (minus, (0,)))
    chain = chains.chain(FusedSpec("chain", steps, (F64,), (F64,), (2,), (False,)))
    assert chain.words.tolist().count(vectors.forms(minus)["r"]) == 1


def test_a_result_may_be_read_by_what_nobody_reads():
    plus, minus = spec_of(add, F64, F64, F64), spec_of(negative, F64, F64)
    steps = ((plus, (0, 1)), (minus, (4,)), (plus, (2, 3)), (plus, (5, 6)))
    chain = chains.chain(FusedSpec("chain", steps, (F64,) * 4, (F64,), (4,), (False,) * 4))
    inputs = np.random.default_rng(0).normal(size=(4, 70))
    found = np.zeros(70)
    run(chain, [*inputs, found], 70, 4)
    assert found.tobytes() == (inputs[0] + inputs[1]).tobytes()
    assert vectors.forms(minus)["r"] not in chain.words.tolist()


def test_a_chain_with_too_many_operands_is_refused():
    plus = spec_of(add, F64, F64, F64)
    count = vectors.MOST_MOVING
    steps = [(plus, (0, 1)), *((plus, (count + k, 2 + k)) for k in range(count - 2))]
    spec = FusedSpec("c", tuple(steps), (F64,) * count, (F64,), (2 * count - 2,), (False,) * count)
    assert chains.chain(spec) is None
    numbers = (True,) * (count - 1) + (False,)
    assert chains.chain(FusedSpec("c", spec.steps, spec.in_dtypes, (F64,), spec.outputs, numbers))


def test_a_chain_with_too_many_values_at_once_is_refused():
    minus, plus = spec_of(negative, F64, F64), spec_of(add, F64, F64, F64)
    count = vectors.MOST_OWN + 2
    made = [(minus, (0,))] * count
    both = [(plus, (1 + k, 1 + k)) for k in range(count)]
    pairs = [(plus, (1, 1 + count + count - 1))]
    pairs += [(plus, (1 + k, 2 * count + k)) for k in range(1, count)]
    spec = FusedSpec("c", (*made, *both, *pairs), (F64,), (F64,), (3 * count,), (False,))
    found = chains.chain(spec)
    assert found is None or found.words[3] <= vectors.MOST_OWN


def test_forms_exist_for_real_numbers_of_one_dtype():
    assert vectors.has_forms(spec_of(add, F64, F64, F64))
    assert not vectors.has_forms(spec_of(add, F32, F64, F64))
    assert not vectors.has_forms(spec_of(add, *[np.dtype("c16")] * 3))
    assert not vectors.has_forms(spec_of(add, *[np.dtype("i8")] * 3))


def test_forms_keep_their_vectors_in_registers(monkeypatch):
    seen = []
    original = vector_forms.code_of

    def spy(machine, module, symbol):
        seen.append(machine.emit_assembly(module))
        return original(machine, module, symbol)

    monkeypatch.setattr(vector_forms, "code_of", spy)

    product = fused.scalar(spec_of(multiply, F64, F64, F64))
    vector_forms.emit_forms(product, ("rm", "mm", "nr"), "forms_0123")
    (assembly,) = seen
    assert assembly.count("rsp") == 0 or "x86" not in sys.platform
    assert "call" not in assembly


@pytest.mark.skipif(sys.platform != "linux", reason="names a processor")
@pytest.mark.parametrize("processor", ["haswell", "x86-64"])
def test_chains_on_narrower_registers(processor, tmp_path):
    code = """
import numpy as np, numgrad as ng
from numgrad.engine import chaining
def f(x):
    return ng.log(x * x + 2.0) * x / (x - 5.0) - ng.sin(x)
x = np.linspace(-3.0, 4.0, 100_003)
found = ng.jit(f)(x)
chaining.FEWEST_ELEMENTS, chaining._keys = 1 << 60, lambda *a: (None, None)
ng.set_flags(debug=True)
print(np.asarray(ng.jit(lambda x: f(x))(x)).tobytes() == np.asarray(found).tobytes())
"""
    names = {"NUMBA_CPU_NAME": processor, "NUMGRAD_CACHE_DIR": str(tmp_path)}
    features = {"NUMBA_CPU_FEATURES": ""} if processor == "x86-64" else {}
    found = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **names, **features},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert found.stdout.split() == ["True"]


def test_a_short_chain_costs_little_to_call():
    minus = spec_of(negative, F64, F64)
    chain = chains.chain(
        FusedSpec("c", ((minus, (0,)), (minus, (1,))), (F64,), (F64,), (2,), (False,))
    )
    x, y = np.ones(64), np.ones(64)

    def seconds(kernel, core):
        best = np.inf
        for _ in range(200):
            began = time.perf_counter()
            call(kernel, [x, y], 64, [8, 8], core)
            best = min(best, time.perf_counter() - began)
        return best

    # Memory of the chain's own is not filled with zeros, which took 2 us.
    assert seconds(chain, chain.core) < seconds(kernel(minus), ()) + 1e-6
