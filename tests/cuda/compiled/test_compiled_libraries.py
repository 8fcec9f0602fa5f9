"""Kernels around the calls of libraries compile for GPUs, as do those that move sorted elements."""

import numpy as np

import numgrad as ng
from numgrad.engine.lower.lower import force
from numgrad.engine.record.apply import deferring

from . import compiling
from .compiling import CAPABILITY, codegen, collected, is_single


def run():
    for dtype in ("float32", "complex64"):
        x = np.eye(40, dtype=dtype)
        with deferring(), ng.no_grad():
            values = [
                ng.linalg.inv(x), ng.linalg.cholesky(x),
                ng.linalg.solve_triangular(x, x, lower=True), ng.linalg.lu_factor(x)[1],
                *[ng.fft.fft(x, n, norm=norm) for n, norm in ((30, None), (50, "ortho"))],
                ng.fft.ifft(x), ng.fft.irfft(x), ng.fft.irfft(x, 9, norm="ortho"),
            ]  # fmt: skip
            if dtype == "complex64":
                values += [*ng.linalg.qr(x), *ng.linalg.svd(x[:9, :9])]
            else:
                values += [ng.fft.rfft(x, norm="forward"), ng.sort(x)]
        force([value for value in values if isinstance(value, ng.Tensor)])


def test_kernels_around_libraries_compile(monkeypatch):
    for name in ("solver", "fourier"):
        monkeypatch.setattr(compiling.Collecting, name, object())
    kernels = collected(run)
    assert {kernel.name for kernel in kernels} >= {
        "singular", "failed", "lower_triangle", "padded", "half_spectrum", "scaled", "permute",
        "upper_triangle", "conjugate", "not_finite",
    }  # fmt: skip
    for kernel in kernels:
        ptx = codegen.compiled(kernel, CAPABILITY).ptx
        single = is_single(kernel) or "complex64" in str(kernel.parameters)
        assert not (single and ".f64" in ptx), kernel.name
