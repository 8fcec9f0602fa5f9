"""Padding: NumPy's numbers in all modes, and the derivatives of what is added."""

import numpy as np
import pytest

import numgrad as ng

from ..numpy_calls import cases, check_call, check_gradients

RNG = np.random.default_rng(5)
V, M = RNG.normal(size=4), RNG.normal(size=(3, 4))
ARRAYS = {
    "vector": V, "matrix": M, "single": V[:1], "two": V[:2], "narrow": M.astype(np.float32),
    "integers": np.arange(12).reshape(3, 4) ** 2, "none": np.zeros((2, 0)),
}  # fmt: skip
WIDTHS = [0, 1, (1, 2), (5, 0), 13]
MODES = [
    {"mode": "constant", "constant_values": (1, 2)},
    {"mode": "edge"},
    {"mode": "wrap"},
    {"mode": "linear_ramp"},
    {"mode": "linear_ramp", "end_values": (3, -1.5)},
    *[{"mode": m} for m in ("maximum", "minimum", "mean", "median")],
    *[{"mode": m, "stat_length": (1, 3)} for m in ("maximum", "mean", "median")],
    *[{"mode": m, "reflect_type": t} for m in ("reflect", "symmetric") for t in ("even", "odd")],
    {"mode": "edge", "end_values": 2},
]


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("options", MODES, ids=str)
def test_every_mode_equals_numpy(array, options):
    for width in WIDTHS:
        check_call(lambda np, x, width=width: np.pad(x, width, **options), array)


PAIRS = [((1, 2), (0, 3)), {1: 2}, {0: (1, 0), -1: 1}]


@pytest.mark.parametrize("width", PAIRS, ids=str)
def test_each_axis_has_its_own_numbers(width):
    ends = ((1, 2), (3, 4))
    check_call(lambda np, x: np.pad(x, width, "linear_ramp", end_values=ends), M)
    check_call(lambda np, x: np.pad(x, width, "median", stat_length=ends), M)
    check_call(lambda np, x: np.pad(x, width, constant_values=ends), M)
    check_call(lambda np, x: np.pad(x, 1, "minimum", stat_length=0), M)


ADDED = {
    "constant": lambda np, x, a: np.pad(x, 1, constant_values=a),
    "two constants": lambda np, x, a: np.pad(x, 1, constant_values=(a, 1)),
    "own constants": lambda np, x, a: np.pad(x, (1, 2), constant_values=((a, 1), (2, a * a))),
    "ramp": lambda np, x, a: np.pad(x, (2, 1), mode="linear_ramp", end_values=(0, a)),
    "mean": lambda np, x, a: np.pad(x, 2, "mean", stat_length=2) * a,
    "median": lambda np, x, a: np.pad(x, 2, "median"),
    "maximum": lambda np, x, a: np.pad(x, 2, "maximum"),
    "turned": lambda np, x, a: np.pad(x, 7, "reflect", reflect_type="odd"),
    "turned with the edge": lambda np, x, a: np.pad(x, 6, "symmetric", reflect_type="odd"),
}


@cases(ADDED)
def test_what_is_added_has_derivatives(call):
    a = np.array(0.7)
    check_gradients(call, M, a)
    gradient = ng.func.grad(lambda x, a: (call(np, x, a) ** 2).sum(), argnums=(0, 1))
    both = ng.func.vmap(gradient)(np.stack([M, 2 * M]), np.stack([a, a]))
    for rows, expected in zip(both, gradient(2 * M, a), strict=True):
        np.testing.assert_allclose(rows[1], expected, 1e-12)
    for found, expected in zip(ng.jit(gradient)(M, a), gradient(M, a), strict=True):
        np.testing.assert_allclose(found, expected, 1e-12)


def test_a_function_is_no_mode():
    with pytest.raises(TypeError, match="pad takes no function"):
        ng.pad(V, 1, lambda *args: None)


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("edge", {"constant_values": 1.0}), ("constant", {"end_values": 1.0}), ("mirror", {}),
        ("reflect", {"reflect_type": "other"}), ("maximum", {"stat_length": 0}),
    ],
)  # fmt: skip
def test_what_numpy_refuses_is_refused(mode, options):
    for library in (np, ng):
        with pytest.raises(ValueError, match="pad"):
            library.pad(ng.tensor(M), 1, mode, **options)
