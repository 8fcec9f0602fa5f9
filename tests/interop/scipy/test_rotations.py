"""Rotations: SciPy's values and conventions, and derivatives, also at the identity."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
from scipy.spatial import transform

import numgrad as ng

Own, Theirs = ng.interop.scipy.Rotation, transform.Rotation
RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(5, 3)) * 1.3
OTHERS, POINTS = RNG.normal(size=(2, 5, 3))
SEQUENCES = [
    *map("".join, itertools.permutations("xyz")), *("xyx", "zxz", "yzy"),
]  # fmt: skip
takes_tensors = pytest.mark.skipif(
    Theirs.__flags__ & (1 << 8) != 0, reason="this SciPy's class is compiled, and stays as it is"
)


def same(found, expected, **options):
    if isinstance(expected, Theirs):
        found, expected = found.as_quat(canonical=True), expected.as_quat(canonical=True)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6, atol=1e-12, **options)


def differences(f, x, h=1e-6):
    steps = h * np.eye(x.size).reshape(x.size, *x.shape)
    columns = [(np.asarray(f(x + e)) - np.asarray(f(x - e))) / (2 * h) for e in steps]
    return np.moveaxis(np.array(columns), 0, -1).reshape(np.shape(f(x)) + x.shape)


def checked(f, x):
    """Compare first and second derivatives with differences, and the modes with each other."""
    jacobian = ng.func.jacobian(f)
    np.testing.assert_allclose(jacobian(x), differences(f, x), atol=1e-7)
    np.testing.assert_allclose(
        ng.func.jacobian(jacobian)(x), differences(jacobian, x), rtol=1e-5, atol=1e-6
    )
    eager = f(ng.tensor(x, requires_grad=True)).detach().numpy()
    np.testing.assert_array_equal(ng.jit(f)(x), eager)
    np.testing.assert_allclose(ng.func.vmap(f)(np.stack([x, x]))[1], f(x), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(ng.func.jacfwd(f)(x), jacobian(x), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rows", [0, slice(None)], ids=["one", "array"])
def test_values_are_scipys(rows):
    v, u, x = VECTORS[rows], OTHERS[rows], POINTS[rows]
    (a, b), (c, d) = (map(kind.from_rotvec, (v, u)) for kind in (Theirs, Own))
    same(c, a)
    for found, expected in (
        (c * d, a * b), (c * b, a * b), (a * d, a * b), (c.inv(), a.inv()), (c**0.3, a**0.3),
        (Own.from_mrp(a.as_mrp()), a), (Own.from_matrix(a.as_matrix()), a),
        (Own.from_quat(3.0 * a.as_quat()), a), (Own.from_rotvec(a.as_rotvec(True), True), a),
        (Own.from_quat(a.as_quat(scalar_first=True), scalar_first=True), a),
    ):  # fmt: skip
        same(found, expected)
    for name in ("as_matrix", "as_rotvec", "as_mrp", "magnitude"):
        same(getattr(c, name)(), getattr(a, name)(), err_msg=name)
    same(c.as_quat(scalar_first=True), a.as_quat(scalar_first=True))
    same(c.as_rotvec(degrees=True), a.as_rotvec(degrees=True))
    same(c.apply(x), a.apply(x))
    same(c.apply(x, inverse=True), a.apply(x, inverse=True))
    same(c.apply(POINTS), a.apply(POINTS))
    assert np.all(np.asarray(c.approx_equal(a)))
    assert not np.any(np.asarray(c.approx_equal(b)))


@pytest.mark.parametrize("turn", [str.lower, str.upper])
def test_angles_are_scipys(turn):
    a, c = Theirs.from_rotvec(VECTORS), Own.from_rotvec(VECTORS)
    for sequence in map(turn, SEQUENCES):
        angles = a.as_euler(sequence)
        same(c.as_euler(sequence), angles, err_msg=sequence)
        same(c.as_euler(sequence, degrees=True), a.as_euler(sequence, degrees=True))
        same(Own.from_euler(sequence, angles), a, err_msg=sequence)
        locked = [0.3, np.pi / 2 if len(set(sequence)) == 3 else 0.0, 0.2]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = Theirs.from_euler(sequence, locked).as_euler(sequence)
        with pytest.warns(UserWarning, match="gimbal lock") as caught:
            found = Own.from_euler(sequence, locked).as_euler(sequence)
        np.testing.assert_allclose(np.asarray(found), expected, atol=1e-7, err_msg=sequence)
        assert [w.filename for w in caught] == [__file__]
    for sequence, given in (("x", 0.3), ("x", [0.3]), ("x", [[0.3], [0.4]]), ("ZX", [[0.3, 0.4]])):
        same(Own.from_euler(turn(sequence), given), Theirs.from_euler(turn(sequence), given))
    axes, angles = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [[0.3, 0.4]] * 3
    for order in ("e", "intrinsic"):
        same(Own.from_davenport(axes, order, angles), Theirs.from_davenport(axes, order, angles))


def test_fits_are_scipys():
    a, c = Theirs.from_rotvec(VECTORS), Own.from_rotvec(VECTORS)
    weights = RNG.random(5)
    same(c.mean(), a.mean())
    same(c.mean(weights), a.mean(weights))
    rough = a.as_matrix() + 0.1 * RNG.normal(size=(5, 3, 3))
    same(Own.from_matrix(rough), Theirs.from_matrix(rough))
    turned = a[0].apply(POINTS) + 0.1 * RNG.normal(size=(5, 3))
    for given in (None, weights, [1.0, 2.0, np.inf, 3.0, 1.0]):
        for found, expected in zip(
            Own.align_vectors(POINTS, turned, given),
            Theirs.align_vectors(POINTS, turned, given), strict=True,
        ):  # fmt: skip
            same(found, expected)
    for end in (turned[0], -POINTS[0]):
        found, rest = Own.align_vectors(POINTS[0], end)
        same(found.apply(end) / np.linalg.norm(end), POINTS[0] / np.linalg.norm(POINTS[0]))
        same(rest, Theirs.align_vectors(POINTS[0], end)[1])
    times = np.array([0.0, 1.0, 2.0, 4.0, 5.0])
    for at in (1.7, [0.0, 0.3, 2.5, 5.0]):
        same(ng.interop.scipy.Slerp(times, c)(at), transform.Slerp(times, a)(at))


AT = {"identity": np.zeros(3), "near": np.array([0.1, 0.2, -0.3]), "far": np.array([2.0, 1.0, 1.0])}


@pytest.mark.parametrize("at", AT)
def test_derivatives_to_vectors(at):
    checked(lambda v: Own.from_rotvec(v).apply([1.0, 2.0, 3.0]), AT[at])
    checked(lambda v: (Own.from_rotvec(v) * Own.from_rotvec([0.1, 0.0, 0.0])).as_rotvec(), AT[at])
    checked(lambda v: (Own.from_rotvec(v) ** 2.5).as_matrix(), AT[at])
    checked(lambda v: Own.from_mrp(Own.from_rotvec(v).as_mrp()).as_rotvec(), AT[at])
    checked(lambda v: Own.from_euler("zyx", v).as_matrix(), AT[at])


def test_derivatives_of_the_others():
    matrix = Theirs.from_rotvec(VECTORS[0]).as_matrix()
    rough, rotations = matrix + 0.1 * RNG.normal(size=(3, 3)), Own.from_rotvec(VECTORS)
    times, weights = np.array([0.0, 1.0, 2.0, 4.0, 5.0]), RNG.random(5)
    turned = POINTS @ matrix + 0.1 * RNG.normal(size=(5, 3))
    checked(lambda v: Own.from_euler("zyx", v).as_euler("xyz"), AT["near"])
    checked(lambda m: Own.from_matrix(m).as_rotvec(), rough)
    checked(lambda p: Own.align_vectors(p, turned)[0].as_rotvec(), POINTS)
    checked(lambda p: Own.align_vectors(POINTS, p, weights)[1], turned)
    checked(lambda p: Own.align_vectors(p, turned[0])[0].as_rotvec(), POINTS[0])
    checked(lambda p: Own.align_vectors(p, turned, [1, 2, np.inf, 3, 1])[0].as_rotvec(), POINTS)
    checked(lambda w: Own.align_vectors(POINTS, turned, w)[0].as_rotvec(), weights)
    checked(lambda v: Own.from_rotvec(v).mean().as_rotvec(), VECTORS)
    slerp = ng.interop.scipy.Slerp
    checked(lambda t: slerp(times, rotations)(t).as_rotvec(), np.array([0.3, 2.5, 4.2]))
    checked(lambda v: slerp(times, Own.from_rotvec(v))(1.7).as_rotvec(), VECTORS)


@takes_tensors
def test_programs_that_import_scipys_classes_take_tensors():
    from scipy.spatial.transform import Rotation as R  # noqa: N817
    from scipy.spatial.transform import Slerp

    constant = R.from_rotvec([0.1, 0.2, 0.3])

    def program(v):
        turn = R.identity() * R.from_euler("x", v[0]) * R.from_euler("z", v[1])
        turn = constant * turn
        between = Slerp([0.0, 1.0], R.concatenate([R.identity(), turn]))(0.4)
        return np.concatenate([
            turn.apply([1.0, 2.0, 3.0]) + constant.apply(v), (constant ** v[0]).as_quat(),
            between.as_euler("xyz"), (constant.inv() * turn).as_matrix().ravel(),
        ])  # fmt: skip

    checked(program, AT["near"])
    path = Slerp([0.0, 1.0, 2.0], R.from_rotvec(VECTORS[:3]))
    checked(lambda t: path(t).apply([0.0, 0.0, 1.0]), np.array([0.3, 1.7]))
    assert type(program(AT["near"])) is np.ndarray
    assert type(R.from_euler("x", ng.tensor(0.3))) is Theirs
    assert pickle.loads(pickle.dumps(R.from_euler)) is R.from_euler


def test_transformed_functions_take_and_return_rotations():
    turn = ng.jit(lambda v: Own.from_rotvec(v) * Own.from_rotvec([0.1, 0.2, 0.3]))
    expected = Theirs.from_rotvec(VECTORS) * Theirs.from_rotvec([0.1, 0.2, 0.3])
    same(turn(VECTORS), expected)
    same(turn(VECTORS).apply(POINTS), expected.apply(POINTS))
    same(turn(VECTORS).as_rotvec(), expected.as_rotvec())
    same(ng.func.vmap(turn)(VECTORS), expected)
    slope = ng.func.grad(lambda r: r.apply([1.0, 0.0, 0.0])[1])(Own.from_rotvec(np.zeros(3)))
    np.testing.assert_allclose(slope.as_quat(), [0.0, 0.0, 2.0, 0.0])  # of 2 (x y + z w)


def test_arrays_of_rotations():
    rotations = Own.from_rotvec(VECTORS)
    assert (len(rotations), rotations.shape, rotations.single) == (5, (5,), False)
    assert (rotations[1].single, rotations[1:3].shape) == (True, (2,))
    assert [r.shape for r in rotations] == [()] * 5
    assert (Own.identity().shape, Own.identity(2).shape) == ((), (2,))
    joined = Own.concatenate([rotations, rotations[0], Theirs.identity()])
    assert joined.shape == (7,)
    same(pickle.loads(pickle.dumps(Own.from_rotvec(VECTORS))), Theirs.from_rotvec(VECTORS))
    with pytest.raises(TypeError, match="no len"):
        len(rotations[0])
    with pytest.raises(TypeError, match="no items"):
        rotations[0][0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Own.from_quat(np.zeros(4)), "length 0"),
        (lambda: Own.from_quat(np.ones(3)), r"shape \(..., 4\), got \(3,\)"),
        (lambda: Own.from_matrix(-np.eye(3)), "determinant"),
        (lambda: Own.from_euler("xx", [0.1, 0.2]), "consecutive"),
        (lambda: Own.from_euler("xY", [0.1, 0.2]), "'XYZ'"),
        (lambda: Own.from_euler("xyz", [0.1, 0.2]), "3 axes take angles"),
        (lambda: Own.from_davenport(np.ones((2, 3)), "e", [0.1, 0.2]), "orthogonal"),
        (lambda: Own.align_vectors(POINTS, POINTS[:2]), "one shape"),
        (lambda: Own.align_vectors(POINTS, POINTS, [np.inf] * 5), "only one"),
        (lambda: Own.from_rotvec(VECTORS).mean(-np.ones(5)), "negative"),
        (lambda: ng.interop.scipy.Slerp([0.0, 1.0], Own.from_rotvec(VECTORS)), "as many"),
        (lambda: ng.interop.scipy.Slerp(np.arange(5), Own.from_rotvec(VECTORS))(5.1), "within"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
    assert (Own.identity().__mul__(2.0), Own.identity().__rmul__(2.0)) == (NotImplemented,) * 2
