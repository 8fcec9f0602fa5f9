"""All roads to a derivative lead to the same numbers: by rows and by columns, in chunks, captured,
mapped, as a linear map, sparse. Each is taken at several points, as passes are computed as they
come first, then become programs, and are recalled later. Central differences, extrapolated, say
which numbers these are."""

import functools

import numpy as np
import optree
import pytest

import numgrad as ng
from tests.sampling import one_in

from ..declare.user_operators import polar, power_wave
from ..user_functions import Multiply

F = ng.func
RNG = np.random.default_rng(0)
M = RNG.normal(size=(5, 4))
PLACES = np.array([3, 0, 0, 2, 1])
MASK = np.array([True, False, True, True])


def matrix_vector(x):
    return ng.sin(M @ x)


def containers(p, y):
    a, (b, c) = p["a"], p["b"]
    return {"u": (a * y, b * c.sum(0)), "v": [ng.tanh(c) @ c, b**2]}


def independent(a, b):
    return a * 2.0, ng.exp(b), ng.ones(3), b


def empty(none, b):
    return none * b, (none.sum(0) + b) ** 2, b[:0]


def broadcasting(a, b):
    return a * b + ng.exp(a) / (b * b + 1.0), a - b


def indexing(x):
    return x[PLACES] * x[PLACES[::-1].copy()], x[::-1][1:3] ** 2, x[-1], x[MASK]


def rolled(x):
    y = x
    for _ in range(4):
        y = ng.sin(np.roll(y, 1) * x) + y * 0.5
    return y


def choices(x):
    return ng.where(x > 0.1, ng.sin(x), x**3), np.maximum(x, 0.3), np.sort(x * x)


def cumulative(x):
    return np.cumsum(ng.sin(x)), np.cumprod(x + 2.0)


def linear_algebra(a, b):
    a = a + 5 * np.eye(3)
    return ng.linalg.solve(a, b), ng.linalg.inv(a), ng.linalg.det(a)


def einsum(a, b, c):
    return np.einsum("ij,jk,k->ik", a, b, c), np.einsum("ij,jk->ki", a, b)


def written(x):
    y = x * 2.0
    y[1:3] = ng.sin(y[0]) * y[1:3]
    y[PLACES[:2]] += y[3] * y[1]
    y *= x
    return y


def condition(x):
    return ng.cond(x.sum() > 0.2, lambda x: ng.sin(x) * x, lambda x: x**3, x)


def complex_inside(x):
    z = ng.exp(1j * x) * (x + 2j)
    return ng.real(z * z), ng.abs(z), ng.imag(ng.conj(z) * x.sum())


def own_function(a, b):
    return Multiply.apply(a, ng.sin(b), 2.0) * a


def own_kernel(x):
    """Its backward kernel has no derivative."""
    length, unit = polar(ng.sin(x))
    return length * 2.0, unit, length * unit[..., 0]


def own_elementwise(x, y):
    return power_wave(x, y) * x


def transforms_inside(x, w):
    gradient = F.grad(lambda y: (y**3 * x).sum())(x)
    columns = F.jacfwd(lambda y: ng.sin(y * x.sum()))(x)
    rows = F.vmap(lambda y: ng.sin(y * w).sum() * y)(x * x)
    return gradient, columns @ x, rows, F.linearize(lambda y: ng.sin(y) * w[0], x)[1](x)


captured_square = ng.jit(lambda x, k: {"z": ng.cos(x) ** k * x.sum()})


def captured_inside(x):
    return captured_square(x, 2.0)["z"], captured_square(x * x, 3.0)


def point(*shapes):
    """What makes arguments of these shapes, in containers."""
    is_shape = lambda s: isinstance(s, tuple) and all(isinstance(n, int) for n in s)  # noqa: E731
    return lambda rng: optree.tree_map(
        lambda shape: np.asarray(rng.normal(size=shape)), shapes, is_leaf=is_shape
    )


CASES = {
    matrix_vector: point((4,)),
    containers: point({"a": (3,), "b": [(), (2, 2)]}, (3,)),
    independent: point((3,), (2,)),
    empty: point((0, 3), (3,)),
    broadcasting: point((2, 1, 3), (4, 1)),
    indexing: point((4,)),
    rolled: point((5,)),
    choices: point((4,)),
    cumulative: point((4,)),
    linear_algebra: point((3, 3), (3,)),
    einsum: point((2, 3), (3, 4), (4,)),
    written: point((4,)),
    condition: point((4,)),
    complex_inside: point((3,)),
    own_function: point((3,), (3,)),
    transforms_inside: point((3,), (1,)),
    captured_inside: point((3,)),
    own_elementwise: point((2, 3), (3,)),
    own_kernel: point((2, 4)),
}
TWICE = [function for function in CASES if function is not own_kernel]
over_cases = pytest.mark.parametrize("function", one_in(2, CASES), ids=lambda f: f.__name__)
over_twice = pytest.mark.parametrize("function", one_in(5, TWICE), ids=lambda f: f.__name__)


class Case:
    """A function at some points, with its derivatives as matrices."""

    def __init__(self, function):
        self.function = function
        rng = np.random.default_rng(7)
        self.points = [CASES[function](rng) for _ in range(4)]
        self.inputs = [x.shape for x in optree.tree_leaves(self.points[0])]
        self.structure = optree.tree_structure(self.points[0])
        values = optree.tree_leaves(self.value(*self.points[0]))
        self.outputs = [y.shape for y in values]
        self.argnums = tuple(range(len(self.points[0])))

    def value(self, *arguments):
        tensors = optree.tree_map(ng.tensor, arguments)
        return optree.tree_map(lambda y: y.detach().numpy(), self.function(*tensors))

    def flat(self, tree):
        return np.concatenate([np.asarray(x).reshape(-1) for x in optree.tree_leaves(tree)])

    def arguments(self, vector):
        """Arguments from all their elements, which may have axes in front."""
        sizes = [int(np.prod(shape)) for shape in self.inputs]
        parts = np.split(vector, np.cumsum(sizes)[:-1], axis=-1)
        lead = vector.shape[:-1]
        leaves = [p.reshape((*lead, *s)) for p, s in zip(parts, self.inputs, strict=True)]
        return optree.tree_unflatten(self.structure, leaves)

    def joined(self, vector):
        """The function from one array to one."""
        leaves = optree.tree_leaves(self.function(*self.arguments(vector)))
        return ng.concatenate([ng.asarray(y).reshape(-1) for y in leaves])

    def scalar(self, *arguments):
        leaves = optree.tree_leaves(self.function(*arguments))
        return functools.reduce(ng.add, [(ng.sin(y) * (n + 1)).sum() for n, y in enumerate(leaves)])

    def matrix(self, tree, outputs):
        """The matrix that blocks in containers make up."""
        blocks = [np.asarray(block) for block in optree.tree_leaves(tree)]
        width = len(self.inputs)
        assert [b.shape for b in blocks] == [(*o, *i) for o in outputs for i in self.inputs]
        sizes = [int(np.prod(o)) for o in outputs for _ in self.inputs]
        blocks = [b.reshape(n, b.size // n if n else 0) for b, n in zip(blocks, sizes, strict=True)]
        rows = [blocks[n : n + width] for n in range(0, len(blocks), width)]
        return np.concatenate([np.concatenate(row, 1) for row in rows if row[0].shape[0]])


def differences(function, x):
    """The Jacobian by central differences, extrapolated twice."""

    def central(h):
        steps = h * np.eye(x.size)
        return np.stack([(function(x + s) - function(x - s)) / (2 * h) for s in steps], -1)

    one, two, four = (central(h) for h in (1e-3, 5e-4, 2.5e-4))
    return (16 * (4 * four - two) / 3 - (4 * two - one) / 3) / 15


def close(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@over_cases
def test_jacobians(function):
    case = Case(function)
    f, argnums = case.function, case.argnums
    roads = {
        (transform.__name__, chunk_size): transform(f, argnums, chunk_size=chunk_size)
        for transform in (F.jacrev, F.jacfwd)
        for chunk_size in (1, 3, "auto")
    }
    roads["jacobian"] = F.jacobian(f, argnums, chunk_size=None)
    roads["value"] = lambda *a: F.value_and_jacobian(f, argnums)(*a)[1]
    for transform in (F.jacrev, F.jacfwd):
        roads["captured", transform.__name__] = ng.jit(transform(f, argnums))
        roads["of captured", transform.__name__] = transform(ng.jit(f), argnums)
    for p in case.points:
        expected = case.matrix(F.jacrev(f, argnums)(*p), case.outputs)
        close(expected, differences(lambda x: case.flat(case.value(*case.arguments(x))),
                                    case.flat(p)), 1e-8)  # fmt: skip
        for road in roads.values():
            close(case.matrix(road(*p), case.outputs), expected)
        out = optree.tree_map(np.zeros_like, F.jacrev(f, argnums)(*p))
        for transform in (F.jacrev, F.jacfwd):
            found = transform(f, argnums, out=out, chunk_size=2)(*p)
            close(case.matrix(found, case.outputs), expected)


@over_cases
def test_products(function):
    case = Case(function)
    captured = ng.jit(lambda p, t: F.jvp(case.function, p, t)[1])
    for p in case.points:
        expected = case.matrix(F.jacrev(case.function, case.argnums)(*p), case.outputs)
        size = expected.shape[1]
        units = case.arguments(np.eye(size))
        value, along = F.linearize(case.function, *p)
        mapped = F.vmap(along)(*units)
        rows = [np.asarray(y).reshape(size, -1) for y in optree.tree_leaves(mapped) if y.size]
        close(np.concatenate(rows, 1).T, expected)
        weights = optree.tree_map(np.cos, value)
        close(case.flat(F.vjp(case.function, *p)[1](weights)), case.flat(weights) @ expected)
        tangent = np.sin(np.arange(size) + 1.0)
        for product in (along(*case.arguments(tangent)), captured(p, case.arguments(tangent))):
            close(case.flat(product), expected @ tangent)


@over_cases
def test_mapped_jacobians(function):
    case = Case(function)
    stacked = optree.tree_map(lambda *samples: np.stack(samples), *case.points)
    for transform in (F.jacrev, F.jacfwd):
        jacobian = transform(case.function, case.argnums)
        single = [case.matrix(jacobian(*p), case.outputs) for p in case.points]
        mapped = F.vmap(jacobian)
        captured = ng.jit(mapped)
        for road in (mapped, captured, captured, captured, F.vmap(jacobian, chunk_size=3)):
            found = road(*stacked)
            for n, expected in enumerate(single):
                sample = optree.tree_map(lambda block, n=n: np.asarray(block)[n], found)
                close(case.matrix(sample, case.outputs), expected)


@over_cases
@pytest.mark.parametrize("coloring", ["column", "row"])
def test_sparse(function, coloring):
    case = Case(function)
    prepared = ng.sparse.prepare(case.joined, case.flat(case.points[0]), coloring=coloring)
    for p in case.points:
        expected = case.matrix(F.jacrev(case.function, case.argnums)(*p), case.outputs)
        close(prepared(case.flat(p)).toarray(), expected)


@over_twice
def test_hessians(function):
    case = Case(function)
    f, argnums = case.scalar, case.argnums
    roads = [
        outer(inner(f, argnums), argnums)
        for outer in (F.jacrev, F.jacfwd)
        for inner in (F.jacrev, F.jacfwd)
    ]
    roads += [ng.jit(F.hessian(f, argnums)), F.hessian(ng.jit(f), argnums)]
    gradient = lambda x: case.flat(F.grad(f, argnums)(*case.arguments(x)))  # noqa: E731
    start = case.points[0]
    expected = differences(gradient, case.flat(start))
    close(case.matrix(F.hessian(f, argnums)(*start), case.inputs), expected, 1e-7)
    for p in case.points[:3]:
        first = case.matrix(F.hessian(f, argnums)(*p), case.inputs)
        for road in roads:
            close(case.matrix(road(*p), case.inputs), first, 1e-11)
        tangent = np.sin(np.arange(len(first)) + 1.0)
        for product in (F.hvp, F.vhp):
            found = product(f, p, case.arguments(tangent))[1]
            close(case.flat(found), first @ tangent, 1e-11)


@over_twice
def test_mapped_hessians(function):
    case = Case(function)
    f, argnums = case.scalar, case.argnums
    stacked = optree.tree_map(lambda *samples: np.stack(samples), *case.points)
    single = [case.matrix(F.hessian(f, argnums)(*p), case.inputs) for p in case.points]
    for transform in (F.hessian(f, argnums), F.jacfwd(F.jacrev(f, argnums), argnums)):
        found = F.vmap(transform)(*stacked)
        for n, expected in enumerate(single):
            sample = optree.tree_map(lambda block, n=n: np.asarray(block)[n], found)
            close(case.matrix(sample, case.inputs), expected, 1e-11)
