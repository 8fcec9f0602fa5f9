"""Functions of shape against NumPy: values, views, errors, and gradients by counting."""

import math

import numpy as np
import pytest

import numgrad as ng

V = np.array([3.0, -1.0, 2.0, 5.0, 0.5, 7.0])
M = np.arange(12.0).reshape(3, 4) + 1
C = np.arange(24.0).reshape(2, 3, 4) - 5
ONE = np.array([[[2.0], [3.0]]])

# (name, arguments): called with the same arguments on tensors and on arrays.
CALLS = [
    ("reshape", (C, (4, -1))),
    ("reshape", (C, -1)),
    ("reshape", (np.zeros((0, 3)), (3, -1))),
    ("ravel", (C,)),
    ("ravel", (np.zeros((0, 3)),)),
    ("transpose", (C,)),
    ("transpose", (C, (1, 2, 0))),
    ("permute_dims", (C, (-1, 0, 1))),
    ("matrix_transpose", (C,)),
    ("swapaxes", (C, 0, -1)),
    ("moveaxis", (C, 0, -1)),
    ("moveaxis", (C, (0, 1), (-1, 0))),
    ("broadcast_to", (M, (2, 3, 4))),
    ("broadcast_to", (ONE, (5, 1, 2, 3))),
    ("broadcast_to", (np.float64(2.0), 3)),
    ("expand_dims", (M, 1)),
    ("expand_dims", (M, (0, -1))),
    ("squeeze", (ONE,)),
    ("squeeze", (ONE, -1)),
    ("squeeze", (ONE, (0, 2))),
    ("atleast_1d", (np.float64(1.0),)),
    ("atleast_2d", (V,)),
    ("atleast_2d", (np.float64(1.0),)),
    ("atleast_3d", (V,)),
    ("atleast_3d", (M,)),
    ("atleast_3d", (np.float64(1.0),)),
    ("flip", (C,)),
    ("flip", (C, (0, -1))),
    ("fliplr", (M,)),
    ("flipud", (M,)),
    ("rot90", (M,)),
    ("rot90", (M, 2)),
    ("rot90", (C, -1, (1, 2))),
    ("rot90", (M, 4)),
    ("roll", (M, 5)),
    ("roll", (M, -1, 1)),
    ("roll", (C, (1, 2), (0, -1))),
    ("roll", (C, 2, (0, 1))),
    ("roll", (M, (1, 1), (0, 0))),
    ("tile", (M, 2)),
    ("tile", (M, (2, 1, 3))),
    ("tile", (C, (2, 1))),
    ("tile", (np.float64(2.0), 3)),
    ("tile", (V, 0)),
    ("repeat", (M, 2)),
    ("repeat", (M, 3, 1)),
    ("repeat", (M, [1, 0, 2], 0)),
    ("repeat", (M, [2], 0)),
    ("diagonal", (M,)),
    ("diagonal", (C, 1, 2, 0)),
    ("diagonal", (M, -2)),
    ("diagonal", (M, 9)),
    ("diag", (V,)),
    ("diag", (V, -2)),
    ("diag", (M, 1)),
    ("tril", (C,)),
    ("tril", (M, -1)),
    ("triu", (C, 1)),
    ("triu", (V,)),
    ("take", (V, [[0, -1], [1, 1]])),
    ("take", (M, [0, 2, 0], 1)),
    ("take", (M, 1, 0)),
    ("take", (M, [5, -2])),
    ("take", (M, [], 0)),
    ("take_along_axis", (M, np.argsort(-M, axis=1), 1)),
    ("take_along_axis", (M, np.array([[0], [2], [1]]), 1)),
    ("take_along_axis", (M, np.array([3, 3]), None)),
    ("pad", (M, 2)),
    ("pad", (M, ((1, 0), (0, 2)), "edge")),
    ("pad", (V, (3, 1), "reflect")),
    ("pad", (V, (9, 8), "wrap")),
    ("pad", (M, 1, "symmetric")),
]


def named(call):
    name, arguments = call
    return name + str([a if not isinstance(a, np.ndarray) else a.shape for a in arguments])


@pytest.mark.parametrize("call", CALLS, ids=named)
def test_values_are_those_of_numpy(call):
    name, (x, *rest) = call
    expected = getattr(np, name)(x, *rest)
    for argument in (x, ng.tensor(x)):
        result = getattr(ng, name)(argument, *rest)
        assert isinstance(result, ng.Tensor)
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result.numpy(), expected, strict=True)
    recorded = getattr(ng, name)(ng.tensor(x, requires_grad=True), *rest)
    np.testing.assert_array_equal(recorded.detach().numpy(), expected, strict=True)


@pytest.mark.parametrize("call", CALLS, ids=named)
def test_gradients_follow_the_elements(call):
    """These functions move elements: numbering them in NumPy says where a cotangent has to go."""
    name, (x, *rest) = call
    numbers = getattr(np, name)(np.arange(1.0, x.size + 1).reshape(x.shape), *rest)
    g = np.random.default_rng(1).standard_normal(numbers.shape)
    expected = np.zeros(x.size + 1)
    np.add.at(expected, numbers.astype(int).ravel(), g.ravel())
    t = ng.tensor(x, requires_grad=True)
    y = getattr(ng, name)(t, *rest)
    gradient = ng.grad(y, t, g, retain_graph=True)[0].numpy()
    np.testing.assert_allclose(gradient, expected[1:].reshape(x.shape), 1e-13, 1e-13)
    seeds = np.stack([g, -2 * g, g * g])
    batched = ng.grad(y, t, seeds, is_grads_batched=True, retain_graph=True)[0].numpy()
    looped = [ng.grad(y, t, seed, retain_graph=True)[0].numpy() for seed in seeds]
    np.testing.assert_array_equal(batched, np.stack(looped))


JOINS = [
    ("concat", ([M, M * 2],), {}),
    ("concat", ([C, C[:1], C],), {"axis": 0}),
    ("concat", ([M, V],), {"axis": None}),
    ("concatenate", ([M, M[:, :2]],), {"axis": -1}),
    ("stack", ([M, M * 2],), {"axis": 1}),
    ("stack", ([1.0, 2.0],), {}),
    ("vstack", ([V, V],), {}),
    ("hstack", ([V, V[:2]],), {}),
    ("hstack", ([M, M],), {}),
    ("hstack", ([1.0, 2.0],), {}),
    ("dstack", ([V, V],), {}),
    ("column_stack", ([V[:3], M],), {}),
]


@pytest.mark.parametrize(("name", "arguments", "options"), JOINS)
def test_joining(name, arguments, options):
    expected = getattr(np, name)(*arguments, **options)
    parts = [ng.tensor(part, requires_grad=True) for part in arguments[0]]
    result = getattr(ng, name)(parts, **options)
    np.testing.assert_array_equal(result.detach().numpy(), expected, strict=True)
    total = sum((ng.sum(part * part) for part in parts), ng.tensor(0.0))
    joined = ng.grad(ng.sum(result * result), parts)
    for one, other in zip(joined, ng.grad(total, parts), strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_joining_promotes_and_gives_each_part_its_dtype():
    x = ng.tensor(np.float32([1, 2]), requires_grad=True)
    y = ng.concat([x, [3.0], np.array([4])])
    assert y.dtype == np.float64
    assert ng.grad(y, x)[0].dtype == np.float32


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("split", (C, 2)),
        ("split", (C, [1, 3], -1)),
        ("split", (V, [2, 4, 9])),
        ("split", (V, [4, 2])),
        ("array_split", (V, 4)),
        ("array_split", (M, 2, 1)),
    ],
)
def test_splitting_gives_views(name, arguments):
    expected = getattr(np, name)(*arguments)
    x = ng.tensor(arguments[0], requires_grad=True)
    parts = getattr(ng, name)(x, *arguments[1:])
    assert len(parts) == len(expected)
    total = ng.tensor(0.0)
    for n, (part, array) in enumerate(zip(parts, expected, strict=True)):
        np.testing.assert_array_equal(part.detach().numpy(), array, strict=True)
        assert part.storage is x.storage
        total = total + (n + 1) * part.sum()
    numbers = np.zeros(x.shape)
    for n, array in enumerate(getattr(np, name)(numbers, *arguments[1:])):
        array += n + 1
    np.testing.assert_array_equal(ng.grad(total, x)[0].numpy(), numbers)


def test_unstack():
    x = ng.tensor(M, requires_grad=True)
    parts = ng.unstack(x, axis=1)
    np.testing.assert_array_equal(parts[2].detach().numpy(), M[:, 2])
    np.testing.assert_array_equal(ng.grad(parts[2].sum(), x)[0].numpy(), np.arange(4) == [[2]] * 3)
    assert ng.unstack(np.zeros((0, 2))) == ()


def test_broadcast_arrays_and_meshgrid():
    for one, other in zip(
        ng.broadcast_arrays(V, M[:, :1]), np.broadcast_arrays(V, M[:, :1]), strict=True
    ):
        np.testing.assert_array_equal(one.numpy(), other, strict=True)
    for options in ({}, {"indexing": "ij"}, {"sparse": True}, {"copy": False}):
        mine, theirs = ng.meshgrid(V, M[0], 2.0, **options), np.meshgrid(V, M[0], 2.0, **options)
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(one.numpy(), other, strict=True)
    x = ng.tensor(V, requires_grad=True)
    np.testing.assert_array_equal(
        ng.grad(ng.meshgrid(x, M[0])[0].sum(), x)[0].numpy(), np.full(6, 4.0)
    )


def test_constants_around_a_tensor():
    for constants in (7, (1, 2), ((1, 2), (3, 4))):
        expected = np.pad(M, ((1, 2), (0, 1)), constant_values=constants)
        padded = ng.pad(ng.tensor(M), ((1, 2), (0, 1)), constant_values=constants)
        np.testing.assert_array_equal(padded.numpy(), expected, strict=True)
    np.testing.assert_array_equal(ng.pad(M, {1: 2}).numpy(), np.pad(M, ((0, 0), (2, 2))))


def test_copies_and_views():
    x = ng.tensor(C)
    assert ng.reshape(x, (6, 4)).storage is x.storage
    assert ng.reshape(x, (6, 4), copy=True).storage is not x.storage
    assert ng.reshape(x, (6, 4), copy=False).storage is x.storage
    assert ng.ravel(x).storage is x.storage
    assert ng.flatten(x).storage is not x.storage
    assert ng.tile(x, 1).storage is not x.storage
    for function in (ng.transpose, ng.flip, ng.squeeze, ng.rot90):
        assert function(x).storage is x.storage


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ValueError, lambda: ng.reshape(M, (5, -1))),
        (ValueError, lambda: ng.reshape(M, (-1, -1))),
        (ValueError, lambda: ng.reshape(ng.tensor(M).T, -1, copy=False)),
        (ValueError, lambda: ng.transpose(M, (0, 0))),
        (ValueError, lambda: ng.transpose(M, (0,))),
        (ValueError, lambda: ng.matrix_transpose(V)),
        (ValueError, lambda: ng.broadcast_to(M, (3, 5))),
        (ValueError, lambda: ng.broadcast_to(M, 4)),
        (ValueError, lambda: ng.squeeze(M, 0)),
        (np.exceptions.AxisError, lambda: ng.expand_dims(M, 4)),
        (np.exceptions.AxisError, lambda: ng.flip(M, 2)),
        (ValueError, lambda: ng.concat([])),
        (ValueError, lambda: ng.concat([M, V])),
        (ValueError, lambda: ng.concat([M, M[:2, :3]])),
        (ValueError, lambda: ng.concat([1.0, 2.0])),
        (ValueError, lambda: ng.stack([M, V])),
        (ValueError, lambda: ng.split(V, 4)),
        (ValueError, lambda: ng.array_split(V, 0)),
        (ValueError, lambda: ng.meshgrid(V, V, indexing="yx")),
        (ValueError, lambda: ng.pad(V, -1)),
        (TypeError, lambda: ng.pad(V, 1.5)),
        (ValueError, lambda: ng.pad(V, 1, "mirror")),
        (ValueError, lambda: ng.diagonal(V)),
        (ValueError, lambda: ng.diagonal(M, 0, 1, 1)),
        (ValueError, lambda: ng.diag(C)),
        (ValueError, lambda: ng.tril(1.0)),
        (ValueError, lambda: ng.repeat(V, [1, 2])),
    ],
)
def test_errors(error, call):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("join", [ng.stack, ng.concatenate, ng.vstack, ng.hstack, ng.dstack])
def test_arrays_and_tensors_are_joined_in_any_order(join):
    a, x = np.array([1.0, 2.0]), ng.tensor([3.0, 4.0], requires_grad=True)
    reference = getattr(np, join.__name__.replace("concat", "concatenate").replace("ateate", "ate"))
    for parts in ([a, x], [x, a], [a, a], [x, x], [[1, 2], x]):
        arrays = [p.detach().numpy() if isinstance(p, ng.Tensor) else p for p in parts]
        np.testing.assert_array_equal(join(parts).detach().numpy(), reference(arrays))
        np.testing.assert_array_equal(
            ng.jit(lambda y, parts=parts: join([y if p is x else p for p in parts]))(
                x.detach().numpy()
            ),
            reference(arrays),
        )


# Orders -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4), (0, 2)])
def test_elements_in_an_order_are_those_of_numpy(order, shape):
    array = np.arange(math.prod(shape), dtype=float).reshape(shape)
    tensor = ng.tensor(array, requires_grad=True)
    for function in (
        lambda x: np.ravel(x, order),
        lambda x: x.flatten(order),
        lambda x: x.reshape(-1, order=order) if x.size else x.ravel(order),
        lambda x: np.reshape(x, (1, x.size), order=order),
    ):
        value, expected = function(tensor), function(array)
        assert np.array_equal(value.detach(), expected)
        assert value.shape == expected.shape
        weights = np.arange(1.0, value.size + 1).reshape(value.shape)
        (slope,) = ng.grad((value * weights).sum(), tensor)
        at = np.argsort(function(array).ravel()).reshape(shape)
        assert np.array_equal(slope, weights.ravel()[at])


def test_a_reshaped_view_in_order_of_fortran_sees_writes_as_in_numpy():
    def write(x):
        view = x.reshape(6, order="F")
        view[1] = 10.0
        return x

    array = np.arange(6.0).reshape(2, 3)
    for a in (array, array.T.copy().T):
        expected = write(a.copy(order="K"))
        assert np.array_equal(write(ng.asarray(a.copy(order="K"))), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda np, x: np.diag(x, 0.5),
        lambda np, x: np.diagonal(x, -1.5),
        lambda np, x: np.diagflat(x, 1.0),
        lambda np, x: np.trace(x, 1.0),
        lambda np, x: np.tile(x, 1.5),
        lambda np, x: np.tile(x, (1, 2.0)),
        lambda np, x: np.reshape(x, (3.0, 3)),
        lambda np, x: np.broadcast_to(x, (2.5, 3, 3)),
        lambda np, x: np.split(x, [1.5]),
        lambda np, x: np.zeros((2, 2.5)),
        lambda np, x: np.expand_dims(x, None),
        lambda np, x: np.partition(x, 1.5),
        lambda np, x: np.argpartition(x, [1.5]),
        lambda np, x: np.argmax(x, axis=()),
        lambda np, x: np.argmin(x, axis=(0, 1)),
    ],
)
def test_places_and_counts_that_are_no_integers_are_refused_as_by_numpy(call):
    with pytest.raises(TypeError):
        call(np, np.eye(3))
    with pytest.raises(TypeError, match="must be an integer"):
        call(ng, ng.eye(3))


def test_places_and_counts_that_numpy_truncates_are_truncated():
    x = np.arange(9.0).reshape(3, 3)
    for call in (
        lambda np, x: np.roll(x, 1.5, 0),
        lambda np, x: np.stack(np.split(x, 3.0)),
    ):
        np.testing.assert_array_equal(call(ng, ng.tensor(x)), call(np, x))


@pytest.mark.parametrize("triangle", [ng.tril, ng.triu])
def test_triangles_have_no_fractions_of_diagonals(triangle):
    with pytest.raises(TypeError, match=r"must be an integer, got 0\.5"):
        triangle(ng.eye(3), 0.5)  # NumPy's has other elements than either neighbour
