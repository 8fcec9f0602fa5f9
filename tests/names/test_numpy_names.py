"""NumPy's names that numgrad does not have itself, where it is imported as ``np``."""

import functools
import subprocess
import sys

import numpy
import pytest

import numgrad as np


def simulated(np, x):
    """A program that draws, tabulates and iterates with what is NumPy's own."""
    rng = np.random.default_rng(3)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    total = (weights * np.exp(x[0] * nodes)).sum()
    for i in np.nditer(np.random.RandomState(0).permutation(2)):
        total = total + x[int(i)] ** 2 * rng.standard_normal()
    np.testing.assert_allclose(nodes.sum(), 0.0, atol=1e-14)
    return total if np.True_ else x


def test_programs_use_what_is_numpys_own():
    x = numpy.array([0.3, 0.8])
    value, slope = np.func.value_and_grad(lambda x: simulated(np, x))(x)
    numpy.testing.assert_allclose(value, simulated(numpy, x), rtol=1e-14)
    steps = 1e-30j * numpy.eye(2)
    expected = [simulated(numpy, x + step).imag / 1e-30 for step in steps]
    numpy.testing.assert_allclose(slope, expected, rtol=1e-13)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: list(np.nditer(x)),
        lambda x: np.broadcast(x, x),
        lambda x: np.ma.array(x),
        lambda x: np.polynomial.polyutils.trimcoef(x),
        lambda x: np.random.default_rng(0).normal(x),
        lambda x: np.special.factorial2(x),
        lambda x: np.linalg.ldl(x[:, None] * x),
        lambda x: np.fft.fht(x, 0.1, 0.0),
        lambda x: np.stats.johnsonsu.logpdf(x, 0.1, 1.0),
    ],
)
def test_they_refuse_tensors_that_require_grad(call):
    with pytest.raises((np.errors.DetachedError, ValueError)) as caught:
        call(np.tensor([1.0, 2.0], requires_grad=True))
    errors = caught.value, caught.value.__cause__
    assert any(isinstance(error, np.errors.DetachedError) for error in errors)


def test_what_is_scipys_own():
    assert np.special.factorial2(6) == 48.0
    assert np.special.jn_zeros(0, 1)[0] == pytest.approx(2.404825557695773)
    assert np.linalg.pascal(3)[2, 2] == 6
    assert np.fft.prev_fast_len(17) == 16
    assert np.stats.rankdata([3.0, 1.0, 2.0]).tolist() == [3, 1, 2]
    x = numpy.array([0.3, 0.8])
    slope = np.func.grad(lambda x: (x**3 / np.special.factorial(3)).sum())(x)
    numpy.testing.assert_allclose(slope, x**2 / 2)


@pytest.mark.parametrize(
    "module", [np, np.random, np.testing, np.special, np.linalg, np.fft, np.stats]
)
@pytest.mark.parametrize("name", ["nothing", "_arg", "__path_of__"])
def test_other_names_are_nobodys(module, name):
    with pytest.raises(AttributeError, match=f"numgrad.* has no attribute '{name}'"):
        getattr(module, name)


def test_what_numpy_has_removed_is_said_in_its_words():
    with pytest.raises(AttributeError, match=r"numgrad.*Use `np\.float64`"):
        np.float_  # noqa: B018


class Standardizer:
    """Checks its data as programs do, which may come from NumPy or have been made on the way."""

    def transform(self, data):
        if not isinstance(data, np.ndarray):
            raise TypeError(f"an array is needed, not {type(data).__name__}")
        if type(data) == np.ndarray or data.dtype.kind == "f":  # noqa: E721  what programs write
            out = np.ndarray(data.shape, dtype=data.dtype)
            out[:] = (data - data.mean(axis=0)) / np.ndarray.std(np.asarray(data), axis=0)
        return out


def test_arrays_of_both_libraries_are_instances_of_the_class_of_arrays():
    data = numpy.array([[1.0, 2.0], [3.0, 1.0], [0.5, 4.0]])
    expected = (data - data.mean(axis=0)) / data.std(axis=0)
    transform = Standardizer().transform
    for given in (data, np.tensor(data)):
        numpy.testing.assert_allclose(transform(given).numpy(), expected, rtol=1e-14)
    numpy.testing.assert_allclose(np.jit(transform)(data), expected, rtol=1e-14)
    weights, step = numpy.cos(data), 1e-6 * numpy.sin(data)
    slopes = np.func.grad(lambda x: (transform(x) * weights).sum())(data)
    ends = [(transform(x).numpy() * weights).sum() for x in (data + step, data - step)]
    numpy.testing.assert_allclose((slopes * step).sum(), (ends[0] - ends[1]) / 2, rtol=1e-7)
    with pytest.raises(TypeError, match="not list"):
        transform([1.0])


def test_the_class_of_arrays_stands_for_that_of_tensors():
    made = np.ndarray((2, 3), "float32", order="F")
    assert (made.shape, made.dtype, made.flags["F_CONTIGUOUS"]) == ((2, 3), numpy.float32, True)
    assert {np.Tensor: 1}[np.ndarray] == 1
    kinds = np.Tensor, numpy.ndarray, list
    assert [issubclass(kind, np.ndarray) for kind in kinds] == [True, True, False]
    assert not isinstance(2.0, np.ndarray)
    assert np.tensor([1.0]).view(np.ndarray).tolist() == [1.0]
    kind = functools.singledispatch(lambda x: "other")
    kind.register(np.ndarray)(lambda x: "array")
    assert [kind(x) for x in (np.ones(1), numpy.ones(1), 1.0)] == ["array", "array", "other"]
    with pytest.raises(TypeError, match="class Field: no classes derive"):
        type(np.ndarray)("Field", (np.ndarray,), {})


def test_modules_that_are_imported_when_they_are_used_are_listed():
    code = "import numgrad, sys; print([n for n in sys.argv[1:] if n not in dir(numgrad)])"
    names = ["display", "fft", "polynomial", "random", "stats", "testing", "linalg", "sin"]
    found = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, check=True)
    assert found.stdout.split() == [b"[]"]
