"""Cumulative sums, products and recurrences along long rows, with several threads for a row: they
have the bits of the processor."""

from functools import partial

import numpy as np
import pytest

import numgrad as ng
from numgrad.operators.reduction import cumulative as operators
from numgrad.targets.cuda.kernels import scanning

from ..programs import TARGET, on_both, program_of, require_equal
from .matrices import made

NAMES = list(scanning.SCANS)
DTYPES = ["float32", "complex128", "int64"]
KINDS = [(n, d) for n in NAMES for d in DTYPES if d != "complex128" or not n.startswith("running")]


@pytest.fixture(params=[(1, 5), (2, 17)], ids=["a row", "two rows"])
def rows(request, monkeypatch):
    """How many rows a block of threads takes, and its threads; tiles are small, and there are never
    enough rows for a thread each."""
    across, threads = request.param
    monkeypatch.setattr(scanning, "_TILE", 256)
    for target in (TARGET, ng.zeros(1, device="cuda").array.target):
        driver = target.runtime.driver
        monkeypatch.setattr(driver, "RESIDENT", 1000, raising=False)
        monkeypatch.setattr(driver, "REDUCING", threads, raising=False)
        monkeypatch.setattr(driver, "PROCESSORS", 1, raising=False)
        monkeypatch.setattr(target, "_prepared", {})
    return across


@pytest.fixture
def forms(monkeypatch):
    """What the kernels of this file are made of, as they are made."""
    found, make = [], scanning.of_rows
    monkeypatch.setattr(scanning, "of_rows", lambda *form: found.append(form) or make(*form))
    return found


def given(name, shape, dtype):
    """Return inputs with zeros of both signs and what is not finite."""
    found = [made(shape, dtype) for _ in scanning.SCANS[name].inputs]
    if np.dtype(dtype).kind in "fc":
        x = found[-1]
        x[0, 0], x[0, 1], x[-1, -1] = -0.0, 0.0, -0.0
        x[1, x.shape[1] // 2] = np.inf
        found[0][0, 0] = found[0][0, -1] = np.nan if len(found) > 1 else -0.0
    return found


def require_bits(pairs):
    require_equal(pairs)
    for found, expected in pairs:
        if found.dtype.kind in "fc":
            for part in ("real", "imag"):
                signs = [np.signbit(getattr(one, part)) for one in (found, expected)]
                known = ~np.isnan(getattr(expected, part))
                np.testing.assert_array_equal(signs[0][known], signs[1][known])


def lies(arrays):
    """Return inputs that lie in several ways."""
    turned = [np.ascontiguousarray(x.T).T for x in arrays]
    shared = [np.broadcast_to(x[:1], x.shape) for x in arrays]
    return arrays, turned, [x[::-1, ::-1] for x in arrays], shared, [x[0] for x in arrays]


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize(("name", "dtype"), KINDS)
def test_rows_have_the_bits_of_the_processor(name, dtype, rows):
    operator = getattr(operators, name)
    for length in (33, 71):
        for arrays in lies(given(name, (3, length), dtype)):
            pairs = on_both(operator, *arrays)
            exact = not (dtype.startswith("complex") and name != "cumulative_sum")
            (require_bits if exact else require_near)(pairs)


@pytest.mark.parametrize("name", NAMES)
def test_columns_of_matrices_have_the_bits_of_the_processor(name, rows, forms):
    for shape in ((3, 4, 5), (40, 2)):
        arrays = given(name, shape[-2:], "float64")
        arrays = [np.array(np.broadcast_to(x, shape)) for x in arrays]
        require_bits(on_both(partial(getattr(operators, name), axis=-2), *arrays))
    assert forms  # columns of 40 elements were long enough for several threads


def require_near(pairs):
    """Products of complex numbers, of whose parts some are not finite, differ in which is NaN."""
    for found, expected in pairs:
        finite = np.isfinite(expected)
        np.testing.assert_allclose(found[finite], expected[finite], 1e-12)
        assert not np.isfinite(found[~finite]).all() or finite.all()


def test_axes_may_be_several(rows):
    x = made((2, 3, 40), "float64")
    for one in (x, x[::-1, ::2, ::-1], x.transpose(1, 0, 2), x[..., :33]):
        require_bits(on_both(operators.cumulative_sum, one))
        require_bits(on_both(operators.recurrence_reversed, one, one))


@pytest.mark.parametrize("name", NAMES)
def test_several_threads_go_along_a_row(name, rows, forms):
    arrays = given(name, (4, 40), "float64")
    TARGET.bind(program_of(getattr(operators, name), *arrays))
    ((*_, across, _),) = forms
    assert across == rows


@pytest.mark.parametrize("axis", [0, 1])
def test_gradients_of_sums_and_products(axis, rows):
    values, found = 1 + 0.1 * made((36, 36), "float64"), []
    for device in ("cpu", "cuda"):
        x = ng.tensor(values, device=device, requires_grad=True)
        y = ng.cumsum(x, axis=axis) * ng.cumprod(x, axis=axis)
        (g,) = ng.grad((y * y).sum(), x, create_graph=True)
        (gg,) = ng.grad((g * g).sum(), x)
        found.append([v.detach().cpu().numpy() for v in (y, g, gg)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, 1e-10)


def test_short_rows_and_very_many_are_left_to_a_thread_each(rows, forms):
    for shape in ((3, 32), (1000, 40), (0, 40)):
        TARGET.bind(program_of(operators.cumulative_sum, np.ones(shape)))
    assert not forms
