"""Linear algebra with SciPy's parameters: values, slopes in Hermitian directions, errors."""

import numpy as np
import pytest
import scipy.linalg

import numgrad as ng

rng = np.random.default_rng(5)
SQUARE = rng.standard_normal((4, 4))
REAL = SQUARE @ SQUARE.T + 4 * np.eye(4)
COMPLEX = REAL + 1j * (SQUARE - SQUARE.T)
MASS = np.diag([2.0, 1.0, 3.0, 1.5]) + 0.1
RIGHT = rng.standard_normal(4)
FACTORS = {"overwrite_a": True, "check_finite": False}


def hermitian(x):
    return x + x.conj().T


def solved(structure, **options):
    return lambda la, a: la.solve(a, RIGHT, assume_a=structure, **options)


CALLS = {
    "cholesky": lambda la, a: la.cholesky(a, lower=True, **FACTORS),
    "cholesky upper": lambda la, a: la.cholesky(a, lower=False),
    "solve": lambda la, a: la.solve(a, RIGHT.copy(), overwrite_b=True, **FACTORS),
    "solve transposed": lambda la, a: la.solve(a, RIGHT, transposed=True),
    "solve pos": solved("pos"),
    "solve pos lower": solved("positive definite", lower=True),
    "solve pos transposed": solved("pos", transposed=True),
    "solve her": solved("her"),
    "solve her transposed": solved("hermitian", lower=True, transposed=True),
    "solve sym": solved("sym"),
    "solve sym transposed": solved("sym", transposed=True),
    "solve sym lower": solved("symmetric", lower=True),
    "solve gen transposed": solved("gen", transposed=True),
    "solve upper": solved("upper triangular"),
    "solve lower transposed": solved("lower triangular", transposed=True),
    "solve diagonal": solved("diagonal"),
    "solve tridiagonal": solved("tridiagonal"),
    "solve banded": solved("banded"),
    "inv": lambda la, a: la.inv(a, **FACTORS),
    "det": lambda la, a: la.det(a.copy(), **FACTORS),
    "norm": lambda la, a: la.norm(a, "fro", check_finite=False),
    "eigh values": lambda la, a: la.eigh(a, eigvals_only=True, driver="ev", **FACTORS),
    "eigh of two": lambda la, a: la.eigh(a, MASS, eigvals_only=True),
    "eigh upper": lambda la, a: la.eigh(a, b=MASS, lower=False, eigvals_only=True),
    "eigh type 2": lambda la, a: la.eigh(a, MASS, type=2, eigvals_only=True),
    "eigh type 3": lambda la, a: la.eigh(MASS, a, type=3, eigvals_only=True),
    "eigh by index": lambda la, a: la.eigh(a, eigvals_only=True, subset_by_index=[1, 2]),
    "eigh by value": lambda la, a: la.eigh(a, eigvals_only=True, subset_by_value=[0, 7]),
    "eigh of two by index": lambda la, a: la.eigh(a, MASS, subset_by_index=[0, 0])[0],
    "eigvalsh": lambda la, a: la.eigvalsh(a, MASS, subset_by_index=(2, 3), **FACTORS),
    "eigvals": lambda la, a: np.sort(abs(la.eigvals(a, MASS + SQUARE, **FACTORS))),
    "eig": lambda la, a: np.sort(abs(la.eig(a, MASS + SQUARE, right=False))),
    "svd": lambda la, a: la.svd(a, full_matrices=False, lapack_driver="gesvd", **FACTORS)[1],
    "svdvals": lambda la, a: la.svdvals(a, **FACTORS),
    "qr": lambda la, a: abs(la.qr(a[:, :3], mode="economic", **FACTORS)[1]),
    "qr full": lambda la, a: abs(la.qr(a[:, :3], mode="full")[1]),
    "lstsq": lambda la, a: la.lstsq(a[:, :3], RIGHT, cond=1e-10, lapack_driver="gelsd")[0],
    "pinv": lambda la, a: la.pinv(a[:, :3], check_finite=False),
    "lu": lambda la, a: la.lu(a, p_indices=True, **FACTORS)[2],
    "eigh_tridiagonal": lambda la, a: la.eigh_tridiagonal(
        a.diagonal().real, a[0, :3].real, eigvals_only=True, check_finite=False
    ),
    "eigh_tridiagonal by index": lambda la, a: la.eigh_tridiagonal(
        a.diagonal().real, a[0, :3].real, select="i", select_range=(1, 2)
    )[0],
    "eigvalsh_tridiagonal": lambda la, a: la.eigvalsh_tridiagonal(
        a.diagonal().real, a[0, :3].real, select="v", select_range=(0.0, 8.0)
    ),
}
READS_VALUES = {"eigh by value", "eigvalsh_tridiagonal"}


KINDS = {"real": REAL, "complex": COMPLEX}
CASES = [
    (name, kind)
    for name in CALLS
    for kind in KINDS
    if kind == "real" or "transposed" not in name  # of complex numbers SciPy does not solve these
]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_values_and_derivatives(name, kind):
    a = KINDS[kind]

    def weighed(library, a):
        y = CALLS[name](library, a)
        return ng.real(y * np.cos(np.arange(y.size)).reshape(y.shape)).sum()

    expected = CALLS[name](scipy.linalg, a.copy())
    np.testing.assert_allclose(CALLS[name](ng.linalg, ng.tensor(a)), expected, 1e-9, 1e-12)
    of_all = ng.func.value_and_grad(lambda a: weighed(ng.linalg, a))
    value, gradient = of_all(a)
    direction = hermitian(np.random.default_rng(0).standard_normal(a.shape) * a / abs(a))
    up, down = (weighed(ng.linalg, ng.tensor(a + s * direction)).item() for s in (1e-6, -1e-6))
    slope = (gradient.conj() * direction).sum().real
    np.testing.assert_allclose(slope, (up - down) / 2e-6, 1e-6, 1e-7)
    if name not in READS_VALUES:
        captured = ng.jit(of_all)(a)
        np.testing.assert_allclose(captured[0], value, 1e-13)
        np.testing.assert_allclose(captured[1], gradient, 1e-11, 1e-12)


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("a", KINDS.values(), ids=KINDS)
def test_vectors_of_generalized_problems(kind, a):
    w, v = ng.linalg.eigh(ng.tensor(a), MASS, type=kind)
    expected, vectors = scipy.linalg.eigh(a, MASS, type=kind)
    np.testing.assert_allclose(w.numpy(), expected, 1e-12)
    np.testing.assert_allclose(abs(v.numpy()), abs(vectors), 1e-9, 1e-12)


def test_modes_of_a_chain_of_masses():
    """The slope of a frequency to a stiffness is the square of how far its spring is stretched."""

    def lowest(k):
        stiffness = np.diag(k[:-1] + k[1:]) - np.diag(k[1:-1], 1) - np.diag(k[1:-1], -1)
        return ng.linalg.eigh(stiffness, np.diag([1.0, 2.0, 1.5]), subset_by_index=[0, 0])

    k = np.array([3.0, 1.0, 2.0, 4.0])
    slope = ng.func.grad(lambda k: lowest(k)[0][0])(k)
    mode = lowest(ng.tensor(k))[1].numpy()[:, 0]
    np.testing.assert_allclose(slope, np.diff(mode, prepend=0, append=0) ** 2, 1e-12)


@pytest.mark.parametrize("structure", ["gen", "her", "sym", "pos", "upper triangular", "banded"])
def test_transposed_systems_of_complex_numbers(structure):
    a = np.triu(COMPLEX) if structure.startswith("upper") else COMPLEX
    a = a.real + 0.3j * a.real if structure == "sym" else a
    x = ng.linalg.solve(a, RIGHT, assume_a=structure, transposed=True)
    np.testing.assert_allclose(x.numpy(), np.linalg.solve(a.T, RIGHT), 1e-12)


def test_only_what_a_structure_has_is_read():
    spoiled = REAL + np.triu(np.full((4, 4), np.nan), 1)
    for structure in ("sym", "her", "pos"):
        x = ng.linalg.solve(spoiled, RIGHT, assume_a=structure, lower=True)
        np.testing.assert_allclose(x.numpy(), np.linalg.solve(REAL, RIGHT), 1e-12)
    np.testing.assert_allclose(
        ng.linalg.eigh(spoiled, MASS, lower=True)[0].numpy(), scipy.linalg.eigh(REAL, MASS)[0]
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda la: la.solve(REAL, RIGHT, assume_a="nice"), ValueError, "solve: assume_a='nice'"),
        (lambda la: la.solve(-REAL, RIGHT, assume_a="pos"), np.linalg.LinAlgError, "cho_factor"),
        (lambda la: la.det(REAL, finite=True), TypeError, r"det\(\) got an unexpected"),
        (lambda la: la.eigh(REAL, -MASS), np.linalg.LinAlgError, "eigh"),
        (lambda la: la.eigh(REAL, MASS[:3, :3]), ValueError, "do not fit"),
        (lambda la: la.eigh(REAL, MASS, type=4), ValueError, "type=4"),
        (lambda la: la.eigvalsh(REAL, subset_by_index=[2, 4]), ValueError, "no range of 4"),
        (
            lambda la: la.eigvalsh(REAL, subset_by_index=[0, 1], subset_by_value=[0, 1]),
            ValueError, "exclude each other",
        ),
        (lambda la: la.eigvalsh([REAL], subset_by_value=[0, 1]), ValueError, "for one matrix"),
        (lambda la: la.eig(REAL, left=True), NotImplementedError, "left eigenvectors"),
        (lambda la: la.eigh_tridiagonal([1.0, 2.0], [1.0, 2.0]), ValueError, "do not fit"),
        (lambda la: la.eigh_tridiagonal([1.0], [], select="x"), ValueError, "select='x'"),
    ],
)  # fmt: skip
def test_errors_name_the_function(call, error, message):
    with pytest.raises(error, match=message):
        call(ng.linalg)
