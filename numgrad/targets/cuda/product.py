"""Products of matrices: a block of threads for each tile of the result."""

import numpy as np

from .elementwise import Walk, indices, place
from .kernel import Kernel, Parameter, Pointer, Word

_TEXT = """
def kernel({parameters}):
    left = cuda.shared.array(shape, dtype)
    right = cuda.shared.array(shape, dtype)
    x, y = cuda.threadIdx.x % TILE, cuda.threadIdx.x // TILE
    across, down = (cols + TILE - 1) // TILE, (rows + TILE - 1) // TILE
    number = cuda.blockIdx.x
    while number < across * down * n:
        row, col = number // across % down * TILE + y, number % across * TILE + x
        i = number // (across * down)
{indices}
        a_at, b_at, out_at = {a}, {b}, {out}
        total = zero
        first = 0
        while first < inner:
            value = zero
            if row < rows and first + x < inner:
                value = a[a_at + row * a_row + (first + x) * a_col]
            left[y, x] = value
            value = zero
            if col < cols and first + y < inner:
                value = b[b_at + (first + y) * b_row + col * b_col]
            right[y, x] = value
            cuda.syncthreads()
            j = 0
            while j < TILE:
                total += left[y, j] * right[j, x]
                j += 1
            cuda.syncthreads()
            first += TILE
        if row < rows and col < cols:
            out[out_at + row * out_row + col * out_col] = total
        number += cuda.gridDim.x
"""


def product(dtype: np.dtype, axes: int, tile: int) -> Kernel:
    """Return the kernel of a product for a loop of so many axes, one at least.

    A tile of each factor is in shared memory at a time; an element of the result is summed by one
    thread, in the order of the inner dimension, so its bits depend on its row and column alone.
    """
    walk = Walk(axes, True)
    sizes = [f"n{axis}" for axis in range(axes)]
    listed = ["n", "rows", "inner", "cols", *sizes]
    parameters: list[Parameter] = [Word()] * len(listed)
    for name in ("a", "b", "out"):
        listed += [name, *(f"{name}_{axis}" for axis in range(axes)), f"{name}_row", f"{name}_col"]
        parameters += [Pointer(dtype), *[Word()] * (axes + 2)]
    text = _TEXT.format(
        parameters=", ".join(listed),
        indices="\n".join("        " + line for line in indices(walk)),
        **{name: place(name, walk) for name in ("a", "b", "out")},
    )
    scope = {
        "TILE": tile, "shape": (tile, tile), "dtype": dtype, "zero": dtype.type(0),
        "index_type": int,
    }  # fmt: skip
    return Kernel("matmul", text, tuple(parameters), scope, threads=tile * tile)
