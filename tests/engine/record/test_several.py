"""Operators with several results have plans, with the results and the graph of the general way."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry

RNG = np.random.default_rng(5)
MATRIX = RNG.normal(size=(3, 3))
SYMMETRIC = MATRIX @ MATRIX.T + np.diag([1.0, 2.0, 3.0])
STACK = RNG.normal(size=(2, 3, 3))

FUNCTIONS = {
    "eigh": lambda x: ng.linalg.eigh(x @ x.mT),
    "svd": lambda x: ng.linalg.svd(x, full_matrices=False),
    "qr": ng.linalg.qr,
    "slogdet": ng.linalg.slogdet,
    "eig": ng.linalg.eig,
    "det": lambda x: (ng.linalg.det(x),),
    "split": lambda x: ng.split(x * x, [1, 2]),
    "array_split": lambda x: ng.array_split(x * x, 2, axis=-1),
    "unstack": lambda x: ng.unstack(x * x, axis=-1),
    "modf": lambda x: ng.modf(3 * x),
    "frexp": lambda x: ng.frexp(x),
    "meshgrid": lambda x: ng.meshgrid(x[..., 0, :], x[..., 1, :], indexing="ij")
    if x.ndim == 2
    else [x],
}


def total(results):
    """Return a number that depends on all results but integers."""
    parts = [ng.sum(ng.abs(y) ** 2) for y in results if y.dtype.kind in "fc"]
    return sum(parts[1:], parts[0])


def derivatives(function, array):
    x = ng.tensor(array, requires_grad=True)
    results = function(x)
    (gx,) = ng.grad(total(results), x, create_graph=True)
    second = ng.grad(ng.sum(gx * gx), x, allow_unused=True)[0]
    found = [*results, gx] + ([] if second is None else [second])
    return [y.detach().numpy() for y in found], len(results)


@pytest.mark.parametrize("array", [MATRIX, STACK, np.asfortranarray(MATRIX)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_later_calls_have_the_bits_of_the_first(name, array):
    first, count = derivatives(FUNCTIONS[name], array)
    for _ in range(4):
        later, _ = derivatives(FUNCTIONS[name], array)
        for one, other in zip(first, later, strict=True):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()
        assert [y.strides for y in first[:count]] == [y.strides for y in later[:count]]


@pytest.mark.short_ways
@pytest.mark.parametrize("name", ["eigh", "svd", "slogdet", "qr"])
def test_there_is_a_plan_at_the_third_call(name, monkeypatch):
    x = ng.tensor(SYMMETRIC, requires_grad=True)
    function = getattr(ng.linalg, name)
    for _ in range(3):
        function(x)
    operator = registry[name]
    monkeypatch.setattr(type(operator), "infer", None)  # the general way would ask
    monkeypatch.setattr(type(operator), "saves", None)
    results = function(x)
    kinds = [y.node.kind for y in results if y.requires_grad]
    assert kinds
    assert all(kind is kinds[0] and kind.has_plan for kind in kinds)
    assert len(kinds[0].outputs) == operator.nout


@pytest.mark.parametrize("name", ["eigh", "svd", "qr"])
def test_a_stack_has_the_bits_of_its_matrices(name):
    function = getattr(ng.linalg, name)
    for _ in range(4):
        together = function(ng.tensor(STACK))
        alone = [function(ng.tensor(a)) for a in STACK]
        for n, y in enumerate(together):
            for k, results in enumerate(alone):
                assert y[k].numpy().tobytes() == results[n].numpy().tobytes()


def test_results_know_the_users_line():
    x = ng.tensor(SYMMETRIC, requires_grad=True)
    for _ in range(4):
        w, v = ng.linalg.eigh(x)
    assert w.node is v.node
    assert (w.slot, v.slot) == (0, 1)
    assert "test_several.py" in w.node.where()


def test_without_gradients_there_is_no_node():
    x = ng.tensor(SYMMETRIC, requires_grad=True)
    for _ in range(4):
        with ng.no_grad():
            w, v = ng.linalg.eigh(x)
        assert not w.requires_grad
        assert not v.requires_grad
    sign, size = ng.linalg.slogdet(ng.tensor(SYMMETRIC))
    assert not sign.requires_grad
    assert size.is_scalar


def test_a_saved_result_that_was_written_keeps_its_elements():
    def gradient(writes):
        x = ng.tensor(SYMMETRIC, requires_grad=True)
        for _ in range(4):
            w, v = ng.linalg.eigh(x)
        loss = ng.sum(w * w)
        if writes:
            v.detach()[0] = 7.0
        return ng.grad(loss, x)[0].numpy()

    assert gradient(False).tobytes() == gradient(True).tobytes()


def test_an_operand_that_is_a_view_of_a_written_array():
    for _ in range(4):
        base = ng.tensor(np.stack([SYMMETRIC, MATRIX]), requires_grad=True) * 1.0
        view = base[0]
        base[0, 0, 0] = 9.0
        w, _ = ng.linalg.eigh(view)
    expected = SYMMETRIC.copy()
    expected[0, 0] = 9.0
    np.testing.assert_allclose(w.detach().numpy(), np.linalg.eigvalsh(expected))


def test_errors_are_those_of_the_general_way():
    bad = np.full((3, 3), np.nan)
    for _ in range(4):
        with pytest.raises(np.linalg.LinAlgError, match="svd"):
            ng.linalg.svd(ng.tensor(bad))
    for _ in range(4):
        with pytest.raises(ValueError, match="equal parts"):
            ng.split(ng.tensor([1.0, 2.0, 3.0]), 2)
