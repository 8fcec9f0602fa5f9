"""Products of matrices: tiles, how factors lie, and in which order terms are added."""

from types import SimpleNamespace

import numpy as np
import pytest

from numgrad.targets.cpu.linalg import gemm
from numgrad.targets.cuda.kernels import product, tiles
from numgrad.targets.cuda.launch.steps import LaunchSequence

from ..programs import TARGET, on_both, on_device, program_of, require_equal
from .matrices import FLOATS, made, product_of, some, spread

INTEGERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def product_on_device(a, b):
    (found,) = on_device(program_of(lambda x, y: x @ y, a, b))
    return found


def require_product(a, b):
    found, expected = product_on_device(a, b), np.matmul(a, b)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    tolerance = 0 if a.dtype.kind in "biu" else 20 * np.finfo(a.dtype).eps * (1 + a.shape[-1])
    np.testing.assert_allclose(found, expected, tolerance, tolerance)


# Kernels ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_factors_of_every_dtype_are_multiplied(dtype):
    """Integers overflow as those of NumPy do, and any pair of truth values makes a true one."""
    require_product(made((5, 9), dtype), made((9, 6), dtype))  # large tiles
    require_product(made((2, 9), dtype), made((9, 3), dtype))  # flat ones, blocks apart


@pytest.mark.parametrize(("dtype", "number"), [("float32", 1), ("float32", 2), ("float64", 0)])
def test_tiles_of_gpus_multiply(dtype, number, monkeypatch):
    tile = product.tiles(np.dtype(dtype))[number]
    monkeypatch.setattr(TARGET.runtime.driver, "tiles", lambda dtype: (tile,) * 3)
    a = made((tile.rows + 1, tile.depth + 3), dtype)
    require_product(a, made((tile.cols - 1, tile.depth + 3), dtype).T)


def test_blocks_of_threads_share_the_tiles():
    """Run by one thread, in a grid of two blocks, none of which makes what the other one does."""
    kernel = product.product(np.dtype(float), 1, product.Tile(1, 1, 1, 1, 1, 1, terms=2))
    a, b, writes = made((3, 5), float), made((5, 4), float), []
    out = Noting(12, writes)
    for block in range(2):
        scope = {**kernel.scope, "cuda": Grid(block)}
        exec(kernel.text, scope)
        lies = (a.ravel(), 0, 5, 1, 1), (b.ravel(), 0, 1, 4, 0), (out, 0, 4, 1, 0)
        sizes = 1, 3, 3, 5, 1, 3, 4  # three blocks of terms, one after the other
        scope["kernel"](*sizes, *lies[0], *lies[1], *lies[2])
    np.testing.assert_allclose(np.reshape(out, (3, 4)), a @ b, 1e-13)
    assert sorted(writes) == sorted([*range(12)] * 3)


class Grid:
    """What a kernel of one thread sees of a grid of two blocks."""

    def __init__(self, block):
        self.blockIdx, self.gridDim = SimpleNamespace(x=block), SimpleNamespace(x=2)
        self.threadIdx = SimpleNamespace(x=0)
        self.shared = self.local = self

    def array(self, shape, dtype, alignment=1):
        return np.empty(shape, dtype)

    def syncthreads(self):
        pass


class Noting(list):
    """Elements, and which of them were written."""

    def __init__(self, count, writes):
        super().__init__([0.0] * count)
        self.writes = writes

    def __setitem__(self, index, value):
        self.writes.append(index)
        super().__setitem__(index, value)


def test_integers_are_multiplied_by_tiles_too():
    (step,) = steps_of(made((5, 4), "int32"), made((4, 6), "int32"))
    assert "cuda.shared" in step.kernel.kernel.text


def test_truth_values_are_not_added():
    """They are bytes on a device, and could add up to 256; those of the simulator could not."""
    dtype = np.dtype(bool)
    assert "] + parts[" not in product.joined(dtype, 2).text
    assert "] + total[" not in product.product(dtype, 1, product.tiles(dtype)[0]).text


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("cols", [1, 3, 4, 5])
def test_tiles_end_where_matrices_do(rows, cols):
    for inner in (2, 4, 5):
        require_product(made((rows, inner), float), made((inner, cols), float))


LIES = {
    "by rows": lambda m: m,
    "by columns": lambda m: m.mT.copy().mT,
    "upside down": lambda m: m[..., ::-1, :].copy()[..., ::-1, :],
    "every second": lambda m: np.repeat(m, 2, axis=-1)[..., ::2],
    "backwards by columns": lambda m: m.mT[..., ::-1, ::-1].copy()[..., ::-1, ::-1].mT,
    "one row": lambda m: np.broadcast_to(m[..., :1, :], m.shape),
    "one column": lambda m: np.broadcast_to(m[..., :1], m.shape),
}


@pytest.mark.parametrize("left", LIES)
@pytest.mark.parametrize("right", LIES)
def test_factors_lie_in_any_way(left, right):
    require_product(LIES[left](made((3, 5), float)), LIES[right](made((5, 4), float)))


@pytest.mark.parametrize("lies", LIES)
def test_stacks_of_factors_lie_in_any_way(lies):
    require_product(LIES[lies](made((3, 2, 3), float)), LIES[lies](made((3, 3, 3), float)))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 2, 4), (3, 4, 5)), ((2, 3, 2, 4), (2, 1, 4, 5)), ((2, 1, 3, 4), (2, 3, 4, 3)),
        ((3, 1, 4), (4, 5)), ((2, 2, 1, 4), (2, 1, 4, 5)), ((5, 4), (3, 4, 1)), ((6,), (6, 3)),
        ((2, 6), (6,)), ((0, 2, 3), (0, 3, 2)), ((3, 0), (0, 4)), ((2, 5, 0), (2, 0, 5)),
    ],
)  # fmt: skip
def test_stacks_are_broadcast_and_sums_of_nothing_are_zero(left, right):
    require_equal(on_both(lambda x, y: x @ y, made(left, float), made(right, float)), 1e-13)


# Order --------------------------------------------------------------------------------------------


def in_order(a, b, terms):
    """Multiply and add term by term, block by block."""
    total = None
    for begin in range(0, a.shape[1], terms):
        part = np.zeros((a.shape[0], b.shape[1]), a.dtype)
        for k in range(begin, min(begin + terms, a.shape[1])):
            part += a[:, k, None] * b[k]
        total = part if total is None else total + part
    return total


def steps_of(a, b):
    return TARGET.bind(program_of(lambda x, y: x @ y, a, b)).steps


@pytest.mark.parametrize(
    ("shape", "is_apart"),
    [((1, 30, 1), True), ((1, 30, 9), False), ((4, 13, 4), True), ((8, 13, 8), False),
     ((9, 13, 2), False), ((3, 3, 3), False)],
)  # fmt: skip
def test_terms_are_added_in_blocks_whoever_adds_them(shape, is_apart):
    rows, inner, cols = shape
    a, b = made((rows, inner), "float32"), made((inner, cols), "float32")
    (step,) = steps_of(a, b)
    assert isinstance(step, LaunchSequence) == is_apart
    (terms,) = {tile.terms for tile in TARGET.runtime.driver.tiles(a.dtype)}
    np.testing.assert_array_equal(product_on_device(a, b), in_order(a, b, terms))


def test_a_row_alone_has_the_bits_that_it_has_among_others():
    a, b = made((9, 30), "float32"), made((30, 7), "float32")
    among = product_on_device(a, b)
    for row in range(9):
        np.testing.assert_array_equal(product_on_device(a[row : row + 1], b)[0], among[row])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shapes", [((20, 3, 1), (20, 1, 5)), ((1, 3, 1), (20, 1, 5))])
def test_products_of_one_term_are_multiplications(shapes, dtype):
    """Also where there are so many of one size that the processor has a kernel for the size."""
    a, b = (np.where(made(shape, dtype) > 0, made(shape, dtype), -0.0) for shape in shapes)
    expected = a * b
    for lies in (lambda x: x, lambda x: np.ascontiguousarray(x.swapaxes(0, 2)).swapaxes(0, 2)):
        found = product_on_device(lies(a.astype(dtype)), lies(b.astype(dtype)))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
    assert np.signbit(expected[expected == 0]).any()


def test_tiles_of_gpus_have_blocks_of_the_processor_and_fit_their_threads():
    for size in (1, 2, 4, 8, 16):
        for tile in product.tiles(np.dtype(f"V{size}")):
            assert tile.terms == gemm.BLOCK
            assert tile.terms % tile.depth == 0
            assert all(tile.threads % lines == 0 for lines in (tile.rows, tile.cols, tile.depth))
            for lines in (tile.rows, tile.cols):
                assert lines * tile.depth % tile.threads == 0
            assert tile.rows * tile.cols <= tile.down * tile.across * tile.threads


# What is chosen -----------------------------------------------------------------------------------

LARGE, MIDDLE, SMALL, FLAT = GPU = product.tiles(np.dtype("float32"))


@pytest.mark.parametrize(
    ("a", "b", "tile", "is_apart"),
    [
        ((2048, 2048), (2048, 2048), LARGE, False),
        ((1024, 1024), (1024, 1024), MIDDLE, False),  # 64 large tiles for 132 processors
        ((512, 512), (512, 512), SMALL, False),
        ((512, 8192), (8192, 512), LARGE, True),   # 16 tiles for 132 processors, but 32 blocks
        ((784, 60000), (60000, 128), LARGE, True),
        ((1, 4096), (4096, 4096), FLAT, True),
        ((1, 4096), (4096, 1 << 20), FLAT, False),
        ((3, 64), (64, 4096), FLAT, False),
        ((1, 1 << 20), (1 << 20, 1), FLAT, True),
        ((100, 64, 64), (100, 64, 64), MIDDLE, False),
        ((1000, 128, 64), (1000, 64, 128), LARGE, False),
    ],
)  # fmt: skip
def test_a_tile_is_chosen_such_that_all_processors_have_work(a, b, tile, is_apart):
    given = product_of(some(*a), some(*b), some(*a[:-1], b[-1]))
    found, chosen, apart = tiles.planned(given, GPU, 132)
    assert (chosen, apart) == (tile, is_apart)
    assert found.rows <= found.cols or chosen is not FLAT


def test_the_smaller_side_of_a_flat_product_is_its_rows():
    tall = product_of(some(4096, 64), some(64, 3), some(4096, 3))
    found, tile, _ = tiles.planned(tall, GPU, 132)
    assert (found.rows, found.cols, tile) == (3, 4096, FLAT)
    assert (found.left, found.right) == (tall.right, tall.left)
    assert (found.out.line, found.out.step) == (tall.out.step, tall.out.line) == (1, 3)


@pytest.mark.parametrize(
    ("a", "b", "loop", "sizes"),
    [
        (some(9, 1, 4), spread(some(4, 5), 9, 4, 5), (), (9, 4, 5)),   # vectors and one matrix
        (some(9, 2, 4), spread(some(4, 5), 9, 4, 5), (), (18, 4, 5)),
        (some(9, 4, 2).mT, spread(some(4, 5), 9, 4, 5), (9,), (2, 4, 5)),  # rows do not go on
        (spread(some(2, 4), 9, 2, 4), some(9, 4, 1), (), (2, 4, 9)),
        (some(3, 9, 1, 4), spread(some(3, 1, 4, 5), 3, 9, 4, 5), (3,), (9, 4, 5)),
        (spread(some(3, 1, 1, 4), 3, 9, 1, 4), spread(some(9, 4, 5), 3, 9, 4, 5), (9,), (3, 4, 5)),
        (some(9, 2, 4), some(9, 4, 5), (9,), (2, 4, 5)),
    ],
)  # fmt: skip
def test_vectors_that_share_a_matrix_are_one_product(a, b, loop, sizes):
    found = tiles.folded(product_of(a, b, some(*a.shape[:-1], b.shape[-1])))
    assert (found.loop, (found.rows, found.inner, found.cols)) == (loop, sizes)
    assert all(len(m.loop) == len(loop) for m in (found.left, found.right, found.out))


def test_lines_whose_result_does_not_go_on_stay_apart():
    a, b = some(9, 2, 4), spread(some(4, 5), 9, 4, 5)
    assert tiles.folded(product_of(a, b, some(9, 3, 5)[:, :2])).loop == (9,)


@pytest.mark.parametrize(
    ("array", "is_along"),
    [(some(8, 6), True), (some(6, 8).mT, False), (some(8, 6)[:, ::-1], True),
     (some(6, 8)[::-1].mT, False), (some(9, 8, 1)[:6, :, 0].mT, False), (some(6, 1).mT, True),
     (some(8, 1), False), (some(8, 3)[:, :1].mT, True)],
)  # fmt: skip
def test_neighbours_read_neighbours(array, is_along):
    found = product_of(array, some(array.shape[1], 3), some(array.shape[0], 3))
    assert tiles.along_lines(found.left, found.rows, found.inner) == is_along


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("sizes", [(1024, 1024, 1024), (300, 700, 900), (64, 4096, 64), (9, 9, 9)])
def test_no_other_tile_keeps_the_busiest_processor_for_a_shorter_time(dtype, sizes):
    rows, inner, cols = sizes
    given = product_of(some(rows, inner), some(inner, cols), some(rows, cols))
    *others, _ = all_tiles = product.tiles(np.dtype(dtype))
    _, chosen, is_apart = tiles.planned(given, all_tiles, 132)
    costs = [tiles.cost(given, tile, 132, is_apart) for tile in others]
    assert tiles.cost(given, chosen, 132, is_apart) == min(costs)


@pytest.mark.parametrize(
    ("number", "is_written_out"), [(0, True), (1, True), (2, False), (3, False)]
)
def test_terms_of_many_multiply_adds_are_written_out(number, is_written_out):
    """Tests of the compiled kernel count its instructions."""
    text = product.product(np.dtype("float32"), 1, GPU[number]).text
    assert ("while k < DEPTH" not in text) == is_written_out
    for k in range(GPU[number].depth):
        assert (f"b_tile[stage, {k}, x" in text) == is_written_out
