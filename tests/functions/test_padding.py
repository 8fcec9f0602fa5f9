"""Padding: NumPy's modes and options, their gradients, and what is refused."""

import numpy as np
import pytest

import numgrad as ng

from .numpy_calls import check_call, check_gradients

X = np.array([[3.0, -1.5, 2.25, 0.5], [0.75, 4.0, -2.0, 1.0]])
STATISTICS = ["maximum", "mean", "median", "minimum"]
OPTIONS = {
    "constant": [{}, {"constant_values": (1, 2)}], "edge": [{}], "wrap": [{}],
    "reflect": [{}, {"reflect_type": "even"}, {"reflect_type": "odd"}],
    "symmetric": [{}, {"reflect_type": "odd"}],
    "linear_ramp": [{}, {"end_values": ((2, -1), (0, 3.5))}],
    **{mode: [{}, {"stat_length": (2, 3)}, {"stat_length": 9}] for mode in STATISTICS},
}  # fmt: skip
CASES = [(mode, options) for mode, all_of in OPTIONS.items() for options in all_of]


@pytest.mark.parametrize("width", [0, 1, ((2, 0), (0, 3)), ((7, 5), (11, 2))])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_modes_and_options_are_those_of_numpy(case, width):
    mode, options = case
    for x in (X, (4 * X).astype(np.int64), X.astype(np.float32), X[:1]):
        check_call(lambda library, x: library.pad(x, width, mode, **options), x)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients(case):
    mode, options = case
    call = lambda library, x: library.pad(x, ((2, 3), (1, 5)), mode, **options)  # noqa: E731
    check_gradients(call, X)
    rows = ng.func.vmap(lambda x: call(ng, x))(np.stack([X, X + 1]))
    np.testing.assert_allclose(rows, [call(np, X), call(np, X + 1)], 1e-12)


def test_what_is_empty_may_hold_anything_and_has_no_gradient():
    x = ng.tensor(X, requires_grad=True)
    y = ng.pad(x, 1, "empty")
    np.testing.assert_array_equal(y.detach().numpy()[1:-1, 1:-1], X)
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), np.ones_like(X))


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
            library.pad(ng.tensor(X), 1, mode, **options)
    with pytest.raises(ValueError, match="has no elements"):
        ng.pad(ng.zeros((0, 2)), 1, "mean")
    with pytest.raises(ValueError, match="mode must be one of"):
        ng.pad(ng.tensor(X), 1, lambda *args: None)
