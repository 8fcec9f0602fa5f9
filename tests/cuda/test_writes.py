"""Writes into tensors on a device: what the processor does with the same program is expected."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import CaptureError, DeviceError, DtypeError, InplaceError, LeafInplaceError
from numgrad.ir.device_array import DeviceArray

X = np.arange(12.0).reshape(3, 4) / 4 - 1
MASK = X % 0.75 > 0.2
KEYS = [
    0, slice(1, None), ..., (slice(None, None, -1), 1), (..., None, 2), (1, 2), None, [0, 2],
    (slice(None), [1, 3]), ([0, 2], [1, 1]), ([0, 0], [3, 3]), MASK, (slice(0, 2), MASK[0]),
    ([[0], [1]], slice(1, 3)), (slice(2, 2),), np.zeros((3, 4), bool),
]  # fmt: skip


def on(device, values, requires_grad=True):
    return ng.tensor(values, requires_grad=requires_grad, device=device)


def held(x):
    return x.detach().cpu().numpy()


def require_alike(function):
    """Require that a function of a device returns tensors of the same numbers on both."""
    pairs = zip(function("cuda:0"), function("cpu"), strict=True)
    for found, expected in pairs:
        assert found.device == "cuda:0"
        assert (found.dtype, found.version) == (expected.dtype, expected.version)
        assert found.requires_grad == expected.requires_grad
        np.testing.assert_array_equal(held(found), held(expected))


def derivatives(result, variables):
    """Return a result with its first and second derivatives, and a batched pass."""
    cotangents = np.random.default_rng(3).standard_normal((2, *result.shape))
    batched = ng.grad(result, variables, cotangents, is_grads_batched=True, retain_graph=True)
    cubes = (result * result * result).sum()
    first = ng.grad(cubes, variables, create_graph=True)
    second = ng.grad(sum((g * g).sum() for g in first), variables)
    return [result, *batched, *first, *second]


# Regions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("whole", [False, True])
def test_values_and_derivatives_of_a_write(key, whole):
    region = X[key]
    w = np.cos(np.arange(region.size) + 1.0).reshape(region.shape) if whole else np.array(0.5)

    def written(device):
        x, v = on(device, X), on(device, w)
        y = x * 2
        y[key] = v * 3
        return derivatives(y, (x, v))

    require_alike(written)


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int16", "complex128", "float16", "bool"])
def test_values_are_converted_and_broadcast(key, dtype):
    def written(device):
        x = on(device, X.astype(dtype), requires_grad=False)
        x[key] = on(device, [1.75], requires_grad=False)
        return [x]

    require_alike(written)


@pytest.mark.parametrize("value", [
    2, 2.5, True, np.float32(1.5), X[0] * 2, X[0].tolist(), ng.tensor(4.0), np.arange(4),
    ng.tensor([1, 2, 3, 4]), ng.asarray(X[1]),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("key", [slice(1, None), [0, 2]], ids=str)
def test_numbers_and_what_is_of_numpy_are_taken_to_the_device(value, key):
    def written(device):
        x = on(device, X)
        y = x * 2
        y[key] = value
        y[:2] *= value
        return derivatives(y, (x,))

    require_alike(written)


def test_views_with_strides_of_all_kinds_are_written():
    def written(device):
        y = on(device, np.zeros((4, 5, 6)), requires_grad=False)
        diagonal = ng.diagonal(y, axis1=0, axis2=2)
        views = [y[::-2, 1:, ::3], y.T, y[1, :, ::-1].T, diagonal, y[..., 0]]
        for n, view in enumerate(views):
            view[...] = np.arange(view.size).reshape(view.shape) + 100 * n
            view += 0.5
        y[..., 1].fill(7)
        return [y, *views]

    require_alike(written)


def test_values_that_overlap_the_region_are_read_before():
    def written(device):
        x = on(device, X)
        results = []
        for write in (
            lambda y: y.__setitem__(slice(1, None), y[:-1]),
            lambda y: y.__setitem__(..., y[::-1]),
            lambda y: y.__iadd__(y[::-1, ::-1]),
            lambda y: y.__setitem__([0, 1], y[1:]),
            lambda y: y[:, 1:].__imul__(y[:, :-1]),
            lambda y: y.__imul__(y),
        ):
            y = x * 1
            write(y)
            results += derivatives(y, (x,))
        return results

    require_alike(written)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "int32", "float16"])
@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow"])
def test_arithmetic_in_place(name, dtype):
    def written(device):
        exact = dtype[0] in "fc"
        x = on(device, (X + 3).astype(dtype), exact)
        v = on(device, np.array([1, 2, 3, 1]).astype(dtype), exact)
        y = x * 1
        getattr(y, f"__{name}__")(v)
        getattr(y[1:], f"__{name}__")(2)
        if not exact or dtype == "float16":
            return [y]
        return [y, *ng.grad((y * y).sum(), (x, v))]

    if dtype == "int32" and name == "itruediv":
        with pytest.raises(DtypeError, match="cannot be written"):
            written("cuda:0")
    elif name == "ipow" or dtype == "complex64":  # functions that the simulator has from Python
        for found, expected in zip(written("cuda:0"), written("cpu"), strict=True):
            tolerance = 1e-3 if dtype == "float16" else 1e-5
            np.testing.assert_allclose(held(found), held(expected), tolerance)
    else:
        require_alike(written)


def test_what_is_there_already_is_not_written_again():
    def written(device):
        x = on(device, X)
        y = x * 2
        y[1] += 1.0
        row = y[:2][1]
        row *= 3.0
        y[1] = row
        return derivatives(y, (x,))

    require_alike(written)


def test_sorting_in_place():
    def written(device):
        x = on(device, X[:, ::-1])
        y = x * 2
        y.sort()
        return derivatives(y, (x,))

    require_alike(written)


def test_a_region_is_written_by_one_launch(monkeypatch):
    y, v = on("cuda", X, False), on("cuda", np.float32([1, 2, 3]), False)
    driver = y.array.target.runtime.driver
    launched, launch = [], driver.launch
    monkeypatch.setattr(
        driver, "launch", lambda k, *rest: launched.append(k.kernel.name) or launch(k, *rest)
    )
    y[:, 2] = v
    assert launched == ["astype"]
    y[1:] += y[0]
    assert launched[1:] == ["add", "copy"]  # what is read shares its memory with the result
    y[1:] *= v.astype("float64")[:2, None]
    assert launched[3:] == ["astype", "multiply"]


# Views and versions -------------------------------------------------------------------------------


def test_all_views_see_a_write_through_one():
    def written(device):
        x = on(device, X)
        y = x * 2
        row, flat, turned = y[1], ng.reshape(y, -1), y.T
        turned[2] = x[:, 0]
        row += 1.0
        flat[3:7] = 0.5
        alias = y.detach()
        alias[0, 0] = 3.0
        return [row, flat, turned, alias, *derivatives(turned * flat[:3] + row[0], (x,))]

    require_alike(written)


def test_a_constant_tensor_requires_grad_after_a_write():
    def written(device):
        x, buffer = on(device, X), ng.zeros(5, device=device)
        view = buffer[1:]
        buffer[1] = x[2, 1] * 2
        assert view.requires_grad
        assert not buffer.is_leaf
        return derivatives(view, (x,))

    require_alike(written)


def test_what_was_copied_is_no_view():
    """Whether the operation is met for the first time or not."""
    x = on("cuda", X, False)
    for _ in range(4):
        y = x.T.reshape(-1)
        assert y.storage is not x.storage
        y[0] = 7.0
        assert y.version == 1
    np.testing.assert_array_equal(held(x), X)


def test_hooks_and_edges_stay_with_what_was():
    def written(device):
        x = on(device, X)
        y = x.clone()
        seen = []
        y.register_hook(lambda g: seen.append(g * 1))
        edge = ng.graph.get_gradient_edge(y)
        y.retain_grad()
        y *= 2
        old, new = ng.grad((y * y).sum(), (edge, y))
        return [old, new, *seen, y.grad]

    require_alike(written)


# What may not be written --------------------------------------------------------------------------


def require_unwritten(x, write, error, match):
    before, version = held(x).copy(), x.version
    with pytest.raises(error, match=match):
        write()
    np.testing.assert_array_equal(held(x), before)
    assert x.version == version


@pytest.mark.parametrize(("key", "shape", "error", "match"), [
    (slice(1, None), (3,), ValueError, r"could not broadcast .*\(3,\) into shape \(2,4\)"),
    (slice(2, 2), (5, 0, 4), ValueError, "could not broadcast"),
    ([0, 2], (3,), ValueError, "broadcast"),
    (7, (), IndexError, "out of bounds"),
    ([0, 3], (), IndexError, "out of bounds"),
    (np.zeros((3, 3), bool), (), IndexError, "boolean"),
], ids=str)  # fmt: skip
def test_what_does_not_fit_writes_nothing(key, shape, error, match):
    for x in (on("cuda", X) * 1, on("cuda", X, False)):
        require_unwritten(x, lambda x=x: x.__setitem__(key, np.ones(shape)), error, match)


def test_arithmetic_that_does_not_fit_writes_nothing():
    x, many = on("cuda", X, False), on("cuda", np.ones((2, 3, 4)), False)
    require_unwritten(x, lambda: x.__iadd__(many), ValueError, "cannot be written")
    require_unwritten(x, lambda: x.__iadd__(1j), DtypeError, "cannot be written")
    require_unwritten(x, lambda: x.__setitem__(0, 1j), DtypeError, "complex")


def test_tensors_of_two_devices_do_not_meet():
    x, there = on("cpu", X, False), on("cuda", X, False)
    for value in (on("cpu", X, False) * 1, on("cpu", 2.0)):
        for write in (there.__iadd__, lambda v: there.__setitem__(..., v)):
            require_unwritten(there, lambda w=write, v=value: w(v), DeviceError, "cuda:0")
    for value in (there, there[0, 0]):
        for write in (x.__iadd__, lambda v: x.__setitem__(..., v)):
            require_unwritten(x, lambda w=write, v=value: w(v), DeviceError, "x.to.'cpu'")
    np.testing.assert_array_equal(held(there), X)


def test_leaves_are_written_under_no_grad_only():
    x = on("cuda", X)
    for write in (lambda: x.__setitem__(0, 1.0), lambda: x.__iadd__(1.0), lambda: x[1:].fill(2.0)):
        require_unwritten(x, write, LeafInplaceError, "leaf")
    with ng.no_grad():
        x -= 1.0
        x[0] = 5.0
    assert x.version == 2
    assert x.is_leaf
    np.testing.assert_array_equal(held(ng.grad((x * x).sum(), x)[0])[:, 0], [10.0, -2.0, 0.0])


def test_repeated_and_shared_elements_cannot_be_written():
    x = on("cuda", [1.0 + 2.0j])
    for y in (ng.broadcast_to(x, (3,)), ng.broadcast_to(x * 1, (3,))[::2], ng.real(x)):
        require_unwritten(y, lambda y=y: y.__setitem__(0, 1.0), InplaceError, "clone")
    y = ng.broadcast_to(x, (3,)).clone()
    y[0] = 1.0
    with pytest.raises(InplaceError, match="element"):
        x[0].__setitem__(..., 1.0)
    with pytest.raises(InplaceError, match="detached"):
        y.detach()[...] = x


def test_a_captured_function_writes_nothing_on_a_device():
    x = on("cuda", X, False)

    def write(v):
        x[0] = v
        return v

    require_unwritten(x, lambda: ng.jit(write)(np.ones(4)), CaptureError, "outside of the captured")


# What derivatives have saved ----------------------------------------------------------------------


def test_what_was_saved_before_a_write_is_kept_on_the_device():
    def written(device):
        x = on(device, X)
        y = x * 2
        z, part, turned = y * y, ng.sin(y[1:, ::2]), y.T * y.T
        y[1] = 7.0
        later = y * y[0]
        y[0] = x[0]
        y.T[1:] *= 3
        return [*ng.grad(part.sum() + (z * y + later).sum() + turned.sum(), x), y]

    for found, expected in zip(written("cuda:0"), written("cpu"), strict=True):
        np.testing.assert_allclose(held(found), held(expected), 1e-14)


def test_arrays_without_elements_are_saved_and_written():
    def written(device):
        x = on(device, np.ones((0, 3)))
        y = x * 2
        z = y * y
        y[...] = 1.0
        y[:, 1] = x[:, 0]
        y *= 2.0
        return [z, *derivatives(y * z, (x,))]

    require_alike(written)


def test_only_parts_that_were_read_since_the_last_write_are_copied(monkeypatch):
    copied, copy = [], DeviceArray.lasting_copy
    monkeypatch.setattr(
        DeviceArray, "lasting_copy", lambda array: copied.append(array.size) or copy(array)
    )

    def written(device):
        x, rows = on(device, X[0]), ng.zeros((20, 4), device=device)
        rows[0] = x
        for n in range(1, 20):
            row = rows[n - 1]
            rows[n] = row * row * 0.5
        return [rows, *ng.grad(rows.sum(), x)]

    require_alike(written)
    assert copied == [4] * 19


def test_without_gradients_a_saved_value_that_is_overwritten_is_an_error():
    x = on("cuda", X)
    y = x * 2
    z = y * y
    with ng.no_grad():
        y[0] = 1.0
    with pytest.raises(InplaceError, match="version"):
        ng.grad(z.sum(), x)


# Gradients that are accumulated -------------------------------------------------------------------


def test_backward_accumulates_in_place():
    def accumulated(device):
        x, w = on(device, X), on(device, X[0])
        (x * x * w).sum().backward()
        first, view = x.grad, x.grad[0]
        (x * x * w).sum().backward()
        assert x.grad is first
        return [x.grad, w.grad, view]

    require_alike(accumulated)


def test_gradients_that_share_memory_or_repeat_a_number_are_not_written_over():
    def accumulated(device):
        x, z, s = on(device, X), on(device, X), on(device, 2.0)
        seed = on(device, X * 2, requires_grad=False)
        for _ in range(3):
            (x + z).backward(seed)
            x.sum().backward()
            (s * s).backward()
        held_seed = seed * 1
        return [x.grad * 1, z.grad * 1, s.grad * 1, held_seed, *ng.grad(x.sum(), x)]

    require_alike(accumulated)


def test_seeds_that_are_shared_are_not_written_over():
    def accumulated(device):
        s, t = on(device, 2.0), on(device, 3.0)
        for _ in range(3):
            s.backward()
        (t * t).backward()
        return [s.grad * 1, t.grad]

    require_alike(accumulated)


def test_a_gradient_without_axes_that_was_put_there_is_replaced_or_written():
    s = on("cuda", 2.0)
    s.grad = on("cuda", [1.0, 2.0], False).sum()
    (s * s).backward()
    (s * s).backward()
    assert held(s.grad) == 11.0


# Random programs ----------------------------------------------------------------------------------


def random_view(v, rng):
    choices = [
        lambda: v[int(rng.integers(v.shape[0]))],
        lambda: v[::-1],
        lambda: v.T,
        lambda: ng.reshape(v, -1),
        lambda: v[..., 1:] if v.shape[-1] > 1 else v[..., None],
        lambda: ng.diagonal(v) if v.ndim == 2 else v[None],
    ]
    return choices[rng.integers(6)]()


def random_write(v, x, rng):
    choice = rng.integers(7)
    if choice == 0:
        v += x[0, 0] * 0.1
    elif choice == 1:
        v *= 2.0
    elif choice == 2:
        v[int(rng.integers(v.shape[0]))] = x[tuple(rng.integers(0, 3, 2))] * 0.7
    elif choice == 3:
        rows = ng.reshape(x[0, :3] * x[1, 1], (3,) + (1,) * (v.ndim - 1))
        v[rng.integers(0, v.shape[0], 3)] = rows
    elif choice == 4:
        v[rng.random(v.shape) < 0.5] = x[1, int(rng.integers(4))] * 2.0
    elif choice == 5:
        v[...] = v[::-1]
    else:
        v[: 1 + v.shape[0] // 2] -= v[-1]


def program(seed, x):
    """Write to random regions of random views, read some in between, and return all."""
    rng = np.random.default_rng(seed)
    y = x * 1.5 if seed % 3 else ng.transpose(x * 1.5)
    views, read = [y], []
    for _ in range(rng.integers(4, 12)):
        v = views[rng.integers(len(views))]
        choice = rng.random()
        if v.ndim and choice < 0.3:
            views.append(random_view(v, rng))
        elif choice < 0.5:
            read.append(v * v)
        elif v.ndim:
            random_write(v, x, rng)
    return [*views, *read]


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_of_writes(seed):
    def results(device):
        x = on(device, X)
        found = program(seed, x)
        total = ng.tensor(0.0, device=device)
        for n, v in enumerate(found):
            total = total + (v * v * np.cos(np.arange(v.size) + n).reshape(v.shape)).sum()
        (gx,) = ng.grad(total, x, create_graph=True)
        second = ng.grad((gx * gx).sum(), x, allow_unused=True, materialize_grads=True)
        return found, [total, gx, *second]

    (views, numbers), (expected_views, expected) = results("cuda:0"), results("cpu")
    for one, other in zip(views, expected_views, strict=True):
        assert (one.version, one.requires_grad) == (other.version, other.requires_grad)
        np.testing.assert_array_equal(held(one), held(other))
    for one, other in zip(numbers, expected, strict=True):
        np.testing.assert_allclose(held(one), held(other), 1e-12, 1e-12)
