"""Functions of NumPy whose results lie in memory in one order or another, arrays that are given to
them, and what shows how the results lie: writes next to views and copies."""

import numpy

ROWS = numpy.array([[0, 1], [1, 0], [1, 1]])


def weighted(np, y):
    """Return a sum in which each element counts otherwise."""
    return (y * numpy.arange(1.0, y.size + 1).reshape(y.shape)).sum()


def written(np, x):
    y = np.array(x)
    y[0] = 1.0
    y += 0.5
    return y


def put_along(np, x):
    y = np.copy(x)
    np.put_along_axis(y, np.argmax(x, 1, keepdims=True), 9.0, 1)
    return y


# Two axes or more ---------------------------------------------------------------------------------

MAKERS = {
    "exp": lambda np, x: np.exp(x),
    "number": lambda np, x: x + 1.0,
    "broadcast": lambda np, x: x * numpy.arange(1.0, x.shape[-1] + 1),
    "both orders": lambda np, x: numpy.ones(x.shape) + x,
    "expanded": lambda np, x: x[:, None] * x[None],
    "repeated": lambda np, x: np.broadcast_to(x, (2, *x.shape)) * 1.0,
    "astype": lambda np, x: x.astype("float32"),
    "astype C": lambda np, x: x.astype(float, order="C"),
    "array": lambda np, x: np.array(x),
    "array C": lambda np, x: np.array(x, order="C"),
    "array of two": lambda np, x: np.array([x, x]),
    "np.copy": lambda np, x: np.copy(x),
    "copy": lambda np, x: x.copy(),
    "copy A": lambda np, x: x.copy(order="A"),
    "copy F": lambda np, x: x.copy(order="F"),
    "asfortranarray": lambda np, x: np.asfortranarray(x + 0.0),
    "ascontiguousarray": lambda np, x: np.ascontiguousarray(x * 1.0),
    "where": lambda np, x: np.where(x > 1, x, 0.0),
    "clip": lambda np, x: np.clip(x, 0, 1),
    "nan_to_num": lambda np, x: np.nan_to_num(x),
    "modf": lambda np, x: np.modf(x)[0],
    "real": lambda np, x: (x + 1j * x).real * 1.0,
    "concatenate": lambda np, x: np.concatenate([x, x], axis=1),
    "concatenate both": lambda np, x: np.concatenate([x, numpy.ones(x.shape)]),
    "stack": lambda np, x: np.stack([x, x], -1),
    "block": lambda np, x: np.block([[x, x], [x, x]]),
    "append": lambda np, x: np.append(x, x, 0),
    "tile": lambda np, x: np.tile(x, (1, 2)),
    "repeat": lambda np, x: np.repeat(x, 2, axis=0),
    "pad": lambda np, x: np.pad(x, 1),
    "pad edge": lambda np, x: np.pad(x, 1, mode="edge"),
    "delete": lambda np, x: np.delete(x, 0, 0),
    "delete several": lambda np, x: np.delete(x, [0, 1], 0),
    "insert": lambda np, x: np.insert(x, 1, 0.0, 0),
    "slice": lambda np, x: x[:, ::2] * 1.0,
    "flip": lambda np, x: np.flip(x, 0) * 1.0,
    "roll": lambda np, x: np.roll(x, 1, 0),
    "rows": lambda np, x: x[[0, 1]],
    "columns": lambda np, x: x[:, [0, 1]],
    "columns of some": lambda np, x: x[1:, ROWS[:, 0]],
    "rows in F": lambda np, x: x[ROWS.T],
    "pairs in F": lambda np, x: np.stack([x[ROWS.T, ROWS.T]] * 2),
    "columns of C": lambda np, x: np.ascontiguousarray(x)[:, [0, 1]],
    "columns of some of C": lambda np, x: np.ascontiguousarray(x)[1:, ROWS[:, 0]],
    "a new axis": lambda np, x: x[True, [0, 1]],
    "mask": lambda np, x: x[:, numpy.arange(x.shape[1]) < 2],
    "take": lambda np, x: np.take(x, [0, 1], 1),
    "compress": lambda np, x: np.compress([True, False, True], x, 1),
    "take_along_axis": lambda np, x: np.take_along_axis(x, np.argsort(x, 0), 0),
    "zeros_like": lambda np, x: np.zeros_like(x),
    "ones_like": lambda np, x: np.ones_like(x),
    "full_like": lambda np, x: np.full_like(x, 2.0),
    "full_like x": lambda np, x: np.full_like(x, x.ravel()[1]),
    "zeros_like F": lambda np, x: np.zeros_like(x, order="F"),
    "zeros_like shape": lambda np, x: np.zeros_like(x, shape=x.shape[::-1]),
    "sort": lambda np, x: np.sort(x),
    "sort 0": lambda np, x: np.sort(x, axis=0),
    "partition": lambda np, x: np.partition(x, 1),
    "cumsum": lambda np, x: np.cumsum(x, 1),
    "cumprod": lambda np, x: np.cumprod(x, 0),
    "maximum.accumulate": lambda np, x: np.maximum.accumulate(x, 0),
    "piecewise": lambda np, x: np.piecewise(x, [x < 1, x >= 1], [lambda t: -t, lambda t: t]),
    "select": lambda np, x: np.select([x < 0, x > 1], [x, x * 2]),
    "choose": lambda np, x: np.choose((x > 1).astype(int), [x, x * 2]),
    "round": lambda np, x: np.round(x, 1),
    "fft": lambda np, x: np.fft.fft(x).real * 1.0,
    "rfft": lambda np, x: abs(np.fft.rfft(x, axis=0)),
    "fft2": lambda np, x: np.fft.fft2(x).real * 1.0,
    "gradient": lambda np, x: np.gradient(x, axis=0),
    "diff": lambda np, x: np.diff(x, axis=0),
    "centred": lambda np, x: x - x.mean(0),
    "normalized": lambda np, x: x / np.sum(x, axis=1, keepdims=True),
    "var": lambda np, x: np.var(x, 0, keepdims=True) * x,
    "median": lambda np, x: np.median(x, axis=0, keepdims=True) * x,
    "quantile": lambda np, x: np.quantile(x, [0.1, 0.5], axis=0),
    "swapaxes": lambda np, x: np.swapaxes(x, 0, 1) * 1.0,
    "polyval": lambda np, x: np.polyval([1.0, 2.0, 3.0], x),
    "written": written,
    "put_along_axis": put_along,
}

OF_THREE = {
    "sum 0": lambda np, x: np.sum(x, 0),
    "sum 1": lambda np, x: np.sum(x, 1),
    "max": lambda np, x: np.max(x, 0),
    "mean": lambda np, x: np.mean(x, 1, keepdims=True),
    "std": lambda np, x: np.std(x, 1),
    "norm": lambda np, x: np.linalg.norm(x, axis=1),
    "einsum": lambda np, x: np.einsum("ijk->ik", x),
    "matmul": lambda np, x: np.matmul(x, np.swapaxes(x, 1, 2)),
    "part": lambda np, x: x[:, 0] * 1.0,
    "two index arrays": lambda np, x: x[:, [0, 1], [0, 1]],
}


def arrays(ndim):
    """Yield arrays that are not in C order."""
    base = numpy.sin(numpy.arange(60.0)) + 1.1
    if ndim == 2:
        yield base[:12].reshape(4, 3).T
    else:
        for axes in ((2, 1, 0), (0, 2, 1), (1, 2, 0)):
            yield base.reshape(3, 4, 5).transpose(axes)
        yield base.reshape(3, 4, 5)[:, ::2].transpose(1, 2, 0)


# What shows how an array lies ---------------------------------------------------------------------


def scaled_beside_flat(np, y):
    flat = y.reshape(-1)
    y *= 0.5
    return weighted(np, flat)


def written_flat(np, y):
    flat = y.ravel()
    flat[:2] = 7.0
    return weighted(np, y)


def written_turned(np, y):
    flat = y.T.reshape(-1)
    flat[1] = 3.0
    return weighted(np, y)


def written_beside_columns(np, y):
    flat = y.ravel(order="F")
    y[0] = 2.0
    return weighted(np, flat)


def written_in_memory_order(np, y):
    flat = y.ravel(order="K")
    flat[0] = 9.0
    y[-1] *= 2
    return weighted(np, y) + weighted(np, flat)


def written_part(np, y):
    flat = y[1:].reshape(-1)
    flat[...] = 4.0
    return weighted(np, y)


def computed_on(np, y):
    z = np.swapaxes(y, 0, 1) + y.sum()
    flat = z.reshape(-1)
    z *= 0.25
    return weighted(np, flat)


def by_its_flags(np, y):
    return weighted(np, y) if y.flags.c_contiguous else -weighted(np, y.T) * y.strides[0]


WRITES = (
    scaled_beside_flat, written_flat, written_turned, written_beside_columns,
    written_in_memory_order, written_part, computed_on, by_its_flags,
)  # fmt: skip
