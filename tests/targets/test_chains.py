"""Chains have the bits of their operators one after the other, however many elements there are."""

import gc
import math
import os
import subprocess
import sys
import weakref

import numba
import numpy as np
import pytest

from numgrad._specs import FusedSpec
from numgrad.targets.cpu import chains
from numgrad.targets.cpu.intrinsics import load_word, stack_words, store_word
from numgrad.targets.cpu.kernels import kernel
from numgrad.targets.cpu.links import Links, can_chain, vector_bytes
from numgrad.targets.cpu.registers import Allocation

from .kernel_tools import F32, F64, call, spec_of

LENGTHS = (0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 400)
pytestmark = pytest.mark.skipif(not vector_bytes(), reason="chains need vector registers")


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


def root(x):
    return math.sqrt(abs(x))


def half(x):
    return 0.5 / x


def larger(x, y):
    return x if x > y else y


def clipped(x):
    return 0.0 if x != x or x < -1.0 else x * 0.5 if -x <= 2.0 else 1.0


def between(x, y):
    return x - y if (x > 0.0) == (y > 0.0) else x + y


def halvings(x):
    count = 0.0
    while x > 1.0 and count < 20.0:
        x = x * 0.5
        count += 1.0
    return count


def specs(dtype):
    one = (negative, tanh, root, half)
    two = (add, subtract, multiply, divide, larger, between)
    return [spec_of(f, dtype, dtype, *[dtype] * (f in two)) for f in (*one, *two)]


def random_chain(rng, dtype, nin, count):
    """Return a chain of random steps, and the numbers of what it stores."""
    known = specs(dtype)
    steps = []
    for n in range(count):
        step = known[rng.integers(len(known))]
        recent = [nin + n - 1] * int(rng.integers(20)) if n else []
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
@pytest.mark.parametrize("seed", range(20))
def test_chain_has_the_bits_of_its_steps(dtype, seed):
    rng = np.random.default_rng(seed)
    nin = int(rng.integers(1, 5))
    spec = random_chain(rng, dtype, nin, int(rng.integers(2, 25 + 10 * seed)))
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
            np.testing.assert_array_equal(found[:n], wanted, strict=True)
            assert (np.signbit(found[:n]) == np.signbit(wanted))[~np.isnan(wanted)].all()
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


def allocated(spec, count=16):
    links = Links(spec)
    return Allocation(links, chains.homes(spec, links), count)


def test_values_that_registers_can_hold_are_not_stored():
    plus, minus = spec_of(add, F64, F64, F64), spec_of(negative, F64, F64)
    steps = ((plus, (0, 0)), (minus, (1,)), (plus, (2, 0)), (minus, (3,)))
    found = allocated(FusedSpec("chain", steps, (F64,), (F64,), (4,), (False,)))
    names = [do.name for do in found.code if do.name != "load"]
    assert names == ["add", "xor", "add", "xor", "store"]
    assert found.slots == 0


@pytest.mark.parametrize("count", [2, 3, 5])
def test_a_value_is_stored_once_where_registers_do_not_suffice(count):
    times, plus = spec_of(multiply, F64, F64, F64), spec_of(add, F64, F64, F64)
    half_of = spec_of(half, F64, F64)
    made = [(half_of, (k,)) for k in range(8)]
    products = [(times, (8 + a, 8 + b)) for a in range(8) for b in range(a)]
    first = 16
    sums = [(plus, (first, first + 1))]
    sums += [(plus, (first + 27 + k, first + 1 + k)) for k in range(1, 27)]
    last = 8 + len(made) + len(products) + len(sums) - 1
    steps = (*made, *products, *sums)
    spec = FusedSpec("chain", steps, (F64,) * 8, (F64,), (last,), (False,) * 8)
    found = allocated(spec, count)
    stores = [do.target for do in found.code if do.name == "store"]
    assert len(stores) - 1 <= len(steps)
    assert all(len(do.sources) < 3 for do in found.code)
    assert all(kind == "register" for do in found.code for kind, _ in do.sources[:-1])
    assert {number for do in found.code for kind, number in (do.target,) if kind == "register"} <= {
        *range(count)
    }


def test_links_that_wait_for_each_other_are_apart():
    minus, over = spec_of(negative, F64, F64), spec_of(half, F64, F64)
    steps = ((minus, (0,)), (minus, (1,)), (over, (0,)), (over, (3,)))
    links = Links(FusedSpec("chain", steps, (F64,), (F64,) * 2, (2, 4), (False,)))
    assert [link.name for link in links.made.values()] == ["div", "xor", "xor", "div"]


def test_what_nobody_reads_is_not_computed():
    minus = spec_of(negative, F64, F64)
    steps = ((minus, (0,)), (spec_of(half, F64, F64), (0,)))
    links = Links(FusedSpec("chain", steps, (F64,), (F64,), (1,), (False,)))
    assert [link.name for link in links.made.values()] == ["xor"]


def test_equal_operations_are_one():
    half_of, plus = spec_of(half, F64, F64), spec_of(add, F64, F64, F64)
    steps = ((half_of, (0,)), (half_of, (0,)), (plus, (1, 2)))
    links = Links(FusedSpec("chain", steps, (F64,), (F64,), (3,), (False,)))
    assert [link.name for link in links.made.values()] == ["div", "add"]


def test_a_result_may_be_read_by_what_nobody_reads():
    plus, minus = spec_of(add, F64, F64, F64), spec_of(negative, F64, F64)
    steps = ((plus, (0, 1)), (minus, (4,)), (plus, (2, 3)), (plus, (5, 6)))
    chain = chains.chain(FusedSpec("chain", steps, (F64,) * 4, (F64,), (4,), (False,) * 4))
    inputs = np.random.default_rng(0).normal(size=(4, 70))
    found = np.zeros(70)
    run(chain, [*inputs, found], 70, 4)
    assert found.tobytes() == (inputs[0] + inputs[1]).tobytes()


def test_a_chain_with_too_many_operands_is_refused():
    plus = spec_of(add, F64, F64, F64)
    count = chains.MOST_MOVING
    steps = [(plus, (0, 1)), *((plus, (count + k, 2 + k)) for k in range(count - 2))]
    spec = FusedSpec("c", tuple(steps), (F64,) * count, (F64,), (2 * count - 2,), (False,) * count)
    assert chains.chain(spec) is None
    numbers = (True,) * (count - 1) + (False,)
    assert chains.chain(FusedSpec("c", spec.steps, spec.in_dtypes, (F64,), spec.outputs, numbers))


def test_a_chain_with_too_many_values_at_once_is_refused():
    times, plus = spec_of(multiply, F64, F64, F64), spec_of(add, F64, F64, F64)
    count = 2 * chains.MOST_SLOTS
    powers = [(times, (k, k)) for k in range(count)]
    back = [(plus, (count - 1, count))]
    back += [(plus, (count + 1 + k, count - 2 - k)) for k in range(count - 2)]
    steps = (*powers, *back)
    spec = FusedSpec("c", steps, (F64,), (F64,), (len(steps),), (False,))
    assert chains.chain(spec) is None


def test_equal_chains_are_one_as_long_as_one_lives():
    minus = spec_of(negative, F64, F64)

    def made():
        spec = FusedSpec("c", ((minus, (0,)), (minus, (1,))), (F64,), (F64,), (2,), (False,))
        return chains.chain(spec)

    assert made() is made()


def test_code_that_nobody_runs_any_more_is_given_back():
    minus, plus = spec_of(negative, F64, F64), spec_of(add, F64, F64, F64)
    closed = []
    steps = ((minus, (0,)), (plus, (1, 0)))
    chain = chains.chain(FusedSpec("c", steps, (F64,), (F64,), (2,), (False,)))
    weakref.finalize(chain.code, closed.append, True)
    chains._recent.clear()
    assert not closed
    del chain
    gc.collect()
    assert closed == [True]


def test_operators_of_one_real_dtype_can_be_chained():
    assert can_chain(spec_of(add, F64, F64, F64))
    assert not can_chain(spec_of(add, F32, F64, F64))
    assert not can_chain(spec_of(add, *[np.dtype("c16")] * 3))
    assert not can_chain(spec_of(add, *[np.dtype("i8")] * 3))


@pytest.mark.parametrize("function", [larger, between, half, root])
def test_operators_without_branches_can_be_chained(function):
    dtypes = (F64,) * (1 + function.__code__.co_argcount)
    assert can_chain(spec_of(function, *dtypes))


@pytest.mark.parametrize("function", [clipped, halvings])
def test_operators_with_branches_cannot_be_chained(function):
    assert not can_chain(spec_of(function, F64, F64))


COMPARISONS = (
    lambda x, y: x == y, lambda x, y: x != y, lambda x, y: x < y, lambda x, y: x <= y,
    lambda x, y: x > y, lambda x, y: x >= y,
)  # fmt: skip


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("number", range(len(COMPARISONS)))
def test_comparisons_of_special_numbers(number, negated, dtype):
    compare = numba.njit(COMPARISONS[number])

    def chosen(x, y):
        return x if compare(x, y) != negated else -y

    step = spec_of(chosen, dtype, dtype, dtype)
    assert can_chain(step)
    spec = FusedSpec("c", ((step, (0, 1)),), (dtype,) * 2, (dtype,), (2,), (False,) * 2)
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324], dtype)
    x, y = (np.ascontiguousarray(a).ravel() for a in np.meshgrid(special, special))
    found = np.zeros(x.size, dtype)
    run(chains.chain(spec), [x, y, found], x.size, 2)
    with np.errstate(all="ignore"):
        (expected,) = one_by_one(spec, (x, y), x.size)
    assert np.array_equal(found, expected, equal_nan=True)
    assert (np.signbit(found) == np.signbit(expected))[~np.isnan(expected)].all()


@pytest.mark.skipif(sys.platform != "linux", reason="names a processor")
@pytest.mark.parametrize("processor", ["haswell", "x86-64"])
def test_chains_on_narrower_registers(processor, tmp_path):
    code = """
import numpy as np, numgrad as ng
from numgrad.engine import chaining
def f(x):
    return ng.log(x * x + 2.0) * x / (x - 5.0) - ng.sin(x)
x = np.linspace(-3.0, 4.0, 4_000_003)
found = ng.jit(f)(x)
chaining.FEWEST_ELEMENTS = 1 << 60
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


def test_memory_of_a_chain_is_not_filled():
    """Filling it took longer than a chain of few elements."""

    @numba.njit
    def first_word():
        words = stack_words(1000)
        store_word(words, 0, 7)
        return load_word(words, 0)

    assert first_word() == 7
    (code,) = first_word.inspect_llvm().values()
    assert "memset" not in code
    assert "zeroinitializer" not in code
