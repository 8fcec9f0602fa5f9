"""Jacobians, ensembles and gradients on a cluster of processes, and what happens when it dies."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import numgrad as ng
from numgrad._settings import settings
from numgrad.errors import (
    ArgTypeError,
    CaptureError,
    ClusterError,
    DetachedError,
    DtypeError,
    InplaceError,
)
from numgrad.interop.dask import work
from tests.sampling import exhaustive, one_in

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.host_only("its clusters compute on processors")

WEIGHTS = np.linspace(0.5, 1.0, 30)
X = np.linspace(-1.0, 1.0, 30)
LOCK = threading.Lock()


def chain(x):
    for _ in range(5):
        x = ng.sin(np.roll(x, 1) * x) * WEIGHTS + ng.exp(-x * x)
    return x


def slow_chain(x):
    for _ in range(200):
        x = ng.sin(np.roll(x, 1) * x) * 0.9 + ng.exp(-x * x)
    return x


def several(tree):
    u, v = tree["u"], tree["v"]
    return {"outer": u[:, None] * v[None, :], "parts": (ng.exp(u), v.sum(), np.arange(2.0))}


SEVERAL = {"u": np.array([0.5, 1.0, 1.5], np.float32), "v": np.array([1.0 + 2.0j, 3.0])}


@pytest.fixture(scope="module", autouse=True)
def _functions_travel_by_value():
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


# Processes that have imported Dask already, where there are any.
FORKED = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


@contextmanager
def connected(method=FORKED, **options):
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": method}),
        distributed.LocalCluster(dashboard_address=":0", scheduler_port=0, **options) as workers,
        distributed.Client(workers, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def processes():
    """Workers as they are unless one chooses."""
    with connected("spawn", n_workers=2, threads_per_worker=1) as client:
        yield client


@pytest.fixture
def threads():
    """A worker in this process, that runs four tasks at once."""
    with connected(n_workers=1, threads_per_worker=4, processes=False) as client:
        yield client


@pytest.fixture
def mortal():
    """A cluster for a test to end."""
    with connected(n_workers=2, threads_per_worker=1) as client:
        yield client


def same(found, expected):
    """Compare containers, bit for bit."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        return all(same(found[key], expected[key]) for key in expected)
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        return all(map(same, found, expected))
    assert (type(found), found.shape, found.dtype) == (np.ndarray, expected.shape, expected.dtype)
    return found.tobytes() == expected.tobytes()


def when(number, act):
    """Return a report of progress that acts once, when so many tasks are done."""
    acted = []

    def progress(done, total):
        if done >= number and not acted:
            acted.append(time.monotonic())
            act()

    progress.acted = acted
    return progress


# Jacobians.


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_jacobian_is_that_of_the_closed_form(processes, mode):
    jacobian = ng.interop.dask.jacobian(
        lambda x: ng.sin(x[0] * x) * 2.0, X, client=processes, mode=mode, chunk_size=7
    )
    slopes = 2.0 * np.cos(X[0] * X)
    expected = np.diag(slopes * X[0])
    expected[:, 0] += slopes * X
    np.testing.assert_allclose(jacobian, expected, rtol=1e-14, atol=1e-15)


LOCAL = {"reverse": ng.func.jacrev, "forward": ng.func.jacfwd}
CASES = {
    "chain": (chain, X),
    "captured": (ng.jit(chain), X),
    "gradient": (ng.func.grad(ng.jit(lambda x: chain(x).sum())), X),
    "captured gradient": (ng.jit(ng.func.grad(lambda x: chain(x).sum())), X),
    "containers of several dtypes": (several, SEVERAL),
    "float32": (chain, X.astype(np.float32)),
    "complex": (lambda z: ng.exp(z) * ng.conj(z), X + 1j),
    "matrices": (lambda x: x.reshape(5, 6).T, X),
    "a scalar": (lambda x: x * x, 3.0),
    "no elements": (lambda x: x * x, np.zeros(0)),
    "a constant": (lambda x: np.ones(3), X),
    "in Fortran order": (lambda x: x * 2.0, np.asfortranarray(X.reshape(5, 6))),
}


@pytest.mark.parametrize("mode", one_in(2, LOCAL))
@pytest.mark.parametrize("case", CASES)
def test_a_jacobian_has_the_bits_of_the_local_one(processes, case, mode):
    function, x = CASES[case]
    found = ng.interop.dask.jacobian(function, x, client=processes, mode=mode, chunk_size=4)
    assert same(found, LOCAL[mode](function, chunk_size=4)(x))


@pytest.mark.parametrize("size", [1, 100])
def test_the_mode_follows_from_the_numbers_of_inputs_and_outputs(processes, size):
    def spread(x):
        return ng.sin(x.sum()) * np.ones(size)

    found = ng.interop.dask.jacobian(spread, X, client=processes)
    assert same(found, ng.func.jacobian(spread)(X))


def test_neither_the_number_of_workers_nor_of_threads_changes_a_bit(processes, threads):
    expected = ng.func.jacrev(chain)(X)
    for client in (processes, threads):
        for chunk_size in (1, 11, "auto"):
            found = ng.interop.dask.jacobian(chain, X, client=client, chunk_size=chunk_size)
            assert same(found, expected)


def test_the_current_client_is_the_default(processes):
    with processes.as_current():
        assert same(ng.interop.dask.jacobian(chain, X), ng.func.jacrev(chain)(X))


def test_a_task_can_ask_the_cluster_for_a_jacobian(processes):
    """More tasks wait than the cluster has threads: each gives its own to the rows."""
    outer = [
        processes.submit(lambda shift: ng.interop.dask.jacobian(chain, X + shift), n)
        for n in range(3)
    ]
    for n, found in enumerate(processes.gather(outer)):
        assert same(found, ng.func.jacrev(chain)(X + n))


def test_tensors_give_tensors(processes):
    found = ng.interop.dask.jacobian(several, {**SEVERAL, "v": ng.tensor(X)}, client=processes)
    assert isinstance(found["outer"]["u"], ng.Tensor)
    expected = ng.func.jacrev(several)({**SEVERAL, "v": X})
    assert same(found["parts"][0]["u"].numpy(), expected["parts"][0]["u"])


@pytest.mark.parametrize("workers", one_in(2, [1, 2], 1))
def test_a_worker_evaluates_the_function_once_for_all_of_its_rows(workers, tmp_path):
    """Whether both workers get rows is up to Dask: it does not move tasks of a few milliseconds."""
    log = tmp_path / "log"

    def logged(x):
        with log.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return slow_chain(x)

    with connected(n_workers=workers, threads_per_worker=1) as client:
        ng.interop.dask.jacobian(logged, X, client=client, chunk_size=1)
    pids = log.read_text().split()
    assert 1 <= len(pids) == len(set(pids)) <= workers


@exhaustive
def test_a_copy_that_dask_drops_between_tasks_is_used_again(tmp_path):
    """Its memory manager drops copies that no task of a worker waits for at the moment."""
    log = tmp_path / "log"

    def logged(x):
        with log.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return slow_chain(x)

    with (
        dask.config.set({"distributed.scheduler.active-memory-manager.interval": "5ms"}),
        connected(n_workers=2, threads_per_worker=1) as client,
    ):
        ng.interop.dask.jacobian(logged, X, client=client, chunk_size=1)
    pids = log.read_text().split()
    assert 1 <= len(pids) == len(set(pids)) <= 2


def test_a_work_is_kept_while_it_is_used(monkeypatch):
    recent = work.Recent()
    monkeypatch.setattr(recent, "seconds", 0.05)
    first = work.Work(b"", True, "first")
    recent.use(first)
    assert recent.get("first") is first
    deadline = time.monotonic() + 30.0
    while recent.get("first") is not None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_worker_compiles_nothing_that_is_on_disk():
    ng.func.jacrev(slow_chain, chunk_size=1)(X)
    with connected(n_workers=1, threads_per_worker=1) as client:
        ng.interop.dask.jacobian(slow_chain, X, client=client, chunk_size=1)
        loaded = client.run(lambda: {"numba", "numgrad"} & set(sys.modules))
    assert list(loaded.values()) == [{"numgrad"}]


def test_a_task_runs_on_one_thread_and_leaves_the_flag(threads, monkeypatch):
    monkeypatch.setattr(settings, "threads", 0)  # as it is unless somebody chooses

    def counted(x):
        time.sleep(0.02)  # so that tasks overlap
        return np.full(len(x), ng.get_flags("threads")["threads"])

    before = ng.get_flags("threads")
    found = ng.interop.dask.map_blocks(counted, X, client=threads)
    np.testing.assert_array_equal(found, np.ones(30))
    assert ng.get_flags("threads") == before


# Where results go.


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_jacobian_is_written_to_a_file(processes, tmp_path, mode):
    path = tmp_path / "jacobian"
    out = np.memmap(path, np.float64, "w+", shape=(30, 30))
    found = ng.interop.dask.jacobian(chain, X, client=processes, mode=mode, chunk_size=7, out=out)
    assert found is out
    out.flush()
    expected = LOCAL[mode](chain, chunk_size=7)(X)
    assert path.read_bytes() == expected.tobytes()


def test_out_may_be_a_container_of_parts_of_arrays(processes):
    expected = ng.func.jacrev(several)(SEVERAL)
    memory = np.zeros((2, 3, 2, 3), np.complex64)
    out = {
        "outer": {"u": np.zeros((3, 2, 3), np.complex64), "v": np.zeros((3, 2, 2), complex)},
        "parts": tuple(
            {key: np.zeros_like(part) for key, part in row.items()} for row in expected["parts"]
        ),
    }
    out["outer"]["u"] = memory[1].transpose(0, 1, 2)
    ng.interop.dask.jacobian(several, SEVERAL, client=processes, mode="reverse", out=out)
    assert same({**out, "outer": {**out["outer"], "u": out["outer"]["u"].copy()}}, expected)


def read_only():
    array = np.zeros((30, 30))
    array.flags.writeable = False
    return array


WRONG_OUTS = {
    "shape": (np.zeros((30, 29)), ValueError, r"shape \(30, 29\)"),
    "dtype": (np.zeros((30, 30), np.float32), ValueError, "dtype float32"),
    "structure": ((np.zeros((30, 30)),), ArgTypeError, "containers"),
    "kind": (3.0, ArgTypeError, "float"),
    "read-only": (read_only(), ValueError, "read-only"),
}


@pytest.mark.parametrize("wrong", WRONG_OUTS)
def test_an_array_that_does_not_fit_is_refused(processes, wrong):
    out, error, text = WRONG_OUTS[wrong]
    with pytest.raises(error, match=text):
        ng.interop.dask.jacobian(chain, X, client=processes, out=out)


# Samples.


def test_blocks_are_joined_in_order(processes):
    samples = np.arange(101.0)
    found = ng.interop.dask.map_blocks(
        lambda x, k: {"square": x * x, "pair": np.stack([x, k], axis=1)},
        samples, np.arange(101), client=processes, chunk_size=7,
    )  # fmt: skip
    np.testing.assert_array_equal(found["square"], samples**2)
    np.testing.assert_array_equal(found["pair"], np.stack([samples, samples], axis=1))


def test_derivatives_of_samples(processes):
    slopes = ng.jit(ng.func.grad(lambda x: ng.sin(x).sum()))
    for chunk_size in (8, "auto"):
        found = ng.interop.dask.map_blocks(slopes, X, client=processes, chunk_size=chunk_size)
        np.testing.assert_allclose(found, np.cos(X), rtol=1e-15)


def test_tensors_as_samples_give_tensors(processes):
    found = ng.interop.dask.map_blocks(lambda x: x.clip(0.0, 0.5), ng.tensor(X), client=processes)
    assert isinstance(found, ng.Tensor)
    np.testing.assert_array_equal(found.numpy(), np.clip(X, 0.0, 0.5))


def doubled(x):
    x *= 2.0
    return x


def test_a_function_cannot_write_its_blocks(processes, threads):
    """In this process they are parts of the caller's arrays, or of tensors."""
    for client in (threads, processes):
        for samples in (X.copy(), ng.tensor(X)):
            with pytest.raises((ValueError, InplaceError), match="read-only"):
                ng.interop.dask.map_blocks(doubled, samples, client=client)
            np.testing.assert_array_equal(samples, X)
        samples = X.copy()
        with pytest.raises(ValueError, match="read-only"):
            ng.interop.dask.value_and_grad(
                lambda w, x: (doubled(x) * w).sum(), 1.0, samples, client=client
            )
        np.testing.assert_array_equal(samples, X)
        found = ng.interop.dask.map_blocks(lambda x: x, samples, client=client)
        _, gradient = ng.interop.dask.value_and_grad(
            lambda w, x: (w * x).sum(), np.ones(30), samples, client=client, chunk_size=30
        )
        for result in (found, gradient):  # which are the caller's own
            result += 1.0
        np.testing.assert_array_equal(samples, X)


def test_no_samples(processes):
    found = ng.interop.dask.map_blocks(lambda x: x[:, :1], np.zeros((0, 3)), client=processes)
    assert found.shape == (0, 1)


def test_results_of_blocks_are_written_to_arrays(processes):
    out = {"y": np.zeros((30, 2))[:, 1]}
    found = ng.interop.dask.map_blocks(lambda x: {"y": x * 2.0}, X, client=processes, out=out)
    assert found is out
    np.testing.assert_array_equal(out["y"], 2.0 * X)


@pytest.mark.parametrize(
    ("function", "samples", "options", "error", "text"),
    [
        (lambda x: x.sum(), (X,), {}, ValueError, "one result per sample"),
        (lambda x: x[:1], (X,), {"chunk_size": 3}, ValueError, "from number .* on"),
        (lambda x: x, (), {}, ValueError, "equal length"),
        (lambda x: x, (3.0,), {}, ValueError, "equal length"),
        (lambda x, y: x, (X, X[1:]), {}, ValueError, "equal length"),
        (lambda x: x, (X,), {"chunk_size": 0}, ArgTypeError, "chunk_size"),
        (lambda x: x, (X,), {"out": np.zeros(29)}, ValueError, "out has shape"),
        (lambda x: x, (X,), {"out": [np.zeros(30)]}, ArgTypeError, "structure"),
    ],
)
def test_samples_and_results_that_do_not_fit(processes, function, samples, options, error, text):
    with pytest.raises(error, match=text):
        ng.interop.dask.map_blocks(function, *samples, client=processes, **options)


def residuals(params, x, y):
    return ((params["slope"] * x + params["offset"] - y) ** 2).sum()


def test_a_gradient_over_all_samples(processes):
    x, y = np.linspace(0.0, 1.0, 1001), np.linspace(3.0, 5.0, 1001)
    params = {"slope": 0.5, "offset": np.array(1.0)}
    value, gradient = ng.interop.dask.value_and_grad(residuals, params, x, y, client=processes)
    error = 0.5 * x + 1.0 - y
    np.testing.assert_allclose(value, (error**2).sum(), rtol=1e-13)
    np.testing.assert_allclose(gradient["slope"], (2.0 * error * x).sum(), rtol=1e-13)
    np.testing.assert_allclose(gradient["offset"], (2.0 * error).sum(), rtol=1e-13)


def test_a_sum_has_the_bits_of_the_blocks_in_order(processes, threads):
    x, y = np.linspace(0.0, 1.0, 1001), np.linspace(3.0, 5.0, 1001)
    params = {"slope": np.array(0.1), "offset": np.array(0.3)}
    local = ng.func.value_and_grad(residuals)
    total = np.zeros(3)
    for n in range(0, 1001, 10):
        value, gradient = local(params, x[n : n + 10], y[n : n + 10])
        total += np.array([value, gradient["offset"], gradient["slope"]])
    for client in (processes, threads):
        value, gradient = ng.interop.dask.value_and_grad(
            residuals, params, x, y, client=client, chunk_size=10
        )
        assert same(np.array([value, gradient["offset"], gradient["slope"]]), total)


# Refused.


def test_what_the_graph_cannot_reach_is_refused(processes):
    leaf = ng.tensor(X, requires_grad=True)
    dask = ng.interop.dask
    calls = [
        lambda: dask.jacobian(chain, leaf, client=processes),
        lambda: dask.jacobian(lambda x: x * leaf, X, client=processes),
        lambda: dask.map_blocks(chain, leaf, client=processes),
        lambda: dask.map_blocks(lambda x: x * leaf, X, client=processes, chunk_size=30),
        lambda: dask.value_and_grad(lambda p, x: (p * x).sum(), leaf, X, client=processes),
        lambda: dask.value_and_grad(lambda p, x: (p * leaf).sum(), X, X, client=processes),
        lambda: dask.jacobian(lambda x, y=leaf * 2: x * y, X, client=processes),
        lambda: ng.func.grad(lambda x: dask.jacobian(chain, x, client=processes).sum())(X),
    ]
    for call in calls:
        with pytest.raises(DetachedError):
            call()


def test_without_gradients_a_leaf_is_a_constant(processes):
    leaf = ng.tensor(X, requires_grad=True)
    with ng.no_grad():
        found = ng.interop.dask.jacobian(lambda x: x * leaf, X, client=processes)
        doubled = ng.interop.dask.map_blocks(lambda x: x * leaf[0], X, client=processes)
    np.testing.assert_array_equal(found, np.diag(X))
    np.testing.assert_array_equal(doubled, X * X[0])


def test_a_captured_function_cannot_ask_a_cluster(processes):
    captured = ng.jit(lambda x: ng.interop.dask.jacobian(chain, x, client=processes))
    with pytest.raises(CaptureError, match=r"test_dask\.py"):
        captured(X)


def fails(x):
    raise KeyError("of the user")


@pytest.mark.parametrize(
    ("function", "x", "options", "error", "text"),
    [
        (fails, X, {}, KeyError, "of the user"),
        (chain, np.arange(3), {}, DtypeError, "int64"),
        (lambda x: "text", X, {}, ArgTypeError, "str"),
        (lambda x, lock=LOCK: x, X, {}, ArgTypeError, "pickle"),
        (3, X, {}, ArgTypeError, "function"),
        (chain, X, {"mode": "backward"}, ValueError, "backward"),
        (chain, X, {"chunk_size": 0}, ArgTypeError, "chunk_size"),
        (chain, X, {"chunk_size": True}, ArgTypeError, "chunk_size"),
        (chain, X, {"progress": 3}, ArgTypeError, "progress"),
        (chain, X, {"client": "tcp://127.0.0.1:1"}, ArgTypeError, "Client"),
    ],
)
def test_mistakes(processes, function, x, options, error, text):
    with pytest.raises(error, match=text):
        ng.interop.dask.jacobian(function, x, **{"client": processes, **options})


def test_without_a_cluster():
    with pytest.raises(ClusterError, match="Connect"):
        ng.interop.dask.jacobian(chain, X)


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"numgrad\[dask\]"):
        ng.interop.dask.jacobian(chain, X)


# Lost workers, lost clusters.


def kill(client, most):
    for pid in list(client.run(os.getpid).values())[:most]:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("most", one_in(2, [1, 2]))
def test_workers_that_are_killed_change_no_bit(mortal, most):
    progress = when(3, lambda: kill(mortal, most))
    found = ng.interop.dask.jacobian(slow_chain, X, client=mortal, chunk_size=1, progress=progress)
    assert progress.acted
    assert same(found, ng.func.jacrev(slow_chain, chunk_size=1)(X))


@exhaustive
def test_a_cluster_that_is_closed(mortal):
    progress = when(3, threading.Thread(target=mortal.cluster.close).start)
    with pytest.raises(ClusterError, match=r"dask\.jacobian: .* gone.* of 30 tasks were done"):
        ng.interop.dask.jacobian(slow_chain, X, client=mortal, chunk_size=1, progress=progress)
    assert time.monotonic() - progress.acted[0] < 10.0


def test_a_client_that_is_closed(mortal):
    mortal.close()
    with pytest.raises(ClusterError, match="closed"):
        ng.interop.dask.jacobian(chain, X, client=mortal)


@exhaustive
def test_a_cluster_without_workers(mortal):
    mortal.cluster.scale(0)
    start = time.monotonic()
    with pytest.raises(ClusterError, match=r"no worker|deliver|lost"):
        ng.interop.dask.jacobian(slow_chain, X, client=mortal, timeout=1.5)
    assert time.monotonic() - start < 8.0


@exhaustive
def test_a_function_that_ends_its_workers():
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        connected(n_workers=1, threads_per_worker=1) as client,
        pytest.raises(ClusterError, match="memory"),
    ):
        ng.interop.dask.jacobian(lambda x: os._exit(1), X, client=client)


def test_progress_comes_to_an_end(processes):
    seen = []
    ng.interop.dask.jacobian(
        chain, X, client=processes, chunk_size=10, progress=lambda *done: seen.append(done)
    )
    assert seen == [(10, 30), (20, 30), (30, 30)]
