"""Calls of cuBLAS: what each is, carried out in NumPy, and which products have none."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng
from numgrad.targets.cuda.libraries import blas

from ..programs import TARGET, on_device, program_of
from .host_libraries import Products, require_declared, resolved
from .matrices import FLOATS, made, product_of, spread


def multiply(gemm, library):
    blas.Blas(library, lambda pointers, stream: (pointers, stream)).multiply(gemm, gemm.places, 7)


def within(m):
    """Put matrices into larger ones, so that there is something between their rows."""
    larger = np.full((*m.shape[:-2], m.shape[-2] + 1, m.shape[-1] + 3), np.nan, m.dtype)
    larger[..., 1:, 2:-1] = m
    return larger[..., 1:, 2:-1]


READABLE = {
    "by rows": lambda m: m.copy(), "by columns": lambda m: m.mT.copy().mT, "within": within,
    "within, by columns": lambda m: within(m.mT).mT,
    "shared": lambda m: np.broadcast_to(m[0], m.shape) if m.ndim > 2 else m,
}  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right", "dtype"),
    [*((left, right, "float64") for left in READABLE for right in READABLE),
     *(("by rows", "by columns", dtype) for dtype in FLOATS)],
)  # fmt: skip
def test_a_call_of_blas_makes_the_product(left, right, dtype):
    for m, k, n in ((2, 3, 4), (1, 5, 3), (4, 3, 1), (1, 1, 1), (3, 1, 2), (1, 4, 1)):
        for loop in ((), (3,)):
            a = READABLE[left](made((*loop, m, k), dtype))
            b = READABLE[right](made((*loop, k, n), dtype))
            out = np.ones((*loop, m, n), dtype)
            multiply(blas.gemm(product_of(a, b, out), a.dtype), Products())
            with np.errstate(invalid="ignore"):  # a flag of lanes that BLAS does not use
                expected = a @ b
            np.testing.assert_allclose(out, expected, 1e-5)


def test_vectors_that_share_a_matrix_are_one_call_of_blas():
    a, b = made((9, 1, 4), float), made((4, 5), float)
    for left, right in ((a, spread(b, 9, 4, 5)), (spread(b.T, 9, 5, 4), a.mT)):
        out, library = np.ones((9, left.shape[1], right.shape[2])), Products()
        multiply(blas.gemm(product_of(left, right, out), out.dtype), library)
        assert library.sizes[0][-1] == 1
        np.testing.assert_allclose(out, left @ right, 1e-12)


@pytest.mark.parametrize(
    "change",
    [
        lambda a, b, out: (a[:, ::-1], b, out), lambda a, b, out: (a[..., ::2], b[:, ::2], out),
        lambda a, b, out: (a[::-1], b, out), lambda a, b, out: (a, b, out[..., ::-1]),
        lambda a, b, out: (a[..., :0], b[:, :0], out),
        lambda a, b, out: (a, b, np.broadcast_to(out[:1], out.shape)),
        lambda a, b, out: (np.broadcast_to(a[:, :1], a.shape), b, out),
        lambda a, b, out: (*(x.astype("int64") for x in (a, b)), out),
        lambda a, b, out: (*(x[None] for x in (a, b)), out[None]),
    ],
)  # fmt: skip
def test_what_blas_cannot_read_is_left_to_the_kernel(change):
    a, b, out = change(made((3, 2, 4), float), made((3, 4, 3), float), np.zeros((3, 2, 3)))
    assert blas.gemm(product_of(a, b, out), a.dtype) is None


def test_each_stream_has_a_handle():
    library = Products()
    found = blas.Blas(library, lambda pointers, stream: (pointers, stream))
    a, b, out = made((2, 3), float), made((3, 2), float), np.zeros((2, 2))
    gemm = blas.gemm(product_of(a, b, out), a.dtype)
    for stream in (5, 6, 5):
        found.multiply(gemm, gemm.places, stream)
    assert library.streams == [(101, 5), (102, 6), (101, 5)]


def test_the_library_is_optional(monkeypatch):
    def missing():
        raise RuntimeError("cuBLAS is not found")

    monkeypatch.setitem(sys.modules, "nvmath", SimpleNamespace())
    for cublas, is_there in ((None, False), (missing, False), (lambda: 13040, True)):
        module = SimpleNamespace(cublas=SimpleNamespace(get_cudart_version=cublas))
        monkeypatch.setitem(sys.modules, "nvmath.bindings", module if cublas else None)
        assert (blas.found(lambda pointers, stream: pointers) is not None) == is_there


def test_the_library_is_called_as_it_declares():
    require_declared(pytest.importorskip("nvmath.bindings.cublas"), Products)


def test_a_program_calls_the_library_where_the_spec_leaves_it_to_one(monkeypatch):
    """Complex products do; the bits of real ones are promised."""
    given = []
    library = SimpleNamespace(multiply=lambda gemm, pointers, _: given.append((gemm, pointers)))
    monkeypatch.setattr(TARGET.runtime.driver, "blas", library)
    for dtype, calls in (("complex64", 1), ("float32", 0), ("int64", 0)):
        given.clear()
        on_device(program_of(lambda x, y: x @ y, made((2, 3), dtype), made((3, 4), dtype)))
        assert len(given) == calls
    on_device(program_of(lambda x, y: x @ y, made((2, 3), "D"), made((3, 4), "D")))
    gemm, pointers = given[0]
    assert gemm.sizes == (0, 0, 4, 2, 3)
    assert all(offset >= 0 for _, offset in pointers)


@pytest.fixture
def library(monkeypatch):
    """Let the device have a library, carried out in NumPy; the setting is as it was afterwards."""
    products = Products()
    driver = ng.cuda.current_stream()._runtime.driver
    monkeypatch.setattr(driver, "blas", blas.Blas(products, resolved))
    before = ng.get_flags("cublas")
    yield products
    ng.set_flags(**before)


DTYPES = {"float32": 1e-5, "float64": 1e-12, "complex64": 1e-5, "complex128": 1e-12}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("choice", ["auto", "always", "never"])
def test_the_setting_chooses_the_products_for_the_library(choice, dtype, library):
    ng.set_flags(cublas=choice)
    is_used = choice == "always" or (choice == "auto" and dtype.startswith("complex"))
    for a, b in (
        (made((3, 4), dtype), made((4, 5), dtype)),
        (made((2, 3, 4), dtype), made((2, 4, 5), dtype)),
        (made((2, 4, 3), dtype).mT, made((5, 4), dtype).T),
        (made((6, 4), dtype), made((4,), dtype)),
    ):
        library.sizes.clear()
        found = ng.tensor(a, device="cuda") @ ng.tensor(b, device="cuda")
        assert len(library.sizes) == is_used
        np.testing.assert_allclose(found.cpu().numpy(), a @ b, DTYPES[dtype], DTYPES[dtype])


def test_gradients_and_captured_functions_follow_the_setting(library):
    """Each choice takes what was made under another one no longer, and has the same gradients."""
    a, b = made((3, 4), "float64"), made((4, 5), "float64")
    seeds = made((2, 3, 5), "float64")

    def function(x, y):
        return ng.tanh(x @ y)

    captured = ng.jit(function)
    expected = None
    for choice in ("auto", "always", "never", "always", "auto"):
        ng.set_flags(cublas=choice)
        for _ in range(3):
            library.sizes.clear()
            x, y = (ng.tensor(m, device="cuda", requires_grad=True) for m in (a, b))
            for call in (function, captured):
                gradients = ng.grad(
                    call(x, y), [x, y], ng.tensor(seeds, device="cuda"), is_grads_batched=True
                )
                found = [g.cpu().numpy() for g in gradients]
                expected = expected or found
                for one, other in zip(found, expected, strict=True):
                    np.testing.assert_allclose(one, other, 1e-12)
            assert bool(library.sizes) == (choice == "always")
            assert len(library.sizes) >= 6 or not library.sizes  # three of each call and its pass


def test_an_unknown_choice_is_an_error():
    with pytest.raises(ValueError, match="cublas must be one of auto, always, never"):
        ng.set_flags(cublas="sometimes")
