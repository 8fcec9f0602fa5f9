"""Copies of a tensor, and its exchange with other libraries."""

import copy
import math
import pickle

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import DetachedError

LEFT = np.array([[1.5, -2.0, 3.0], [4.0, 0.5, 2.5]])


def leaf(data, dtype=None):
    return ng.tensor(data, dtype=dtype, requires_grad=True)


def same(result, expected):
    assert isinstance(result, ng.Tensor)
    expected = np.asarray(expected)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-14)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("array", [LEFT, LEFT.T, np.float32(2), np.zeros((0, 2)), np.arange(3)])
def test_pickle_of_a_leaf(array, protocol):
    x = ng.tensor(array)
    y = pickle.loads(pickle.dumps(x, protocol))
    same(y, array)
    assert not y.requires_grad
    x = leaf([1.0])
    assert pickle.loads(pickle.dumps(x, protocol)).requires_grad


def test_pickle_of_a_part_holds_only_the_part():
    part = ng.tensor(np.zeros(10_000))[:2]
    assert len(pickle.dumps(part)) < 1000


def test_deepcopy_of_a_leaf_is_independent():
    x = leaf([1.0, 2.0])
    x.grad = ng.tensor([3.0, 4.0])
    pair = copy.deepcopy([x, x])
    assert pair[0] is pair[1]
    y = pair[0]
    assert y is not x
    assert y.requires_grad
    assert y.is_leaf
    assert y.grad is not x.grad
    same(y.grad, [3.0, 4.0])
    assert not np.shares_memory(y.detach().numpy(), x.detach().numpy())


@pytest.mark.parametrize("copier", [copy.deepcopy, pickle.dumps])
def test_only_leaves_leave_the_graph(copier):
    with pytest.raises(DetachedError, match="leaf"):
        copier(leaf([1.0]) * 2)
    copier((leaf([1.0]) * 2).detach())


def test_copy_stays_in_the_graph():
    x = leaf([1.0, 2.0])
    y = copy.copy(x)
    assert y is not x
    same(ng.grad(y.sum(), x)[0], [1.0, 1.0])


def test_a_tensor_that_requires_grad_becomes_no_array():
    x = leaf([1.0, 2.0])
    for leave in (np.asarray, np.array, np.from_dlpack, math.exp, lambda t: np.linalg.norm([t, t])):
        with pytest.raises(DetachedError, match="detach"):
            leave(x)


@pytest.mark.host_only("NumPy reads the memory")
def test_dlpack_marks_the_memory_read_only():
    x = ng.tensor([1.0, 2.0])
    array = np.from_dlpack(x)
    assert array.tolist() == [1.0, 2.0]
    assert not array.flags.writeable
    assert x.__dlpack_device__() == (1, 0)
    for capsule in (x.__dlpack__(), x.__dlpack__(copy=False)):  # to consumers before DLPack 1.0
        assert '"dltensor"' in repr(capsule)


@pytest.mark.host_only("is about the name of the processor")
def test_namespace_and_device():
    x = ng.tensor([1.0])
    assert x.__array_namespace__() is ng
    assert x.__array_namespace__(api_version="2025.12") is ng
    assert x.__array_namespace__(api_version="2024.12") is ng
    with pytest.raises(ValueError, match="1999"):
        x.__array_namespace__(api_version="1999")
    assert x.device == "cpu"
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="cuda"):
        x.to_device("cuda")
