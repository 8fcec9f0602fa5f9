"""Every kernel of every operator compiles for GPUs, none of which has to be there: what the machine
code computes with, and what it needs of a processor."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare.halving import larger
from numgrad.engine.lower import force
from numgrad.engine.record import deferring, runtime
from numgrad.targets.cuda import CUDATarget, product, reduction
from numgrad.targets.cuda.elementwise import Walk
from numgrad.targets.cuda.kernel import Function, Kernel, Pointer, Word
from numgrad.testing.scenarios import SCENARIOS

from .own_kernels import operator

codegen = pytest.importorskip("numgrad.targets.cuda.codegen", exc_type=ImportError)
pytestmark = pytest.mark.timeout(900)  # a thousand kernels, each for two kinds of GPUs
CAPABILITY = (9, 0)
CAPABILITIES = [  # each in a process of its own, as all kernels take a minute and more
    pytest.param(c, marks=pytest.mark.xdist_group(str(c))) for c in ((8, 0), CAPABILITY)
]
REDUCTION = re.compile(
    r"\.reg \.f64|cvt\.rn\.f64\.s64|mul\.f64 .*0d3BF921FB54442D19|neg\.f64|cvt\.rn\.f32\.f64"
)
"""How libdevice reduces very large arguments of sin, cos and tan: by pi * 2**-65 in double
precision."""


class Collecting:
    """A runtime that keeps the kernels that it is to launch, and its driver."""

    PROCESSORS, REDUCING, blas = 2, 256, None

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
        """Those of GPUs take longer, see below."""
        return (product.Tile(16, 16, 16, 1, 1),) * 3

    def allocate(self, nbytes):
        return None

    def upload(self, memory, offset, array):
        pass


def collected(run):
    """Return the kernels of the programs that a function binds."""
    target, runtime_ = CUDATarget(), Collecting()
    target.__dict__["runtime"] = runtime_
    bind = runtime.target.bind

    def noted(program):
        target.bind(program)
        return bind(program)

    runtime.target.bind = noted
    try:
        run()
    finally:
        del runtime.target.bind
    return list(runtime_.kernels.values())


def _run_all():
    """Compute values and batched passes of all scenarios, and second derivatives at several points,
    as singular ones may have kernels of their own."""
    for scenario in SCENARIOS:
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


@pytest.fixture(scope="module")
def kernels():
    return collected(_run_all)


def test_kernels_of_positions_are_among_them(kernels):
    names = {kernel.name for kernel in kernels}
    assert names >= {"gather", "place", "add_up", "overwrite", "remains", "positions", "keys",
                     "merge", "fill"}  # fmt: skip


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


def is_single(kernel):
    dtypes = {p.dtype for p in kernel.parameters if hasattr(p, "dtype")}
    others = {d for d in dtypes if d.kind == "c" or d.char == "d"}
    return np.dtype(np.float32) in dtypes and not others


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_every_kernel_compiles_and_single_precision_stays_single(kernels, capability):
    assert len(kernels) > 300
    double = {}
    for kernel in kernels:
        code = codegen.compiled(kernel, capability)
        lines = [line for line in code.ptx.splitlines() if ".f64" in line]
        if is_single(kernel) and not all(map(REDUCTION.search, lines)):
            double[kernel.name] = lines
    assert not double


def linked(ptx, arch):
    """Return what the assembler says of the machine code."""
    from cuda.core import Linker, LinkerOptions, ObjectCode

    options = LinkerOptions(arch=arch, ptxas_options=["-v"], verbose=True)
    linker = Linker(ObjectCode.from_ptx(ptx.encode()), options=options)
    linker.link("cubin")
    return linker.get_info_log()


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_samples_link_without_spilling_registers(kernels, capability):
    chosen = {kernel.name: kernel for kernel in kernels}
    for kernel in list(chosen.values())[::4]:
        ptx = codegen.compiled(kernel, capability).ptx
        log = linked(ptx, f"sm_{capability[0]}{capability[1]}")
        registers = int(re.search(r"Used (\d+) registers", log).group(1))
        assert registers <= 128, (kernel.name, registers)
        if kernel.name not in HEAVY:
            spilled = re.search(r"(\d+) bytes spill stores", log)
            assert spilled is None or spilled.group(1) == "0", kernel.name


HEAVY = {"sum", "max", "min", "det", "slogdet", "cofactor"}
"""Of a thread each: they keep arrays of their own."""


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


def test_an_instance_takes_as_many_parameters_as_a_launch_gives():
    x = np.dtype(np.float32)
    kernel = Kernel(
        "copy", "def kernel(n, x, out):\n    out[n] = x[n]", (Word(), Pointer(x), Pointer(x))
    )
    code = codegen.compiled(kernel, CAPABILITY)
    (header,) = re.findall(rf"\.visible \.entry {code.entry}\((.*?)\)", code.ptx, re.DOTALL)
    assert header.count(".param") == 3


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["sum", "max"])
def test_reductions_of_many_elements_compile(name, dtype):
    if name == "max" and dtype == "complex64":
        return
    join = reduction.add if name == "sum" else larger
    dtypes = (np.dtype(dtype),) * 2
    for kernel in (
        reduction.of_blocks(name, join, dtypes, Walk(1, False), 256, True),
        reduction.of_parts(name, join, dtypes, Walk(2, False), 256),
    ):
        code = codegen.compiled(kernel, CAPABILITY)
        assert ".shared" in code.ptx
        assert dtype == "float64" or ".f64" not in code.ptx


@pytest.mark.parametrize(
    ("dtype", "number"),
    [("float32", 0), ("float32", 2), ("float64", 0), ("complex64", 0), ("complex128", 0)],
)
def test_threads_have_registers_for_their_elements_of_a_tile(dtype, number):
    dtype = np.dtype(dtype)
    tile = product.tiles(dtype)[number]
    kernel = product.product(dtype, 1, tile)
    code = codegen.compiled(kernel, (8, 0))
    assert ".local" not in code.ptx
    assert is_single(kernel) <= (".f64" not in code.ptx)
    for arch in ("sm_80", "sm_90"):
        log = linked(code.ptx, arch)
        registers = int(re.search(r"Used (\d+) registers", log).group(1))
        assert registers * tile.threads <= 1 << 16
        assert "0 bytes spill stores" in log
        assert int(re.search(r"(\d+) bytes smem", log).group(1)) <= 48 << 10
