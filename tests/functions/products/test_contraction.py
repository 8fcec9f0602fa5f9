"""Sums of products over named axes against NumPy, and their derivatives."""

import tracemalloc

import numpy as np
import pytest

import numgrad as ng
from numgrad.functions.products import contraction

from ...operators.derivatives import check_derivatives
from .matrices import close, draw

EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,kj->ki", (2, 3), (4, 3)), ("i,i", (3,), (3,)),
    ("i,j->ij", (3,), (4,)), ("i,j->ji", (3,), (4,)), ("ij->ji", (2, 3)), ("ij->", (2, 3)),
    ("ii", (3, 3)), ("ii->i", (3, 3)), ("iij->ji", (3, 3, 2)), ("iii->i", (3, 3, 3)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("bi,bi->b", (2, 3), (2, 3)),
    ("bi,bij,bj->b", (2, 3), (2, 3, 4), (2, 4)), ("abc,cd,ea->bde", (2, 3, 4), (4, 5), (2, 2)),
    ("...ij,jk->...ik", (5, 2, 3), (3, 4)), ("...,...", (5, 2), (2,)), ("i...->...i", (2, 3, 4)),
    ("ij,jk", (2, 1), (3, 4)), ("ij,ij->ij", (2, 1), (1, 3)), ("...i,...i", (1, 4, 3), (5, 1, 3)),
    ("ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 2), (2, 3)), ("ik,jk->", (2, 3), (4, 3)),
    ("ba", (2, 3)), ("ij,k->ik", (2, 3), (4,)), (",i", (), (3,)), ("i,i,i->i", (3,), (3,), (3,)),
]  # fmt: skip


@pytest.mark.parametrize("case", EINSUMS, ids=lambda case: case[0])
def test_einsum(rng, case):
    subscripts, *shapes = case
    arrays = draw(rng, *shapes)
    close(ng.einsum(subscripts, *arrays), np.einsum(subscripts, *arrays))
    for position, array in enumerate(arrays):

        def function(x, at=position):
            return ng.einsum(subscripts, *arrays[:at], x, *arrays[at + 1 :])

        check_derivatives(function, array, rng)


def test_einsum_of_lists_and_other_dtypes(rng):
    a, b = draw(rng, (2, 3), (3, 4))
    close(ng.einsum(a, [0, 1], b, [1, 2], [2, 0]), np.einsum(a, [0, 1], b, [1, 2], [2, 0]))
    close(ng.einsum(a, [Ellipsis, 0], b, [0, 1]), np.einsum(a, [Ellipsis, 0], b, [0, 1]))
    whole = rng.integers(0, 9, (3, 3))
    close(ng.einsum("ij,jk->ik", whole, whole), whole @ whole)
    close(ng.einsum("ii", whole), np.trace(whole))
    z = a + 1j * a[::-1]
    close(ng.einsum("ij,kj", z, a), np.einsum("ij,kj", z, a))
    x = ng.tensor(z, requires_grad=True)
    (g,) = ng.grad(ng.real(ng.einsum("ij,ij", x, z)), x)
    close(g, z.conj())


MIXED = [
    ("ij,k->ik", (4, 3), (2,)), ("i,->", (9,), ()), ("iij,k->kj", (5, 5, 2), (2,)),
    ("i,ij,k->k", (9,), (1, 9), (2,)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.float16, np.float32])
@pytest.mark.parametrize("case", MIXED, ids=lambda case: case[0])
def test_einsum_sums_in_the_dtype_of_the_result(case, dtype):
    subscripts, *shapes = case
    arrays = [(np.arange(np.prod(shape, dtype=int)) % 2 * 101).reshape(shape) for shape in shapes]
    arrays = [array.astype(dtype) for array in arrays[:-1]] + [arrays[-1] + 1.1]
    close(ng.einsum(subscripts, *arrays), np.einsum(subscripts, *arrays))
    x = ng.tensor(arrays[-1], requires_grad=True)
    (g,) = ng.grad(ng.einsum(subscripts, *arrays[:-1], x).sum(), x)
    ones = np.eye(x.size).reshape(x.size, *x.shape)
    close(g, np.reshape([np.einsum(subscripts, *arrays[:-1], one).sum() for one in ones], x.shape))


@pytest.mark.parametrize("case", EINSUMS, ids=lambda case: case[0])
def test_einsum_that_is_met_again_is_that_of_the_first_call(rng, case):
    subscripts, *shapes = case

    def value_and_gradients(dtype):
        tensors = [ng.tensor(x.astype(dtype), requires_grad=True) for x in arrays]
        y = ng.einsum(subscripts, *tensors)
        return [y, *ng.grad(y, tensors, np.ones(y.shape, dtype), allow_unused=True)]

    for dtype in (np.float64, np.float32, np.float64, np.float32, np.float64):
        arrays = draw(rng, *shapes)
        found = value_and_gradients(dtype)
    contraction._einsum.forget_plans()
    for one, other in zip(found, value_and_gradients(dtype), strict=True):
        np.testing.assert_array_equal(one.detach(), other.detach(), strict=True)


def test_einsum_of_one_operand_as_it_is_leaves_it_as_it_is():
    x = ng.tensor(2.0, requires_grad=True)
    y = ng.einsum("", x) * 3.0
    assert ng.grad(y, x)[0] == 3.0
    with pytest.raises(ng.errors.LeafInplaceError):
        x += 1.0


def test_einsum_takes_a_path(rng):
    arrays = draw(rng, (2, 3), (3, 4), (4, 5))
    path = np.einsum_path("ij,jk,kl", *arrays, optimize="optimal")[0]
    close(ng.einsum("ij,jk,kl", *arrays, optimize=path), np.einsum("ij,jk,kl", *arrays))
    close(ng.einsum("ij,jk,kl", *arrays, optimize=path[1:]), np.einsum("ij,jk,kl", *arrays))
    with pytest.raises(ValueError, match=r"after the steps \(\(0, 1\),\) there are 2 terms left"):
        ng.einsum("ij,jk,kl", *arrays, optimize=[(0, 1)])


@pytest.mark.host_only("measures the memory of the processor")
def test_einsum_keeps_no_product_that_was_used():
    text, size = "ab,bc,cd,de,ef,fg,gh,hi,ij,jk->ak", 200
    path = ["einsum_path", *[(0, 1), *[(0, n) for n in range(8, 0, -1)]]]
    peaks = []
    matrices = [ng.tensor(np.eye(size)) for _ in range(10)]
    for _ in range(4):
        tracemalloc.start()
        ng.einsum(text, *matrices, optimize=path)
        peaks.append(tracemalloc.get_traced_memory()[1] / (8 * size**2))
        tracemalloc.stop()
    assert max(peaks[1:]) < 4  # the first call loads what it needs


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [("ij,jk", [(2, 3)]), ("ij", [(2,)]), ("i,i", [(2,), (3,)]), ("i->ii", [(2,)]),
     ("i->j", [(2,)]), ("i1", [(2, 2)]), ("i......", [(2,)]), ("...i->i", [(2, 2)])],
)  # fmt: skip
def test_einsum_refuses(subscripts, shapes):
    with pytest.raises(ValueError, match="einsum"):
        ng.einsum(subscripts, *map(np.ones, shapes))


@pytest.mark.parametrize("axes", [0, 1, 2, ([1, 0], [0, 1]), (-1, -2), ([2, 0], [1, 3])])
def test_tensordot(rng, axes):
    shapes = {0: ((2, 3), (4,)), 1: ((2, 3), (3, 4)), 2: ((5, 2, 3), (2, 3, 4))}.get(
        axes if isinstance(axes, int) else -1, ((4, 3, 3), (3, 3, 1, 4))
    )
    if axes == ([1, 0], [0, 1]):
        shapes = ((2, 3, 4), (3, 2, 5))
    if axes == (-1, -2):
        shapes = ((2, 3), (3, 2))
    a, b = draw(rng, *shapes)
    close(ng.tensordot(a, b, axes), np.tensordot(a, b, axes))
    check_derivatives(lambda x: ng.tensordot(x, b, axes), a, rng)


@pytest.mark.parametrize("axes", [3, -1, ([0], [1, 0]), ([0, 0], [0, 0]), (5, 0)])
def test_tensordot_refuses(axes):
    with pytest.raises(ValueError, match="tensordot"):
        ng.tensordot(np.ones((2, 2)), np.ones((2, 2)), axes)


@pytest.mark.parametrize("namespace", [np, ng])
@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("dot", (np.arange(6.0).reshape(2, 3), np.ones((3, 2)))),
        ("outer", (np.arange(2.0), np.arange(3.0))),
        ("trace", (np.arange(9.0).reshape(3, 3),)),
        ("einsum", ("ij,kj->ik", np.arange(6.0).reshape(2, 3), np.ones((4, 3)))),
    ],
)
def test_results_are_written_to_out(namespace, name, operands):
    expected = getattr(np, name)(*operands)
    out = ng.zeros(np.shape(expected))
    x = ng.tensor(operands[-1], requires_grad=True)
    assert getattr(namespace, name)(*operands[:-1], x, out=out) is out
    np.testing.assert_array_equal(out.detach().numpy(), expected)
    (slope,) = ng.grad((out * out).sum(), x)
    step = 1e-6 * np.ones(x.shape)
    ends = [
        np.sum(getattr(np, name)(*operands[:-1], operands[-1] + s * step) ** 2) for s in (1, -1)
    ]
    np.testing.assert_allclose(slope.numpy().sum(), (ends[0] - ends[1]) / 2e-6, rtol=1e-8)


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": complex}, {"dtype": "f4", "casting": "same_kind"}, {"dtype": "f4"},
        {"dtype": int, "casting": "unsafe"}, {"casting": "no"},
    ],
    ids=str,
)  # fmt: skip
def test_einsum_multiplies_in_the_dtype_that_is_asked_for(options):
    x, y = np.array([[1.5, 2.5], [3.0, -1.0]]), np.array([2.0, 0.5])
    try:
        expected = np.einsum("ij,j", x, y, **options)
    except TypeError:
        for library in (ng, np):
            with pytest.raises(TypeError):
                library.einsum("ij,j", ng.tensor(x), y, **options)
        return
    for library in (ng, np):
        found = library.einsum("ij,j", ng.tensor(x), ng.tensor(y), **options).numpy()
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, 1e-6)
    if options.get("dtype") is complex:
        f = lambda *xs: ng.einsum("ij,j", *xs, dtype=complex)  # noqa: E731
        assert ng.testing.gradcheck(f, (ng.tensor(x, requires_grad=True), ng.tensor(y)))
