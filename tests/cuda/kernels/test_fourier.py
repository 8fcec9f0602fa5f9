"""Calls of cuFFT for Fourier transforms, carried out by NumPy in memory of the host."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng
from numgrad.operators.signal import fourier as operators
from numgrad.targets.cuda.launch.steps import HostCall
from numgrad.targets.cuda.libraries import fourier
from numgrad.targets.cuda.program.fourier_launch import LibraryTransform

from ..programs import TARGET, on_both, program_of, require_equal
from .host_libraries import numbers, resolved

RNG = np.random.default_rng(41)
DTYPES = ["float32", "float64", "complex64", "complex128"]
KINDS = {41: "FF", 105: "DD", 42: "fF", 106: "dD", 44: "Ff", 108: "Dd"}
DECLARED = {
    "create": "", "destroy": "int plan", "set_stream": "int plan, intptr_t stream",
    "make_plan1d": "int plan, int nx, int type, int batch",
    **dict.fromkeys(("exec_c2c", "exec_z2z"),
                    "int plan, intptr_t idata, intptr_t odata, int direction"),
    **dict.fromkeys(("exec_r2c", "exec_d2z", "exec_c2r", "exec_z2d"),
                    "int plan, intptr_t idata, intptr_t odata"),
}  # fmt: skip


class Library:
    """The part of cuFFT that is called; results have no factor."""

    def __init__(self):
        self.plans, self.streams, self.destroyed = {}, [], []

    def create(self):
        self.plans[len(self.plans) + 1] = None
        return len(self.plans)

    def destroy(self, plan):
        self.destroyed.append(plan)

    def make_plan1d(self, plan, nx, number, batch):
        self.plans[plan] = nx, number, batch

    def set_stream(self, plan, stream):
        self.streams.append((plan, stream))

    def __getattr__(self, name):
        assert name in DECLARED
        return lambda plan, *arguments: self._run(name, plan, *arguments)

    def _run(self, name, plan, idata, odata, *direction):
        size, number, rows = self.plans[plan]
        kind = KINDS[number]
        assert name == {"FF": "exec_c2c", "DD": "exec_z2z", "fF": "exec_r2c", "dD": "exec_d2z",
                        "Ff": "exec_c2r", "Dd": "exec_z2d"}[kind]  # fmt: skip
        half = size // 2 + 1
        given = numbers(idata, kind[0], half if name.endswith(("c2r", "z2d")) else size, rows).T
        out = numbers(odata, kind[1], half if name.endswith(("r2c", "d2z")) else size, rows).T
        if direction:
            function = {-1: np.fft.fft, 1: np.fft.ifft}[direction[0]]
            out[...] = function(given, norm="backward" if direction[0] < 0 else "forward")
        elif kind[0].isupper():
            assert (given[:, 0].imag == 0).all()
            out[...] = np.fft.irfft(given, size, norm="forward")
            given[...] = np.nan  # which may be overwritten
        else:
            out[...] = np.fft.rfft(given)


@pytest.fixture
def library(monkeypatch):
    found = Library()
    for target in (TARGET, ng.zeros(1, device="cuda").array.target):
        calls = fourier.Fourier(found, resolved)
        monkeypatch.setattr(target.runtime.driver, "fourier", calls, raising=False)
    return found


def made(shape, dtype):
    found = RNG.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        found = found + 1j * RNG.standard_normal(shape)
    return found.astype(dtype)


def require_near(function, x):
    steps = TARGET.bind(program_of(function, x)).steps
    assert [type(step) for step in steps].count(LibraryTransform) == 1
    assert not any(isinstance(step, HostCall) for step in steps)
    require_equal(on_both(function, x), 1e-5 if x.dtype.char in "fF" else 1e-13)


CALLS = {
    "fft": lambda n, norm: lambda x: operators.fft(x, n=n, inverse=False, norm=norm),
    "ifft": lambda n, norm: lambda x: operators.fft(x, n=n, inverse=True, norm=norm),
    "rfft": lambda n, norm: lambda x: operators.rfft(x, n=n, norm=norm),
    "irfft": lambda n, norm: lambda x: operators.irfft(x, n=n, norm=norm),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_transforms(library, name, norm, dtype):
    if name == "rfft" and dtype.startswith("complex"):
        return
    x = made((3, 6), dtype)
    for n in (1, 4, 5, 6, 8, 11):
        require_near(CALLS[name](n, norm), x)


@pytest.mark.parametrize("name", CALLS)
def test_rows_may_lie_in_any_way(library, name):
    x = made((4, 3, 6), "float64" if name == "rfft" else "complex128")
    for lies in (x, x[::-1, :, ::-1], x.transpose(1, 0, 2), x.transpose(2, 1, 0),
                 np.broadcast_to(x[:1], x.shape), x[0, 0]):  # fmt: skip
        require_near(CALLS[name](5, "backward"), lies)


@pytest.mark.parametrize(
    "function",
    [lambda x: ng.real(ng.fft.ifft(ng.fft.fft(x) ** 2)),
     lambda x: ng.fft.irfft(ng.fft.rfft(x) ** 2), lambda x: ng.abs(ng.fft.fft2(x)),
     lambda x: ng.fft.irfft(ng.fft.rfft(x, axis=0), axis=0)],
)  # fmt: skip
def test_tensors_and_their_gradients(library, function):
    values = made((4, 5), "float64")
    found = []
    for device in ("cpu", "cuda"):
        x = ng.tensor(values, device=device, requires_grad=True)
        y = function(x)
        seeds = ng.tensor(np.random.default_rng(5).standard_normal((2, *y.shape)), device=device)
        (g,) = ng.grad(y, x, seeds, is_grads_batched=True)
        found.append([v.detach().cpu().numpy() for v in (y, g, ng.jit(function)(x))])
    assert library.plans
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, 1e-9, 1e-9 * np.abs(one).max())


def test_empty_and_very_many_rows_are_left_to_the_host(library, monkeypatch):
    call = CALLS["fft"](4, "backward")
    monkeypatch.setattr(fourier, "MOST_ELEMENTS", 15)
    monkeypatch.setattr("numgrad.targets.cuda.program.fourier_launch.MOST_ELEMENTS", 15)
    (step,) = TARGET.bind(program_of(call, made((4, 6), "complex128"))).steps
    assert isinstance(step, HostCall)
    require_near(call, made((3, 6), "complex128"))


def test_plans_are_kept_for_each_stream_and_the_oldest_destroyed(monkeypatch):
    monkeypatch.setattr(fourier, "MOST_PLANS", 2)
    library = Library()
    library.exec_c2c = lambda *arguments: None
    calls = fourier.Fourier(library, lambda pointers, stream: (pointers, stream))
    kind = np.dtype(np.complex64)
    for size, stream in ((3, 5), (3, 6), (3, 5), (4, 5)):
        calls.transform(fourier.Transform(size, 2, kind, kind, False), (0, 0), stream)
    assert library.streams == [(1, 5), (2, 6), (1, 5), (3, 5)]
    assert library.plans == {1: (3, 41, 2), 2: (3, 41, 2), 3: (4, 41, 2)}
    assert library.destroyed == [2]


def test_the_library_is_optional(monkeypatch):
    def missing():
        raise RuntimeError("cuFFT\n is not found")

    for version, is_there in ((missing, False), (lambda: 12000, True)):
        module = SimpleNamespace(cufft=SimpleNamespace(get_version=version))
        monkeypatch.setitem(sys.modules, "nvmath", SimpleNamespace())
        monkeypatch.setitem(sys.modules, "nvmath.bindings", module)
        assert (fourier.found(resolved) is not None) == is_there
        assert fourier.why_not() == (None if is_there else "RuntimeError: cuFFT is not found")
    monkeypatch.setitem(sys.modules, "nvmath.bindings", None)
    assert fourier.found(resolved) is None


def test_the_library_is_called_as_it_declares():
    cufft = pytest.importorskip("nvmath.bindings.cufft")
    for name, parameters in DECLARED.items():
        assert getattr(cufft, name).__doc__.startswith(f"{name}({parameters})")
    for kind, (number, _) in fourier._TYPES.items():
        letters = {"f": "R", "d": "D", "F": "C", "D": "Z"}
        first, second = (letters[char] for char in kind)
        assert cufft.Type[f"{first}2{second}"] == number
