"""Results share memory with arguments where NumPy's do, and nowhere else: what a later write
changes."""

import numpy as np
import pytest

import numgrad as ng

X = np.arange(1.0, 7.0).reshape(2, 3)
CALLS = {
    "pad": lambda m, t: m.pad(t, 0), "pad wrap": lambda m, t: m.pad(t, [(0, 0)] * 2, "wrap"),
    "pad edge": lambda m, t: m.pad(t, 0, mode="edge"), "roll": lambda m, t: m.roll(t, 0),
    "roll axes": lambda m, t: m.roll(t, (0, 0), (0, 1)), "repeat": lambda m, t: m.repeat(t, 1, 0),
    "tile": lambda m, t: m.tile(t, 1), "concatenate": lambda m, t: m.concatenate([t]),
    "stack": lambda m, t: m.stack([t])[0], "clip": lambda m, t: m.clip(t, None, 100.0),
    "where": lambda m, t: m.where(True, t, t),
    "triu": lambda m, t: m.triu(t, -5), "tril": lambda m, t: m.tril(t, 5),
    "sort": lambda m, t: m.sort(t, 1), "cumsum": lambda m, t: m.cumsum(t[:1], 0),
    "sum": lambda m, t: m.sum(t[:1], 0), "no axis": lambda m, t: m.sum(t, ()),
    "max": lambda m, t: m.max(t[:1], 0), "mean": lambda m, t: m.mean(t[:1], 0),
    "prod": lambda m, t: m.prod(t[:1], 0), "median": lambda m, t: m.median(t[:1], 0),
    "positive": lambda m, t: +t, "conj": lambda m, t: m.conj(t),
    "take": lambda m, t: m.take(t, np.arange(2), 0), "index": lambda m, t: t[np.arange(2)],
    "mask": lambda m, t: t[np.ones(2, bool)], "flip": lambda m, t: m.flip(t),
    "squeeze": lambda m, t: m.squeeze(t), "reshape": lambda m, t: m.reshape(t, (2, 3)),
    "transpose": lambda m, t: m.transpose(t, (0, 1)), "ravel": lambda m, t: m.ravel(t),
    "broadcast_to": lambda m, t: m.broadcast_to(t, (2, 3)), "flatten": lambda m, t: t.flatten(),
    "astype": lambda m, t: t.astype(float), "moveaxis": lambda m, t: m.moveaxis(t, 0, 0),
    "swapaxes": lambda m, t: m.swapaxes(t, 0, 0), "diagonal": lambda m, t: m.diagonal(t),
    "expand_dims": lambda m, t: m.expand_dims(t, 0)[0], "asarray": lambda m, t: m.asarray(t),
    "nan_to_num": lambda m, t: m.nan_to_num(t), "maximum": lambda m, t: m.maximum(t, t),
    "einsum": lambda m, t: m.einsum("ij->ij", t), "split": lambda m, t: m.split(t, 1)[0],
    "vstack": lambda m, t: m.vstack([t]), "slice": lambda m, t: t[:, ::2],
}  # fmt: skip


@pytest.mark.parametrize("capture", [lambda f: f, ng.jit])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_write_is_seen_where_numpy_shows_it(call, capture):
    def function(x):
        t = x * 1.0
        result = call(ng, t)
        t *= -2.0
        return result

    array = X.copy()
    result = call(np, array)
    before = np.array(result)
    array *= -2.0
    value, slope = ng.func.jvp(capture(function), (X,), (X,))
    np.testing.assert_array_equal(value, result)
    factor = 1.0 if np.array_equal(before, result) else -2.0
    np.testing.assert_array_equal(slope, factor * before)
