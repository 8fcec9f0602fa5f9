"""Every kernel of every operator compiles for GPUs, none of which has to be there: what the machine
code computes with, and what it needs of a processor."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower.lower import force
from numgrad.engine.record.apply import deferring
from numgrad.ir.pairwise import larger
from numgrad.targets.cpu.compile import builtin_signatures
from numgrad.targets.cuda.compile.kernel import Function, Kernel, Pointer, Word

from ..own_kernels import operator
from . import compiling
from .compiling import CAPABILITY, codegen, collected

pytestmark = pytest.mark.timeout(900)  # hundreds of kernels, each for two kinds of GPUs


@pytest.fixture(scope="module")
def lowered():
    """Those of complex numbers and of tables of functions have test files of their own."""
    return compiling.Lowered([k for k in compiling.others() if not compiling.is_complex(k)])


def test_kernels_of_positions_are_among_them(lowered):
    names = {kernel.name for kernel in lowered.kernels}
    assert names >= {"gather", "place", "add_up", "overwrite", "remains", "positions", "keys",
                     "merge", "fill"}  # fmt: skip


@compiling.CHOICES
def test_kernels_compile_and_single_precision_stays_single(lowered, choose):
    assert len(lowered.kernels) > 300
    assert not compiling.in_double(lowered, choose(lowered))


@compiling.CHOICES
def test_kernels_are_lowered_alike_for_all_capabilities(lowered, choose):
    assert not compiling.unlike(lowered, choose(lowered))


@compiling.CHOICES
def test_samples_link_without_spilling_registers(lowered, choose):
    assert not compiling.spilling(lowered, choose(lowered))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kernels_of_users_compile(dtype):
    def run():
        x, a = np.ones((3, 2, 5), dtype), np.ones((3, 1), dtype)
        leaves = [ng.tensor(v, requires_grad=True) for v in (x, a)]
        with deferring(), ng.no_grad():
            value = operator(*leaves, power=2, kind="damped")
        force([value])
        y = operator(*leaves, power=2, kind="damped")
        ng.grad(y, leaves, np.ones((4, *y.shape), dtype), is_grads_batched=True)

    own = [kernel for kernel in collected(run) if "own(" in kernel.text]
    assert len(own) == 2
    codes = [codegen.compiled(kernel, CAPABILITY).ptx for kernel in own]
    assert [".shared" in code for code in codes] == [False, True]


def test_a_literal_in_double_precision_is_found():
    """The check above sees the fault that it is for."""
    x = np.dtype(np.float32)
    text = "def kernel(n, x, out):\n    i = cuda.grid(1)\n    if i < n:\n        out[i] = f(x[i])"
    parameters = (Word(32), Pointer(x), Pointer(x))
    function = SimpleNamespace(py_func=lambda v: v * 0.1)
    right = Kernel("right", text, parameters, {"f": Function(function, x)})
    wrong = Kernel("wrong", text, parameters, {"f": Function(function, np.dtype(np.float64))})
    assert ".f64" not in codegen.compiled(right, CAPABILITY).ptx
    assert ".f64" in codegen.compiled(wrong, CAPABILITY).ptx


def test_kernels_share_the_functions_of_numgrad():
    """Those of users may call others by the time of the next kernel."""

    def of_user(a, b):
        return a if a > b else b

    for function, is_shared in ((larger, True), (of_user, False)):
        one, other = [
            codegen._device(Function(function, np.dtype(np.float32)), CAPABILITY) for _ in range(2)
        ]
        assert (one is other) == is_shared


def test_signatures_of_numbers_are_looked_for_once(monkeypatch):
    search, searches = builtin_signatures._search, []

    def noted(kind, context, args, kws):
        searches.append((kind, args))
        return search(kind, context, args, kws)

    monkeypatch.setattr(builtin_signatures, "_search", noted)
    monkeypatch.setattr(builtin_signatures, "_found", {})
    x = np.dtype(np.float32)
    text = "def kernel(n, x, out):\n    out[n] = x[n] * x[n] * x[n] + x[n] + x[n]"
    codegen.compiled(Kernel("cubes", text, (Word(), Pointer(x), Pointer(x))), CAPABILITY)
    numbers = [call for call in searches if set(map(str, call[1])) == {"float32"}]
    assert len(numbers) == len(set(numbers)) == 2


def test_an_instance_takes_as_many_parameters_as_a_launch_gives():
    x = np.dtype(np.float32)
    kernel = Kernel(
        "copy", "def kernel(n, x, out):\n    out[n] = x[n]", (Word(), Pointer(x), Pointer(x))
    )
    code = codegen.compiled(kernel, CAPABILITY)
    (header,) = re.findall(rf"\.visible \.entry {code.entry}\((.*?)\)", code.ptx, re.DOTALL)
    assert header.count(".param") == 3
