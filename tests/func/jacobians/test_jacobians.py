"""Dense Jacobians: modes, chunks, arrays and files of the caller, progress. Numbers are closed
forms."""

import io
import sys
import tracemalloc

import numpy as np
import pytest

import numgrad as ng

F = ng.func
RNG = np.random.default_rng(3)
M = RNG.normal(size=(7, 4))
X = RNG.normal(size=4)
TRANSFORMS = {
    "jacrev": F.jacrev,
    "jacfwd": F.jacfwd,
    "auto": F.jacobian,
    "reverse": lambda f, *args, **options: F.jacobian(f, *args, mode="reverse", **options),
    "forward": lambda f, *args, **options: F.jacobian(f, *args, mode="forward", **options),
}
over_transforms = pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
chunked = pytest.mark.parametrize("chunk_size", [1, 2, 3, 100, "auto", None])


@pytest.fixture
def chunk_memory():
    """Sets the memory for chunks, until the end of a test."""
    before = ng.get_flags("chunk_memory")
    yield lambda mebibytes: ng.set_flags(chunk_memory=mebibytes)
    ng.set_flags(**before)


def waves(x):
    return np.sin(M @ x)


def waves_jacobian(x):
    return np.cos(M @ x)[:, None] * M


def close(found, expected):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-13)


# Modes and chunks ---------------------------------------------------------------------------------


@over_transforms
@chunked
def test_chunks(transform, chunk_size):
    found = transform(waves, chunk_size=chunk_size)(X)
    assert type(found) is np.ndarray
    close(found, waves_jacobian(X))


@over_transforms
@chunked
def test_tensors(transform, chunk_size):
    found = transform(waves, chunk_size=chunk_size)(ng.tensor(X))
    assert isinstance(found, ng.Tensor)
    close(found, waves_jacobian(X))


@over_transforms
@chunked
def test_captured(transform, chunk_size):
    function = ng.jit(transform(waves, chunk_size=chunk_size))
    close(function(X), waves_jacobian(X))
    close(function(2 * X), waves_jacobian(2 * X))


@over_transforms
@pytest.mark.parametrize("chunk_size", [3, "auto"])
def test_differentiated_further(transform, chunk_size):
    found = F.jacrev(transform(waves, chunk_size=chunk_size))(X)
    close(found, -np.einsum("i,ij,ik->ijk", np.sin(M @ X), M, M))
    x = ng.tensor(X, requires_grad=True)
    (gradient,) = ng.grad(transform(waves, chunk_size=chunk_size)(x).sum(), x)
    close(gradient, -np.einsum("i,ij,ik->k", np.sin(M @ X), M, M))


@over_transforms
@pytest.mark.parametrize("chunk_size", [2, "auto"])
def test_shapes_of_several_axes(transform, chunk_size):
    x = RNG.normal(size=(2, 3))
    found = transform(lambda x: x[:, None] * x[None], chunk_size=chunk_size)(x)
    eye = np.eye(2)
    expected = np.einsum("ac,bk,kl->abkcl", eye, x, np.eye(3))
    expected += np.einsum("bc,ak,kl->abkcl", eye, x, np.eye(3))
    close(found, expected)


@over_transforms
@pytest.mark.parametrize("chunk_size", [2, "auto"])
def test_containers_and_several_arguments(transform, chunk_size):
    def function(p, unused, k):
        return {"y": p["a"] * k, "z": (p["b"].sum(), p["a"][0])}

    p, k = {"a": np.arange(3.0), "b": np.ones((2, 2))}, np.array([2.0, 3.0, 4.0])
    found = transform(function, (0, 2), chunk_size=chunk_size)(p, 1, k)
    close(found["y"][0]["a"], np.diag(k))
    close(found["y"][0]["b"], np.zeros((3, 2, 2)))
    close(found["y"][1], np.diag(p["a"]))
    close(found["z"][0][0]["b"], np.ones((2, 2)))
    close(found["z"][1][0]["a"], [1, 0, 0])
    close(found["z"][1][1], np.zeros(3))


@over_transforms
@pytest.mark.parametrize("chunk_size", [1, "auto"])
def test_empty_and_without_axes(transform, chunk_size):
    close(transform(lambda x: x * x, chunk_size=chunk_size)(np.array(3.0)), 6.0)
    assert transform(lambda x: x * x, chunk_size=chunk_size)(np.zeros(0)).shape == (0, 0)
    assert transform(lambda x: x[:0], chunk_size=chunk_size)(np.ones(3)).shape == (0, 3)
    found = transform(lambda x: np.ones(2) * x.sum(), chunk_size=chunk_size)(np.zeros((0, 2)))
    assert found.shape == (2, 0, 2)


@over_transforms
@pytest.mark.parametrize("chunk_size", [2, "auto"])
def test_complex_chunks(transform, chunk_size):
    z = RNG.normal(size=3) + 1j * RNG.normal(size=3)
    close(transform(lambda z: z * z, chunk_size=chunk_size)(z), np.diag(2 * z).conj())
    close(transform(lambda x: x * (1 + 2j), chunk_size=chunk_size)(X), np.eye(4) * (1 + 2j))


def test_infinite_derivatives_are_returned():
    found = F.jacobian(np.sqrt)(np.array([0.0, 4.0]))
    assert found[0, 0] == np.inf
    assert found[1, 1] == 0.25


def test_mode_by_the_numbers_of_elements():
    seen = []

    def units(function, x):
        seen.clear()
        F.jacobian(function, progress=lambda done, total: seen.append(total))(x)
        return seen[-1]

    assert units(waves, X) == 4  # columns
    assert units(lambda x: M.T @ x, np.ones(7)) == 4  # rows
    assert units(lambda x: x[:3] * x.sum(), X) == 3


def test_auxiliary_output():
    found, aux = F.jacobian(lambda x: (waves(x), x.sum()), has_aux=True)(X)
    close(found, waves_jacobian(X))
    close(aux, X.sum())


def test_reverse_where_there_is_no_second_derivative():
    class Twice(ng.Function):
        @staticmethod
        def forward(ctx, x):
            return ng.concat([x, x])

        @staticmethod
        @ng.once_differentiable
        def backward(ctx, g):
            return g[: g.shape[0] // 2] + g[g.shape[0] // 2 :]

    close(F.jacobian(Twice.apply)(X), np.vstack([np.eye(4), np.eye(4)]))


def test_value_and_jacobian_call_the_function_once():
    calls = []

    def counted(x):
        calls.append(x)
        return waves(x), x.sum()

    (value, total), (jacobian, row) = F.value_and_jacobian(counted)(X)
    assert len(calls) == 1
    close(value, np.sin(M @ X))
    close(total, X.sum())
    close(jacobian, waves_jacobian(X))
    close(row, np.ones(4))
    (value, aux), jacobian = F.value_and_jacobian(lambda x: (waves(x), 3), has_aux=True)(X)
    assert aux == 3
    close(jacobian, waves_jacobian(X))


# Arrays and files of the caller -------------------------------------------------------------------


@over_transforms
@chunked
def test_out(transform, chunk_size):
    out = np.full((7, 4), np.nan)
    assert transform(waves, chunk_size=chunk_size, out=out)(X) is out
    close(out, waves_jacobian(X))


@over_transforms
@pytest.mark.parametrize("mode", ["w+", "c"])
def test_file(transform, mode, tmp_path):
    path = tmp_path / "jacobian"
    path.write_bytes(bytes(8 * 28))
    out = np.memmap(path, np.float64, mode, shape=(7, 4))
    transform(waves, chunk_size=2, out=out)(X)
    close(out, waves_jacobian(X))
    out.flush()
    written = np.fromfile(path).reshape(7, 4)
    close(written, waves_jacobian(X) if mode == "w+" else np.zeros((7, 4)))


@over_transforms
def test_out_with_steps(transform):
    whole = np.zeros((14, 8))
    transform(waves, chunk_size=2, out=whole[::2, ::2])(X)
    close(whole[::2, ::2], waves_jacobian(X))
    assert not whole[1::2].any()
    assert not whole[:, 1::2].any()


@over_transforms
def test_out_in_containers(transform):
    out = {"y": (np.empty((4, 4)), np.empty((4, 2))), "z": (np.empty(4), np.empty(2))}
    found = transform(
        lambda a, b: {"y": a * b[0], "z": a.sum() * b[1]}, (0, 1), out=out, chunk_size=1
    )(X, np.array([2.0, 3.0]))
    assert found is out
    close(out["y"][0], 2 * np.eye(4))
    close(out["y"][1], np.stack([X, np.zeros(4)], 1))
    close(out["z"][1], [0, X.sum()])


@pytest.mark.parametrize(
    ("out", "error", "match"),
    [
        (np.empty((4, 7)), ValueError, r"shape \(4, 7\).*\(7, 4\)"),
        (np.empty((7, 4), np.float32), ValueError, "float32.*float64"),
        ([np.empty((7, 4))], ng.errors.ArgTypeError, "containers"),
        (ng.zeros((7, 4)), ng.errors.ArgTypeError, "NumPy arrays, got Tensor"),
        (np.broadcast_to(1.0, (7, 4)), ValueError, "read-only"),
    ],
)
@over_transforms
def test_out_that_does_not_fit(transform, out, error, match):
    with pytest.raises(error, match=match):
        transform(waves, out=out)(X)


def test_out_that_a_gradient_would_have_to_pass():
    x = ng.tensor(X, requires_grad=True)
    with pytest.raises(ng.errors.ArgTypeError, match="differentiated itself"):
        F.jacobian(waves, out=np.empty((7, 4)))(x)
    with ng.no_grad():
        close(F.jacobian(waves, out=np.empty((7, 4)))(x), waves_jacobian(X))
    with pytest.raises(ng.errors.CaptureError, match="would write to out="):
        ng.jit(F.jacobian(waves, out=np.empty((7, 4))))(X)


@pytest.mark.parametrize("chunk_size", [None, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@over_transforms
def test_outputs_without_derivative_have_zeros_of_the_dtype_of_the_argument(
    transform, dtype, chunk_size
):
    x = np.ones(3, dtype)
    found = transform(lambda x: (x == 1, ng.argmax(x.real)), chunk_size=chunk_size)(x)
    for part, shape in zip(found, [(3, 3), (3,)], strict=True):
        np.testing.assert_array_equal(part, np.zeros(shape, dtype), strict=True)


# Memory -------------------------------------------------------------------------------------------

TALL = 20_000
PLACES = np.arange(TALL) % 200


def tall(x):
    return np.sin(x[PLACES])


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_memory_beside_a_file(mode, chunk_memory, tmp_path):
    """The Jacobian has 32 MB; what is held beside the file is what is allowed."""
    chunk_memory(4)
    out = np.lib.format.open_memmap(tmp_path / "j.npy", "w+", np.float64, (TALL, 200))
    x = RNG.normal(size=200)
    F.jacobian(tall, mode=mode, chunk_size=100)(x[:200])  # what the first call makes stays
    tracemalloc.start()
    F.jacobian(tall, mode=mode, out=out)(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 9 << 20
    assert out.sum() == pytest.approx(np.cos(x[PLACES]).sum())
    assert np.count_nonzero(out) == TALL


def test_one_row_needs_no_permission(chunk_memory):
    chunk_memory(0)
    close(F.jacobian(waves)(X), waves_jacobian(X))


# Progress -----------------------------------------------------------------------------------------


def test_progress_of_a_callable():
    told = []
    F.jacrev(waves, chunk_size=3, progress=lambda done, total: told.append((done, total)))(X)
    assert told == [(3, 7), (6, 7), (7, 7)]


def test_progress_moves_where_nobody_chose_chunks():
    told = []
    F.jacrev(lambda x: x * 2, progress=lambda done, total: told.append(done))(np.ones(400))
    assert len(told) >= 50
    assert told == sorted(told)
    assert told[-1] == 400


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("numgrad.func.jacobians.progress._SHORT", -1.0)
    F.jacrev(waves, chunk_size=1, progress=True)(X)
    lines = terminal.getvalue().split("\r")
    assert sum("of 7 rows" in line for line in lines) == 7
    assert lines[-2].strip() == ""  # and is gone at the end


def test_no_bar_for_short_work(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    F.jacrev(waves, progress=True)(X)
    assert not terminal.getvalue()


def test_a_bar_is_taken_away_where_the_work_fails(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("numgrad.func.jacobians.progress._SHORT", -1.0)

    class Fails(ng.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if np.asarray(g).argmax() == 2:
                raise RuntimeError("no more")
            return g

    with pytest.raises(RuntimeError, match="no more"):
        F.jacrev(Fails.apply, chunk_size=1, progress=True)(X)
    assert "of 4 rows" in terminal.getvalue()
    assert terminal.getvalue().split("\r")[-2].strip() == ""


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"chunk_size": 0}, ng.errors.ArgTypeError, "chunk_size"),
        ({"chunk_size": "all"}, ng.errors.ArgTypeError, "chunk_size"),
        ({"chunk_size": True}, ng.errors.ArgTypeError, "chunk_size"),
        ({"progress": "yes"}, ng.errors.ArgTypeError, "progress must be"),
        ({"mode": "fast"}, ValueError, "mode must be one of auto, reverse, forward"),
    ],
)
def test_options(options, error, match):
    with pytest.raises(error, match=match):
        F.jacobian(waves, **options)
