"""Checks of large arrays on a GPU, up to more elements than 32 bits can count.

The subjects are elementwise operators, sums, products of sizes around those of tiles, and indices.
"""

from typing import Any

import numpy as np

import numgrad as ng

from ..agreement import DEVICE, require_close
from ..report import Check, Skipped, require
from ..sizes import Sizes

_DTYPES = ("float32", "float64", "complex64", "complex128")


def random(shape: Any, dtype: str, seed: int = 0) -> np.ndarray:
    """Return normally distributed random numbers."""
    rng = np.random.default_rng(seed)
    numbers = np.asarray(rng.standard_normal(shape))
    if dtype.startswith("complex"):
        numbers = numbers + 1j * rng.standard_normal(shape)
    return numbers.astype(dtype)


def both(function: Any, *arrays: np.ndarray, device: str = DEVICE) -> list[np.ndarray]:
    """Return the value of a function on a device and its gradients for a random seed, as arrays."""
    leaves = [ng.tensor(a, requires_grad=True, device=device) for a in arrays]
    y = function(*leaves)
    seed = random(y.shape, str(y.dtype), 1)
    found = [y, *ng.grad(y, leaves, seed)]
    return [x.detach().cpu().numpy() for x in found]


def side_of(count: int) -> int:
    return max(int(count**0.5), 2)


def _elementwise(sizes: Sizes) -> str:
    side = side_of(sizes.elements)
    functions = {
        "flat": (lambda x: ng.exp(-x * x) * ng.sin(x) + x / 3, (sizes.elements,)),
        "reversed, every second": (lambda x: x[::-2] * 2 + x[::-2], (sizes.elements,)),
        "transposed": (lambda x: x.T * x, (side, side)),
        "broadcast": (lambda x: x[:, :1] * x[:1] + x[0], (side, side)),
    }
    for dtype in _DTYPES:
        for function, shape in functions.values():
            x = random(shape, dtype)
            expected = both(function, x, device="cpu")
            for found, right in zip(both(function, x), expected, strict=True):
                require_close(found, right, 2000)
    return f"{', '.join(functions)}: {sizes.elements} elements of {len(_DTYPES)} dtypes"


def _sums(sizes: Sizes) -> str:
    side = side_of(sizes.elements)
    shapes = ((side, side + 1), (2, sizes.elements // 2), (sizes.elements // 2, 2))
    for dtype in _DTYPES:
        for shape in shapes:
            x = random(shape, dtype)
            for axis in (None, 0, 1):
                found = ng.tensor(x, device=DEVICE).sum(axis).cpu().numpy()
                right = ng.tensor(x).sum(axis).numpy()
                where = f"axis {axis} of {shape}, {dtype}"
                require(np.array_equal(found, right), f"sums have other bits: {where}")
    return "flat, over rows and over columns, with the bits of the processor"


def _products(sizes: Sizes) -> str:
    count = 0
    for dtype in _DTYPES:
        for m in sizes.edges:
            for n in sizes.edges:
                k = sizes.edges[(count * 7 + 1) % len(sizes.edges)]
                _product(dtype, m, k, n, is_turned=bool(count % 2))
                count += 1
        side, long = side_of(sizes.elements) // 3, sizes.positions
        for m, k, n in ((side, side, side), (1, long, 1), (2, long, 3), (side, 1, side)):
            _product(dtype, m, k, n, False)
            _product(dtype, m, k, n, True)
        edge = max(sizes.edges)
        _product(dtype, edge, edge, edge, False, batch=(3,))
    return f"{count} shapes around tiles, large, thin and long ones, batches, with gradients"


def _product(
    dtype: str, m: int, k: int, n: int, is_turned: bool, batch: tuple[int, ...] = ()
) -> None:
    a = random((*batch, m, k), dtype)
    b = random((n, k) if is_turned else (k, n), dtype, 2)
    function = (lambda a, b: a @ b.T) if is_turned else (lambda a, b: a @ b)
    expected = both(function, a, b, device="cpu")
    for found, right in zip(both(function, a, b), expected, strict=True):
        try:
            require_close(found, right, 20 * (m + k + n + 1))
        except AssertionError as error:
            where = f"{batch or ''}({m}, {k}) @ ({k}, {n}) of {dtype}"
            raise AssertionError(f"{where}: {error}") from None


def _indices(sizes: Sizes) -> str:
    rng = np.random.default_rng(3)
    places = rng.integers(-sizes.elements, sizes.elements, sizes.positions)
    there = ng.tensor(places, device=DEVICE)
    for dtype in _DTYPES:
        x = random(sizes.elements, dtype)
        expected = both(lambda x: x[places] * 2, x, device="cpu")
        first = both(lambda x: x[places] * 2, x)
        for found, right in zip(first, expected, strict=True):
            require_close(found, right, 2000)
        for found, right in zip(both(lambda x: x[there] * 2, x), first, strict=True):
            require(np.array_equal(found, right), "indices on the device give other bits")
    outside = np.array([0, sizes.elements])
    for indices in (outside, ng.tensor(outside, device=DEVICE)):
        _bad_index(indices, sizes)
    return f"{sizes.positions} positions of {sizes.elements}, of the host and of the device"


def _bad_index(indices: Any, sizes: Sizes) -> None:
    """Check that an index out of bounds is an error after which the device still works."""
    x = ng.tensor(random(sizes.elements, "float64"), device=DEVICE)
    try:
        x[indices].cpu()
    except IndexError:
        require(float((x - x).sum()) == 0.0, "a device is of no use after an error")
    else:
        raise AssertionError("an index out of bounds was taken")


def _long(sizes: Sizes) -> str:
    free, _ = ng.cuda.mem_get_info()
    if free < 4 * sizes.long and sizes.long > 2**31:
        raise Skipped(f"{free} bytes are free")
    host = np.zeros(sizes.long, np.int8)
    host[-3:] = 1, 2, 3
    x = ng.tensor(host, device=DEVICE)
    y = x + np.int8(1)
    require(y[-4:].cpu().tolist() == [1, 2, 3, 4], "the last elements of a sum are wrong")
    z = x[::-1] - x
    require(z[:3].cpu().tolist() == [3, 2, 1], "elements of a view backwards are wrong")
    return f"{sizes.long} bytes"


CHECKS = (
    Check("large arrays: elementwise", _elementwise),
    Check("large arrays: sums", _sums),
    Check("large arrays: products of matrices", _products),
    Check("large arrays: index arrays", _indices),
    Check("more elements than 2^31", _long),
)
