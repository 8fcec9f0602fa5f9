"""Indices that a device reads: checks, sums in the order of the processor, what is overwritten."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._tensor import Tensor
from numgrad.targets.cuda.kernels import element_walk
from numgrad.targets.cuda.launch.steps import HostCall

RNG = np.random.default_rng(11)
X = RNG.standard_normal((3, 5, 2))
INDEX = np.array([0, 2, -1, 2, 2, 0, 4, 3, 1])
OTHER = np.array([[1], [0]])


@pytest.fixture
def no_copies(monkeypatch):
    """Nothing that has no derivative is copied to the host."""
    before = Tensor._on_host

    def refuse(tensor):
        assert tensor.device == "cpu" or tensor.dtype.kind not in "iu"
        return before(tensor)

    monkeypatch.setattr(Tensor, "_on_host", refuse)


def written(key):
    def function(x, i, j):
        y = x * 1.0
        y[key(i)] = 2.0 * x[key(i - 1)]
        return y

    return function


READS = {
    "x[:, i]": lambda x, i, j: x[:, i],
    "x[j]": lambda x, i, j: x[j],
    "x[j, i]": lambda x, i, j: x[j, i],
    "x[i % 3, :, 1]": lambda x, i, j: x[i % 3, :, 1],
    "x[..., j]": lambda x, i, j: x[..., j],
    "x[arange, i]": lambda x, i, j: x[np.arange(9) % 3, i],
    "x[:, i, None]": lambda x, i, j: x[:, i, None],
    "int8": lambda x, i, j: x[:, i.astype("int8")],
    "none": lambda x, i, j: x[:, i[:0]],
    "take": lambda x, i, j: ng.take(x, i, axis=1),
    "take of all": lambda x, i, j: ng.take(x, i),
    "take_along_axis": lambda x, i, j: ng.take_along_axis(x, ng.reshape(i, (1, 9, 1)), axis=1),
    "written": written(lambda i: (slice(None), i)),
    "written at two": written(lambda i: (i % 3, i)),
}  # fmt: skip


def everything(function, device):
    x = ng.tensor(X, device=device, requires_grad=True)
    i, j = ng.tensor(INDEX, device=device), ng.tensor(OTHER, device=device)
    y = function(x, i, j)
    seeds = np.random.default_rng(2).standard_normal((3, *y.shape))
    found = [y, *ng.grad(y, x, seeds, is_grads_batched=True, retain_graph=True)]
    (first,) = ng.grad((y * y).sum(), x, create_graph=True)
    found += [first, *ng.grad((first * first).sum(), x)]
    with ng.no_grad():
        found.append(function(x.detach(), i, j))
    assert {v.device for v in found} == {x.device}
    return [v.detach().cpu().numpy() for v in found]


@pytest.mark.parametrize("name", READS)
def test_indices_are_read_where_they_are(name, no_copies):
    expected = everything(READS[name], "cpu")
    for function in (READS[name], ng.jit(READS[name])):
        for found, other in zip(everything(function, "cuda"), expected, strict=True):
            np.testing.assert_array_equal(found, other)  # sums too have the same bits


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_sums_of_many_terms_at_one_position_have_all_digits(dtype):
    g = np.random.default_rng(3).uniform(0, 1, 3000).astype(dtype)
    x = ng.tensor(np.zeros(2, dtype), device="cuda", requires_grad=True)
    i = ng.tensor(np.where(np.arange(3000) % 100 == 5, 0, 1), device="cuda")
    seeds = ng.tensor(g, device="cuda")
    found = ng.grad(x[i], x, grad_outputs=seeds)[0].cpu().numpy()
    wanted = [g[5::100].sum(dtype=complex), np.delete(g, np.s_[5::100]).sum(dtype=complex)]
    np.testing.assert_allclose(found, wanted, 2e-7)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex64"])
def test_elements_of_all_dtypes_are_moved(dtype):
    values = (10 * X).astype(dtype)
    put = (10 * RNG.standard_normal((3, 9, 2))).astype(dtype)
    found = []
    for device in ("cpu", "cuda"):
        x, i = ng.tensor(values, device=device), ng.tensor(INDEX, device=device)
        y = x.clone()
        y[:, i] = put
        found += [y.cpu().numpy(), x[:, i].cpu().numpy()]
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])


def test_positions_differ_from_row_to_row():
    indices = RNG.integers(0, 5, (4, 9))

    def function(x, i):
        y = x[i]
        return y.sum(0) + ng.func.grad(lambda v: (v[i] ** 2).sum())(x)

    f = ng.jit(function, ensemble=True)
    x = RNG.standard_normal((4, 5, 2))
    expected = f(ng.tensor(x), ng.tensor(indices)).numpy()
    found = f(ng.tensor(x, device="cuda"), ng.tensor(indices, device="cuda"))
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


def test_more_elements_than_32_bits_number_are_indexed_in_64(monkeypatch):
    monkeypatch.setattr(element_walk, "WIDE", 4)
    for found, other in zip(
        everything(READS["written"], "cuda"), everything(READS["written"], "cpu"), strict=True
    ):
        np.testing.assert_array_equal(found, other)


# The check ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [[0, 5], [1, -6, 9], [7, 0]])
def test_errors_of_programs_are_those_of_the_processor(wrong):
    f = ng.jit(lambda x, i: ng.exp(ng.sin(x)[:, i + 0]).sum(0))
    said = []
    for device in ("cpu", "cuda", "cuda"):
        x = ng.tensor(X, device=device)
        with pytest.raises(IndexError, match="out of bounds for axis 1 with size 5") as raised:
            f(x, ng.tensor(wrong, device=device))
        said.append(str(raised.value))
        f(x, ng.tensor([1] * len(wrong), device=device))  # which hears nothing of it
    assert said[0] == said[1] == said[2]


@pytest.mark.parametrize("function", [
    lambda x, i: x[:, i], lambda x, i: ng.take(x, i, axis=1), lambda x, i: (x * 1)[i],
    lambda x, i: ng.zeros((0, 3), device=x.device)[i],
])  # fmt: skip
@pytest.mark.parametrize("requires_grad", [False, True])
def test_indices_out_of_bounds(function, requires_grad):
    x = ng.tensor(X, device="cuda", requires_grad=requires_grad)
    with pytest.raises(IndexError, match="out of bounds for axis"):
        function(x, ng.tensor([5, -6], device="cuda"))


def test_nothing_is_written_where_an_index_is_out_of_bounds():
    x = ng.tensor(X, device="cuda")
    with pytest.raises(IndexError, match="out of bounds for axis 1"):
        x[:, ng.tensor([0, 5], device="cuda")] = 1.0
    np.testing.assert_array_equal(x.cpu().numpy(), X)


def test_the_first_of_several_errors_is_raised():
    f = ng.jit(lambda x, i: ng.linalg.inv(x[i]))
    singular = np.zeros((2, 2, 2))
    for device in ("cpu", "cuda"):
        with pytest.raises(IndexError, match="index 2 is out of bounds"):
            f(ng.tensor(singular, device=device), ng.tensor([0, 2], device=device))


def test_a_program_reads_its_flag_once_and_only_where_there_is_a_check(monkeypatch):
    reads = []
    x = ng.tensor(X, device="cuda")
    runtime = x.array.target.runtime
    before = runtime.read
    monkeypatch.setattr(runtime, "read", lambda *a: reads.append(a) or before(*a))
    i, j = ng.tensor(INDEX, device="cuda"), ng.tensor(INDEX % 3, device="cuda")
    f, g = ng.jit(lambda x, i, j: x[j, i] + x[j, i - 1]), ng.jit(ng.sin)
    f(x, i, j)
    g(x)
    assert len(reads) == 1


def test_no_index_is_taken_to_the_host(monkeypatch):
    monkeypatch.setattr(HostCall, "run", None)
    x, i = ng.tensor(X, device="cuda", requires_grad=True), ng.tensor(INDEX, device="cuda")
    y = x * 1.0
    y[:, i] = 3.0 * x[:, i]
    ng.grad(y.sum(), x)


def test_indices_and_what_they_index_may_be_on_different_devices():
    for here, there in (("cpu", "cuda"), ("cuda", "cpu")):
        x = ng.tensor(X, device=here, requires_grad=True)
        y = x[:, ng.tensor(INDEX, device=there)]
        assert y.device == x.device
        np.testing.assert_array_equal(y.detach().cpu().numpy(), X[:, INDEX])
