"""``ng.jit``: calls of every kind give what the function itself gives."""

import gc
import threading
import weakref
from itertools import count

import numpy as np
import pytest

import numgrad as ng
from numgrad._tensor import Tensor
from numgrad.engine.fusion import policy
from numgrad.engine.lower import executable
from numgrad.engine.record.apply import runtime
from numgrad.func.tracing import jit


def rosenbrock(x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def values(tree):
    return [leaf.numpy() if isinstance(leaf, Tensor) else leaf for leaf in tree]


X = np.linspace(0.5, 1.5, 6)


def test_arrays_in_arrays_out():
    result = ng.jit(rosenbrock)(X)
    assert type(result) is np.ndarray
    assert result == rosenbrock(Tensor(X)).numpy()


def test_a_tensor_in_makes_tensors_out():
    result = ng.jit(lambda a, b: a * b)(ng.tensor(X), X)
    assert isinstance(result, Tensor)
    np.testing.assert_array_equal(result.numpy(), X * X)


def test_decorator_with_and_without_arguments():
    @ng.jit
    def plain(x):
        """Double."""
        return 2 * x

    @ng.jit(fuse="never", static_argnums=1)
    def power(x, n):
        return x**n

    assert (plain.__name__, plain.__doc__) == ("plain", "Double.")
    np.testing.assert_array_equal(plain(X), 2 * X)
    np.testing.assert_array_equal(power(X, 3.0), (Tensor(X) ** 3.0).numpy())


def test_a_method():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @ng.jit(static_argnums=0)
        def __call__(self, x):
            return self.scale * x

    one, two = Model(2.0), Model(3.0)
    np.testing.assert_array_equal(one(X), 2 * X)
    np.testing.assert_array_equal(two(X), 3 * X)


def test_containers_of_any_structure():
    def function(parameters, *, scale):
        (w, b), names = parameters["layers"], parameters["names"]
        return {"y": ng.tanh(w @ b) * scale, "sum": [w.sum(), None, names, 7]}

    rng = np.random.default_rng(0)
    parameters = {"layers": (rng.random((3, 4)), rng.random(4)), "names": "ab"}
    jitted = ng.jit(function)
    for scale in (0.5, 2.0):
        result = jitted(parameters, scale=scale)
        tensors = {"layers": tuple(map(Tensor, parameters["layers"])), "names": "ab"}
        expected = function(tensors, scale=scale)
        np.testing.assert_allclose(result["y"], expected["y"].numpy(), 1e-15)
        np.testing.assert_array_equal(result["sum"][0], expected["sum"][0].numpy())
        assert result["sum"][1:] == [None, "ab", 7]


@pytest.mark.host_only("is about memory of NumPy")
def test_results_are_new_arrays_that_share_nothing():
    constant = np.ones(6)
    jitted = ng.jit(lambda x: (x, x, x[1:], ng.asarray(constant)))
    results = jitted(X)
    again = jitted(X)
    arrays = [X, constant, *results, *again]
    for n, a in enumerate(arrays):
        assert not any(np.may_share_memory(a, b) for b in arrays[:n])
    np.testing.assert_array_equal(results[0], X)
    np.testing.assert_array_equal(results[2], X[1:])


@pytest.mark.parametrize("order", ["reversed", "columns", "read-only", "broadcast"])
def test_any_layout(order):
    array = np.arange(12.0).reshape(3, 4) + 1
    given = {
        "reversed": array[::-1, ::-1],
        "columns": np.asfortranarray(array),
        "read-only": array.view(),
        "broadcast": np.broadcast_to(array[0], (3, 4)),
    }[order]
    given.flags.writeable = False
    jitted = ng.jit(lambda x: ng.log(x).sum(axis=0))
    for _ in range(2):
        np.testing.assert_array_equal(jitted(given), ng.log(given).sum(axis=0).numpy())


def test_python_numbers_promote_like_python_numbers():
    single = X.astype(np.float32)
    function = ng.jit(lambda x, dt: x + (0.5 * dt - dt**2) * x)
    for dt in (0.1, 0.25):
        result = function(single, dt)
        expected = (Tensor(single) + (0.5 * dt - dt**2) * Tensor(single)).numpy()
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, expected)
    assert function(single, np.float64(0.1)).dtype == np.float64  # as NumPy's scalars do
    assert ng.jit(lambda x, z: x * z)(single, 1j).dtype == np.complex64


def test_python_floats_do_not_record_again():
    calls = []
    jitted = ng.jit(lambda x, dt: calls.append(1) or x * dt)
    for dt in (0.1, 0.2, 0.3):
        np.testing.assert_array_equal(jitted(X, dt), X * dt)
    assert len(calls) == 1


def test_sizes_booleans_and_text_are_static():
    calls = []

    @ng.jit
    def function(x, n, how):
        calls.append((n, how))
        return x.reshape(n, -1) if how == "rows" else x * n

    assert function(X, 2, "rows").shape == (2, 3)
    assert function(X, 3, "rows").shape == (3, 2)
    np.testing.assert_array_equal(function(X, True, "scale"), X)
    np.testing.assert_array_equal(function(X, 1, "scale"), X)
    np.testing.assert_array_equal(function(X, 2, "scale"), 2 * X)
    np.testing.assert_array_equal(function(X, 1, "scale"), X)
    # True and 1 are equal and not the same; the size was asked for when it was another one.
    assert len(calls) == 6


def test_static_arguments_by_value_and_type():
    seen = []
    jitted = ng.jit(lambda x, s: seen.append(s) or x * (1.0 if s else 2.0), static_argnames="s")
    jitted(X, s=(1, 2.0))
    jitted(X, (1, 2.0))
    jitted(X, (1.0, 2))
    jitted(X, 0.0)
    jitted(X, -0.0)
    assert seen == [(1, 2.0), (1, 2.0), (1.0, 2), 0.0, -0.0]
    with pytest.raises(ng.errors.ArgTypeError, match="hashable"):
        jitted(X, s=[1])


def test_other_objects_are_refused():
    with pytest.raises(ng.errors.ArgTypeError, match="static_argnums"):
        ng.jit(lambda x, o: x)(X, object())
    with pytest.raises(ng.errors.ArgTypeError, match="MaskedArray"):
        ng.jit(lambda x: x)(np.ma.masked_array(X))
    with pytest.raises(ng.errors.DtypeError):
        ng.jit(lambda x: x)(np.array(["a"]))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"fuse": "always"}, ValueError),
        ({"static_argnums": 1.5}, TypeError),
        ({"static_argnums": "x"}, TypeError),
        ({"static_argnames": 1}, TypeError),
        ({"static_argnums": 0, "donate_argnums": 0}, TypeError),
        ({"static_argnums": 1}, TypeError),
        ({"static_argnums": -2}, TypeError),
        ({"static_argnames": "y"}, TypeError),
        ({"donate_argnums": 1}, TypeError),
    ],
)
def test_bad_options_are_refused(options, error):
    with pytest.raises(error):
        ng.jit(lambda x: x, **options)
    with pytest.raises(ng.errors.ArgTypeError):
        ng.jit(3)


def test_parameters_that_a_function_may_have():
    def scaled(x, *rest, by=2.0, **others):
        return x * by

    ng.jit(scaled, static_argnums=3, static_argnames=("by", "others"), donate_argnums=2)
    ng.jit(lambda x, *, by: x * by, static_argnames="by")
    with pytest.raises(ng.errors.ArgTypeError, match=r"'bye'.*x, by"):
        ng.jit(lambda x, *, by: x * by, static_argnames="bye")


@pytest.mark.parametrize(
    "wrapped", [lambda y: (q for q in y), lambda y: lambda: y, lambda y: {1}, lambda y: [object()]]
)
def test_results_that_are_no_arrays_are_refused(wrapped):
    with pytest.raises(ng.errors.ArgTypeError, match=r"returns a .* tuple or a dict"):
        ng.jit(lambda x: wrapped(2 * x))(X)


def test_results_may_hold_constants_and_what_was_given():
    model = object()
    given = ng.jit(lambda x, model: (x, model, 1, "a", None, np.float32), static_argnums=1)
    np.testing.assert_array_equal(given(X, model)[0], X)
    assert given(X, model)[1:] == (model, 1, "a", None, np.float32)


def test_new_shapes_compile_nothing():
    jitted = ng.jit(ng.func.grad(lambda x: (ng.sin(x) * x[::-1]).sum()))
    jitted(np.ones(3))
    before = _compiled()
    for n in range(4, 60):
        x = np.linspace(0.0, 1.0, n)
        expected = ng.func.grad(lambda x: (ng.sin(x) * x[::-1]).sum())(x)
        np.testing.assert_array_equal(jitted(x), expected)
    assert _compiled() == before


def _compiled():
    return runtime.target.cache_info().compiled


def test_a_recording_for_each_shape_dtype_and_kind():
    calls = []
    jitted = ng.jit(lambda x: calls.append((x.shape, x.dtype)) or x + 1)
    for x in (X, X.astype(np.float32), X[:3], np.float64(2.0), X, X[:3]):
        np.testing.assert_array_equal(jitted(x), x + 1)
    assert len(calls) == 4


def specializations_of(jitted):
    return jitted.jit_function.specializations


def instructions(jitted):
    """Return how many instructions the only program of a function has at present."""
    (recorded,) = specializations_of(jitted).values()
    (stage,) = recorded.trace.stages.stages
    return len(stage.plan.bound.program.instructions)


@pytest.mark.usefixtures("default_fusing")
@pytest.mark.short_ways
def test_when_a_function_is_fused(monkeypatch):
    expected = rosenbrock(Tensor(X)).numpy()
    for hour in (0, 3600):  # how long a run takes, by the clock that the engine reads
        clock = count(0, hour)
        monkeypatch.setattr(executable, "thread_time", lambda clock=clock: next(clock))
        now, auto, never = (ng.jit(rosenbrock, fuse=fuse) for fuse in ("now", "auto", "never"))
        for _ in range(3):
            assert all(jitted(X) == expected for jitted in (now, auto, never))
        assert instructions(now) < instructions(never)
        assert instructions(auto) == instructions(now if hour else never)


@pytest.mark.short_ways
def test_calls_that_take_no_python_count(monkeypatch):
    monkeypatch.setattr(policy, "_INSTRUCTION", 0.001)
    monkeypatch.setattr(policy, "_KERNEL", 0.001)
    jitted = ng.jit(rosenbrock)
    expected = rosenbrock(Tensor(X)).numpy()
    assert jitted(X) == expected
    assert {float(jitted(X)) for _ in range(40_000)} == {float(expected)}
    unfused = ng.jit(rosenbrock, fuse="never")  # on a busy machine the first run may be long enough
    assert unfused(X) == expected
    assert instructions(jitted) < instructions(unfused)


@pytest.mark.locked
@pytest.mark.short_ways
def test_calls_that_take_turns_take_no_python(monkeypatch):
    def power(x, n, scale):
        for _ in range(n):
            x = x * scale
        return x

    jitted = ng.jit(power)
    calls = [(X, 2, 0.5), (X[:3], 2, 0.25), (X, 3, 2.0), (X.astype(np.float32), 1, 3.0)]
    for _ in range(3):
        for args in calls:
            np.testing.assert_array_equal(jitted(*args), power(*args))
    general = []
    call = jit.JitFunction.__call__
    monkeypatch.setattr(
        jit.JitFunction, "__call__", lambda self, *args: general.append(args) or call(self, *args)
    )
    for scale in (0.5, 4.0):
        for x, n, _ in calls[:3]:
            np.testing.assert_array_equal(jitted(x, n, scale), power(x, n, scale))
    assert not general


def test_the_oldest_recording_makes_room(monkeypatch):
    monkeypatch.setattr(jit, "_MOST_SPECIALIZATIONS", 3)
    jitted = ng.jit(lambda x: x * 2)
    for n in (1, 2, 3, 4, 1, 2):
        np.testing.assert_array_equal(jitted(np.ones(n)), np.full(n, 2.0))
    assert len(specializations_of(jitted)) == 3


def test_the_least_recently_used_recording_makes_room(monkeypatch):
    monkeypatch.setattr(jit, "_MOST_SPECIALIZATIONS", 3)
    monkeypatch.setattr(jit, "_MOST_WITH_ENTRIES", 2)
    monkeypatch.setattr(jit.JitFunction, "entry_for", lambda self, latest, args: None)
    recorded = []

    @ng.jit
    def doubled(x):
        recorded.append(x.shape[0])
        return ng.sin(x) * 2.0

    for n in (1, 2, 3, 1, 4, 1, 3, 2):  # 2 makes room for 4, and 4 for 2
        for x in (np.ones(n), np.full(n, 3.0)):
            np.testing.assert_array_equal(doubled(x), np.asarray(ng.sin(x)) * 2.0)
    assert recorded == [1, 2, 3, 4, 2]


def test_a_recording_that_is_no_longer_valid_is_dropped(monkeypatch):
    alive, weight = weakref.WeakSet(), ng.tensor(2.0)
    made = jit.Specialization.__init__

    def noted(self, *args, **options):
        alive.add(self)
        made(self, *args, **options)

    monkeypatch.setattr(jit.Specialization, "__init__", noted)
    scaled = ng.jit(lambda x: x * weight)
    for n in range(20):
        weight.requires_grad_(n % 2 == 0)
        with ng.no_grad():
            np.testing.assert_array_equal(scaled(X), 2.0 * X)
            np.testing.assert_array_equal(scaled(X), 2.0 * X)
    gc.collect()
    assert len(alive) == len(specializations_of(scaled)) == 1


def test_inside_another_capture():
    inner = ng.jit(lambda x: ng.sin(x) * 2)
    outer = ng.jit(lambda x: ng.func.grad(lambda y: inner(y).sum())(x) + inner(x))
    np.testing.assert_array_equal(outer(X), (ng.cos(X) * 2 + ng.sin(X) * 2).numpy())


def test_threads_share_a_function():
    jitted = ng.jit(ng.func.grad(rosenbrock))
    points = [np.linspace(0.1 * n, 1.0, 5) for n in range(8)]
    expected = [ng.func.grad(rosenbrock)(p) for p in points]
    errors = []

    def run(number):
        for _ in range(300):
            if not np.array_equal(jitted(points[number]), expected[number]):
                errors.append(number)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_failing_kernel_is_named():
    jitted = ng.jit(lambda a: ng.linalg.inv(a))
    jitted(np.eye(3))
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError):
            jitted(np.zeros((3, 3)))


def test_settings_are_seen():
    jitted = ng.jit(lambda x: ng.exp(x).sum())
    first = jitted(X)
    ng.set_flags(tile=2)
    try:
        assert jitted(X) == first
    finally:
        ng.set_flags(tile=0)
