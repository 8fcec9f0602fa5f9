"""Which kernels operators have on GPUs, none of which has to be there, and what they become."""

import math
import re
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower.lower import force
from numgrad.engine.record import dispatch, operands, options, plan, several
from numgrad.engine.record.apply import deferring, runtime
from numgrad.engine.replay import recorded_plan
from numgrad.ir.target import Bound
from numgrad.operators.special.formulas import TABLE
from numgrad.targets.cpu.kernels import kernel as cpu_kernel
from numgrad.targets.cuda import CUDATarget
from numgrad.targets.cuda.compile.kernel import Function
from numgrad.targets.cuda.kernels import product
from numgrad.testing.scenarios import SCENARIOS

from ...sampling import exhaustive

codegen = pytest.importorskip("numgrad.targets.cuda.compile.codegen", exc_type=ImportError)
CAPABILITIES = ((8, 0), (9, 0))
CAPABILITY = CAPABILITIES[-1]
REDUCTION = re.compile(
    r"\.reg \.f64|cvt\.rn\.f64\.s64|mul\.rn\.f64 .*0d3BF921FB54442D19|neg\.f64|cvt\.rn\.f32\.f64"
)
"""How libdevice reduces very large arguments of sin, cos and tan: by pi * 2**-65 in double
precision."""
HEAVY = {"sum", "max", "min", "det", "slogdet", "cofactor"}
"""Of a thread each: they keep arrays of their own, or of a warp, which holds 1024 elements in
registers. These have to be enough for a block of threads; those of others, for two."""


class Collecting:
    """A runtime that keeps the kernels that it is to launch, and its driver."""

    PROCESSORS, REDUCING, RESIDENT, NEIGHBOURS = 2, 256, 1, 1
    blas = solver = fourier = default = launch_address = None

    def __init__(self):
        self.kernels = {}
        self.driver = self

    def word(self, bits, value):
        return value

    def current(self):
        return self

    def record_event(self):
        return None

    def prepare(self, kernel):
        dtypes = tuple(p.dtype.str for p in kernel.parameters if hasattr(p, "dtype"))
        self.kernels.setdefault((kernel.name, kernel.text, dtypes), kernel)
        return kernel

    def tiles(self, dtype):
        """Those of GPUs take longer; `test_compiled` has them."""
        return (product.Tile(16, 16, 16, 1, 1),) * 3

    def allocate(self, nbytes):
        return None

    def uploaded(self, array):
        return None

    constant = uploaded


class Uncomputed(Bound):
    """A program whose results are numbers, whatever it computes."""

    __slots__ = ()

    def run(self, arrays):
        for result in arrays[len(self.arguments) :]:
            result[...] = numbers(result.shape, result.dtype)


class Uncompiled(NamedTuple):
    """A kernel of the processor that is not called, for steps that a program leaves to the host."""

    spec: Any
    call: Any = None

    @property
    def nin(self):
        return len(self.spec.in_dtypes)

    @property
    def nout(self):
        return len(self.spec.out_dtypes)


_found = cpu_kernel.kernel


def uncompiled(spec):
    """Return a kernel that is not compiled, unless it computes positions; those of libraries are
    there."""
    dtypes = (*getattr(spec, "in_dtypes", ()), *getattr(spec, "out_dtypes", ()))
    return Uncompiled(spec) if any(d.kind in "fc" for d in dtypes) else _found(spec)


def numbers(shape, dtype):
    """Return an array of a regular matrix, or several: kernels do not depend on other elements."""
    count = math.prod(shape)
    return (1 + np.arange(count) ** 2 % 7).reshape(shape).astype(dtype)


def uncomputed(operator, arrays, static):
    """Return what an operator would give, with other elements; views are views, and positions
    are right, as NumPy computes them."""
    if operator.is_view or all(a.dtype.kind in "biu" for a in arrays):
        return operator.run(runtime.target, arrays, static)
    return [numbers(*made) for made in operator.infer(arrays, static)]


@contextmanager
def idle_processor():
    """Compile and compute nothing for the processor, which would take longer than all kernels of
    GPUs."""
    with ExitStack() as changes:
        changes.enter_context(mock.patch.object(runtime, "run", uncomputed))
        changes.enter_context(mock.patch.object(cpu_kernel, "kernel", uncompiled))
        changes.enter_context(mock.patch.object(runtime.target, "_find_kernel", uncompiled))
        for module in (dispatch, operands, options, plan, several, recorded_plan):
            changes.enter_context(mock.patch.object(module, "make_plan", return_value=None))
        changes.enter_context(mock.patch.object(several, "plan_of_several", return_value=None))
        yield


def collected(run):
    """Return the kernels of the programs that a function binds."""
    target, runtime_ = CUDATarget(), Collecting()
    target.__dict__["runtime"] = runtime_

    def noted(program, *before):
        target.bind(program)
        return Uncomputed(program)

    with idle_processor(), mock.patch.object(runtime.target, "bind", noted):
        run()
    return list(runtime_.kernels.values())


def run_all(scenarios):
    """Compute values and batched passes of scenarios, and second derivatives at several points, as
    singular ones may have kernels of their own."""
    for scenario in scenarios:
        for dtype in scenario.dtypes:
            _run(scenario, scenario.at(scenario.points[0], dtype), twice=False)
        if "float64" in scenario.dtypes and scenario.order > 1:
            for point in scenario.points[:3]:
                _run(scenario, scenario.at(point, "float64"), twice=True)


def _run(scenario, arrays, twice):
    leaves = [
        ng.tensor(a, requires_grad=bool(scenario.order) and a.dtype.kind in "fc") for a in arrays
    ]
    with deferring(), ng.no_grad():
        outputs = scenario.function(*[runtime.value(x.array) for x in leaves])
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    force([o for o in outputs if isinstance(o, ng.Tensor)])
    outputs = scenario.function(*leaves)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    live = [o for o in outputs if o.requires_grad]
    if live:
        seeds = [np.ones((3, *o.shape), o.dtype) for o in live]
        variables = [x for x in leaves if x.requires_grad]
        ng.grad(
            live, variables, seeds, is_grads_batched=True, allow_unused=True, retain_graph=True
        )
        if twice:
            outputs = [o.sum() for o in live]
            first = ng.grad(outputs, variables, allow_unused=True, create_graph=True)
            again = [g.sum() for g in first if g is not None and g.requires_grad]
            if again:
                ng.grad(again, variables, allow_unused=True)


def is_single(kernel):
    dtypes = {p.dtype for p in kernel.parameters if hasattr(p, "dtype")}
    others = {d for d in dtypes if d.kind == "c" or d.char == "d"}
    return np.dtype(np.float32) in dtypes and not others


def others():
    """Return the kernels of scenarios that are not about tables of special functions."""
    return collected(lambda: run_all(s for s in SCENARIOS if not set(s.operators) & set(TABLE)))


def is_complex(kernel):
    return any(p.dtype.kind == "c" for p in kernel.parameters if hasattr(p, "dtype"))


class Lowered:
    """Kernels, each lowered once for all capabilities."""

    def __init__(self, kernels):
        self.kernels = kernels
        self.library = cache(lambda n: codegen.lowered(kernels[n], CAPABILITIES[0]))

    def code(self, n, capability):
        return codegen.assembled(self.library(n), capability)

    def all(self):
        """Return the numbers of the kernels with the capabilities for which each is compiled."""
        return dict.fromkeys(range(len(self.kernels)), CAPABILITIES)

    def sample(self):
        """Leave out kernels without a function, a text or dtypes of their own. Of those that have
        one function of their own alone a quarter is left in, and of those that have a text of their
        own alone a fifth, as texts differ by strides, too; the capabilities take turns. Single
        precision comes first: other dtypes have the same functions."""
        known, chosen, functions, texts = set(), {}, 0, 0
        for n in sorted(self.all(), key=lambda n: not is_single(self.kernels[n])):
            new = _traits(self.kernels[n]) - known
            known |= new
            only = next(iter(new)) if len(new) == 1 else ()
            is_text, is_function = isinstance(only, str), only and callable(only[0])
            functions += bool(is_function)
            texts += is_text
            if new and not (is_function and functions % 4) and not (is_text and texts % 5):
                chosen[n] = (CAPABILITIES[len(chosen) % 2],)
        return chosen


def _traits(kernel):
    functions = {
        (getattr(v.function, "py_func", v.function), v.is_complex, v.dtype and v.dtype.kind)
        for v in kernel.scope.values()
        if isinstance(v, Function)
    }
    dtypes = tuple(p.dtype.str for p in kernel.parameters if hasattr(p, "dtype"))
    return {kernel.text, *functions, *([dtypes] if len(set(dtypes)) > 1 else [])}


CHOICES = pytest.mark.parametrize(
    "choose", [Lowered.sample, pytest.param(Lowered.all, marks=exhaustive)]
)


def in_double(lowered, chosen):
    """Compile kernels; return what those of single precision compute in double precision."""
    double = {}
    for n, capabilities in chosen.items():
        kernel = lowered.kernels[n]
        for capability in capabilities:
            ptx = lowered.code(n, capability).ptx
            lines = [line for line in ptx.splitlines() if ".f64" in line]
            if is_single(kernel) and not all(map(REDUCTION.search, lines)):
                double[kernel.name] = lines
    return double


def unlike(lowered, chosen):
    """Return which samples are not what is lowered for a capability alone."""
    return [
        lowered.kernels[n].name
        for n in list(chosen)[::20]
        for capability in CAPABILITIES[1:]
        if plain(codegen.compiled(lowered.kernels[n], capability))
        != plain(lowered.code(n, capability))
    ]


def plain(code):
    """Return PTX with numbers for its names, in which Numba counts what it compiles."""
    names = {}

    def number(name):
        return f"name{names.setdefault(name[0], len(names))}"

    return re.sub(r"_ZN\w+|_cudapy_\w+", number, code.ptx)


def spilling(lowered, chosen):
    """Link samples; return what those say that take many registers or spill some."""
    named = {lowered.kernels[n].name: n for n in chosen}
    logs = {}
    for name, n in list(named.items())[::2]:
        most = (1 << 16) // (256 if name in HEAVY else 512)
        for capability in chosen[n]:
            log = linked(lowered.code(n, capability).ptx, f"sm_{capability[0]}{capability[1]}")
            spilled = re.search(r"(\d+) bytes spill stores", log)
            spills = name not in HEAVY and spilled is not None and spilled.group(1) != "0"
            if spills or int(re.search(r"Used (\d+) registers", log).group(1)) > most:
                logs[name] = log
    return logs


def linked(ptx, arch):
    """Return what the assembler says of the machine code."""
    from cuda.core import Linker, LinkerOptions, ObjectCode

    options = LinkerOptions(arch=arch, ptxas_options=["-v"], verbose=True)
    linker = Linker(ObjectCode.from_ptx(ptx.encode()), options=options)
    linker.link("cubin")
    return linker.get_info_log()
