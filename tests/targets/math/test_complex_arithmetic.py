"""Arithmetic of complex numbers in kernels: quotients by zero, and of numbers whose squares leave
the range; products that are NumPy's, whatever Python's and Numba's are."""

import itertools
import operator

import numpy as np
import pytest
from numba.core import types
from numba.core.registry import cpu_target

import numgrad as ng
from numgrad.ir.kernel_spec import ElementwiseSpec, FusedSpec, LoopSpec
from numgrad.targets.cpu import CPUTarget
from numgrad.targets.cpu.kernels import generate
from numgrad.targets.cpu.kernels import kernel as kernels
from numgrad.targets.cpu.math import arithmetic
from numgrad.testing.scenarios import SCENARIOS
from numgrad.testing.subject import Subject
from tests.sampling import one_in


def quotient(a, b):
    return a / b


def reciprocal(x):
    return 1 / x


def kernel(function, dtype, count):
    dtype = np.dtype(dtype)
    spec = ElementwiseSpec("arithmetic", function, (dtype,) * count, (dtype,))
    return CPUTarget().kernel(spec).ufunc


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_equals_numpy(dtype):
    rng = np.random.default_rng(1)
    values = (rng.normal(size=(2, 40)) + 1j * rng.normal(size=(2, 40))).astype(dtype)
    a, b = values[0], values[1]
    rtol = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(kernel(quotient, dtype, 2)(a, b), a / b, rtol=rtol)


def test_zero_divisor_gives_infinities_and_later_elements_are_computed():
    b = np.array([2.0, 0.0, 4j, complex(0.0, -0.0), 5.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(kernel(quotient, complex, 2)(1 + 2j, b), (1 + 2j) / b)
    assert np.isinf(kernel(reciprocal, complex, 1)(0j).real)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_large_and_small_divisors(scale):
    b = np.array([3 + 4j, 4 - 3j, -3 + 1j]) * scale
    np.testing.assert_allclose(kernel(reciprocal, complex, 1)(b) * b, np.ones(3), rtol=1e-15)


# Of numbers whose products are exact and none too large: NumPy rounds once or twice, as it likes.
SPECIAL = [0.0, -0.0, 1.0, -1.5, 3.0, np.inf, -np.inf, np.nan]


def squared(a):
    a *= a
    return a


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_products_have_numpys_bits(dtype):
    a, b = np.meshgrid(*[[complex(x, y) for x in SPECIAL for y in SPECIAL]] * 2)
    a, b = a.astype(dtype).ravel(), b.astype(dtype).ravel()
    with np.errstate(all="ignore"):
        expected = [a * b, a * a]
    found = [kernel(lambda a, b: a * b, dtype, 2)(a, b), kernel(squared, dtype, 1)(a)]
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(bits(x), bits(y))
    found = kernel(lambda a: a**2, dtype, 1)(a), kernel(lambda a, b: a**b, dtype, 2)(a, 2 + 0j)
    for x in found:
        np.testing.assert_array_equal(bits(x), bits(expected[1]))


def bits(array):
    """Return real and imaginary parts as integers; one NaN is as good as another."""
    parts = np.stack([array.real, array.imag])
    parts[np.isnan(parts)] = np.nan
    return parts.view(f"u{parts.itemsize}")


@pytest.fixture
def refused(monkeypatch):
    """Numba's own products and powers of complex numbers are not emitted."""
    contexts: type = type(cpu_target.target_context)
    emitted = contexts.get_function

    def get_function(context, function, signature, *args, **options):
        operators = (operator.mul, operator.imul, operator.pow, operator.ipow)
        key = getattr(function, "typing_key", function)
        if key in operators and isinstance(signature.return_type, types.Complex):
            raise AssertionError(f"{key} of {signature}")
        return emitted(context, function, signature, *args, **options)

    monkeypatch.setattr(contexts, "get_function", get_function)


@pytest.mark.usefixtures("refused")
def test_what_no_kernel_may_contain_is_found(monkeypatch):
    monkeypatch.setattr(arithmetic, "_STAND_INS", {})
    dtype = np.dtype(complex)
    spec = ElementwiseSpec("product", lambda a, b: a * b, (dtype,) * 2, (dtype,))
    with pytest.raises(Exception, match="of \\(complex128, complex128\\) -> complex128"):
        generate.elementwise(spec, "numgrad_test", "simd")


@pytest.mark.usefixtures("refused")
@pytest.mark.parametrize("part", one_in(4, range(4)))
def test_no_kernel_has_products_of_numbas(monkeypatch, part):
    """Numba's have other values from Python 3.14 on, and code that LLVM takes ages to optimise."""
    monkeypatch.setattr(kernels, "_kernels", {name: {} for name in kernels._kernels})
    ng.set_flags()  # plans lead past the table, which is to have what is called from here on
    for scenario, dtype in itertools.product(SCENARIOS[part::4], ("complex64", "complex128")):
        if dtype in scenario.dtypes and scenario.order:
            twice(scenario, dtype)
    x = ng.tensor(np.ones(2, np.complex64), requires_grad=True)
    ng.grad(x[np.zeros(1000, int)], x)  # which adds up in another precision
    for name in ("emit_scalar", "emit_kernel"):  # what is emitted is checked, and not optimised
        monkeypatch.setattr(generate, name, lambda *args, **options: None)
    compiled = 0
    for spec in {spec.identity: spec for spec in steps(kernels.specs())}.values():
        if any(dtype.kind == "c" for dtype in spec.in_dtypes):
            function = generate.loop if isinstance(spec, LoopSpec) else generate.elementwise
            more = () if isinstance(spec, LoopSpec) else ("simd",)
            function(spec, f"numgrad_test{compiled}", *more)
            compiled += 1
    assert compiled >= 13


def steps(specs):
    """Yield what is compiled of Python functions, the operators of fused kernels one by one."""
    for spec in specs:
        parts = [step for step, _ in spec.steps] if isinstance(spec, FusedSpec) else [spec]
        kinds = ElementwiseSpec | LoopSpec
        yield from (part for part in parts if isinstance(part, kinds) and ours(part))


def ours(spec):
    """Whether a kernel is numgrad's: users' are in the table too, if other tests ran before."""
    return str(getattr(spec.function, "__module__", None)).startswith("numgrad.")


def twice(scenario, dtype):
    """Evaluate a scenario, its gradient and the gradient of that."""
    subject = Subject(scenario.function, scenario.at(scenario.points[0], dtype), scenario.name)
    variables, outputs = subject.call()
    for _ in range(2):
        live = [o for o in outputs if o.requires_grad]
        if not live:
            return
        seeds = [np.ones(o.shape, o.dtype) for o in live]
        options = {"create_graph": True, "allow_unused": True, "materialize_grads": True}
        outputs = ng.grad(live, variables, seeds, **options)


@pytest.mark.parametrize("fuse", ["now", "auto"])
def test_a_second_derivative_of_complex_numbers_is_fused(fuse):
    def slope(z):
        return ng.real(ng.sum(ng.func.grad(lambda z: np.abs(z).sum())(z) * (0.3 - 0.7j)))

    captured, z = ng.jit(ng.func.grad(slope), fuse=fuse), np.array(1 + 2j)
    found = [captured(z) for _ in range(3000)][-1]
    # The gradient of |z| is z / |z|. That of Re(w z / |z|) is conj(w) / |z| less its part along z.
    w, unit = 0.3 + 0.7j, z / abs(z)
    expected = (w - (w * unit.conj()).real * unit) / abs(z)
    np.testing.assert_allclose(found, expected, 1e-14)
