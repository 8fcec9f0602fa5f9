"""Loops over ``prange``, whose steps are reversed in chunks."""

import numba
import numpy as np
import pytest

import numgrad as ng
from numgrad._adjoint import AdjointError, Options, derive, surroundings, type_of
from numgrad._adjoint.ssa.conventions import in_chunks
from numgrad.loops import kept
from numgrad.targets.cpu.platform import threads
from numgrad.testing.fuzzing.kernels.judging import judge, options_of, parallel_text_of, run
from numgrad.testing.fuzzing.kernels.parallel import one_step_each, watched
from tests.sampling import exhaustive, one_in

from .parallel_kernels import (
    SERIAL,
    attraction,
    cases,
    heat_in_parallel,
    orbits,
    reaction,
    rows_of,
    scaled,
    until_full,
    waves,
)
from .test_kernels import along, called

KERNELS = list(cases())
BY_NAME = {"argvalues": KERNELS, "ids": lambda kernel: kernel.__name__}


def derived_of(kernel, args, many=True, **options):
    """Return the derived adjoint of a kernel, with ``many`` one that runs in the most chunks."""
    made = derive(kernel, [type_of(a) for a in args], options=Options(**options))
    if many:
        made.namespace["in_chunks"] = one_step_each
    return made


def seeds_of(derived, args, kernel):
    """Return the cotangents of the results."""
    results = kernel.py_func(*args)
    results = results if isinstance(results, tuple) else (results,)
    return [np.cos(np.arange(r.size)).astype(r.dtype) if np.ndim(r) else 1.0 for r in results]


def gradients(derived, args, kernel, way="plain"):
    """Return the cotangents of all arguments."""
    shadows, numbers, _ = called(derived, args, way, None, seeds_of(derived, args, kernel))
    return [*shadows.values(), *numbers]


@pytest.mark.parametrize("kernel", **BY_NAME)
def test_chunks_add_up_to_the_serial_reverse_and_do_not_race(kernel):
    args = cases()[kernel]
    derived = derived_of(kernel, args)
    assert derived.is_chunked
    with watched(derived.plain.__globals__):
        found = gradients(derived, args, kernel)
    expected = gradients(derived_of(kernel, args, threads=False), args, kernel)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("kernel", **BY_NAME)
def test_gradients_are_those_of_differences(kernel):
    args = cases()[kernel]
    derived = derived_of(kernel, args)
    shadows, numbers, _ = called(derived, args, "plain", None, seeds_of(derived, args, kernel))
    found = {**shadows, **dict(zip(derived.numbers, numbers, strict=True))}
    draw = np.random.default_rng(4)
    direction = [draw.normal(size=np.shape(args[n])) for n in found]

    def value(*moved):
        results = kernel.py_func(*moved)
        results = results if isinstance(results, tuple) else (results,)
        return sum(np.sum(s * r) for s, r in zip(seeds_of(derived, args, kernel), results, strict=True))  # noqa: E501

    total = sum(np.sum(g * d) for g, d in zip(found.values(), direction, strict=True))
    expected = along(value, args, list(found), direction)
    np.testing.assert_allclose(total, expected, rtol=1e-7)


@pytest.fixture
def two_threads():
    """Two threads at least, so that chunks run beside one another."""
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("there is one thread")
    before = numba.get_num_threads()
    numba.set_num_threads(2)
    yield
    numba.set_num_threads(before)


@pytest.mark.parametrize("kernel", one_in(4, KERNELS, 2), ids=lambda kernel: kernel.__name__)
def test_any_number_of_threads_gives_the_same_bits(kernel, two_threads):
    args = cases(40)[kernel]
    derived = derived_of(kernel, args)
    expected = gradients(derived, args, kernel, "compiled")
    plain = gradients(derived_of(kernel, args, threads=False), args, kernel)
    for count in (2, 1, 2):
        numba.set_num_threads(count)
        found = gradients(derived, args, kernel, "threaded")
        assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))
    for one, other in zip(expected, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_number_of_chunks_is_that_of_steps_work_and_memory():
    assert in_chunks(0, 1, 10) == in_chunks(3, 4, 10**6) == in_chunks(100, 1, 1) == 1
    assert in_chunks(1000, 1, 10**6) == 128
    assert in_chunks(100, 1, 10**6) == 100
    assert in_chunks(100, 3, 10**6) == 33
    assert in_chunks(1000, 1, 10**6, 100, 1 << 26) == 32
    assert in_chunks(1000, 1, 10**6, 100, 10 * 800) == 11  # as many arrays as there is room for
    assert in_chunks(1000, 1, 10**6, 100, 799) == 1
    assert in_chunks(1000, 1, 2400, 100_000, 1 << 30) == 4  # arrays cost a part of the work


def test_memory_for_arrays_of_chunks_is_that_for_tapes(monkeypatch):
    args = cases()[attraction]
    monkeypatch.setattr(surroundings, "memory", lambda: 12345)
    assert ", 12345)" in derived_of(attraction, args).source


@pytest.mark.parametrize(("kernel", "given"), SERIAL, ids=lambda k: getattr(k, "__name__", ""))
def test_steps_that_depend_on_each_other_are_reversed_in_their_order(kernel, given):
    args = given(np.array([0.4, -0.3, 0.8, 0.2, 0.9, 0.5]))
    derived = derived_of(kernel, args)
    assert not derived.is_chunked
    shadows, _, _ = called(derived, args)
    (found,) = shadows.values()
    direction = np.array([0.3, -0.7, 0.4, 1.1, -0.2, 0.6])

    def value(x):
        return kernel.py_func(x.copy(), *args[1:])

    np.testing.assert_allclose(found @ direction, along(value, args[:1], [0], [direction]), rtol=1e-7)  # noqa: E501


def test_sum_that_a_step_reads_is_refused():
    with pytest.raises(AdjointError, match="an iteration of prange reads a number"):
        derive(until_full, [type_of(np.zeros(3))])


def test_arrays_that_do_not_lie_in_one_piece_compile():
    args = cases(12)[attraction]
    points = np.repeat(args[0], 2, axis=1)[:, ::2]
    derived = derived_of(attraction, args)
    shadow = np.zeros((12, 4))[:, ::2]
    given = points, *args[1:], shadow, np.zeros(12), 1.0, np.zeros(4), np.zeros(4, np.int64)
    derived.threaded(*given)
    assert np.array_equal(shadow, gradients(derived, args, attraction)[0])


def test_chunks_are_not_nested():
    @numba.njit(parallel=True)
    def table(x, y):
        s = 0.0
        for i in numba.prange(len(x)):
            for j in numba.prange(len(y)):
                s += np.sin(x[i] * y[j])
        return s

    args = [np.linspace(0.1, 1.0, 7), np.linspace(-1.0, 2.0, 5)]
    derived = derived_of(table, args)
    assert derived.source.count("in prange") == 1
    gx, gy = gradients(derived, args, table)
    slopes = np.cos(np.outer(*args))
    np.testing.assert_allclose(gx, slopes @ args[1])
    np.testing.assert_allclose(gy, args[0] @ slopes)


def test_neighbours_are_added_to_by_every_second_chunk_and_then_the_others():
    source = derived_of(heat_in_parallel, cases()[heat_in_parallel]).source
    assert "for phase in range(2):" in source
    assert "_parts" not in source  # no chunk has a shadow of its own


def test_single_precision_stays_single_and_is_right():
    args = [a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in cases()[attraction]]
    exact = gradients(derived_of(attraction, cases()[attraction]), cases()[attraction], attraction)
    found = gradients(derived_of(attraction, args), args, attraction, "compiled")
    assert found[0].dtype == found[1].dtype == np.float32
    for one, other in zip(found, exact, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_outer_loops_run_again_from_snapshots_in_chunks():
    for kernel in (heat_in_parallel, reaction, waves):
        source = derived_of(kernel, cases()[kernel], snapshots=True).source
        assert "control" in source
        assert "prange" in source
    before = ng.get_flags("tape_memory")
    args = cases(2000)[heat_in_parallel][:2]
    loops = ng.njit(parallel=True)(heat_in_parallel.py_func)
    expected = ng.adjoint(loops)(*args, 100)
    try:
        ng.set_flags(tape_memory=0)
        found = ng.adjoint(ng.njit(parallel=True)(heat_in_parallel.py_func))(*args, 100)
    finally:
        ng.set_flags(**before)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-11)


# Under the transforms


@pytest.fixture
def launches(monkeypatch, two_threads):
    """The calls that may start threads."""
    found = []
    real = kept.team

    def team():
        found.append(real())
        return found[-1]

    monkeypatch.setattr(kept, "team", team)
    return found


def test_rows_of_batches_have_the_bits_of_single_calls_on_threads(launches):
    loops = ng.njit(parallel=True)(scaled.py_func)
    draw = np.random.default_rng(5)
    rows = draw.normal(size=(5, 3000))
    weights = draw.normal(size=3000)
    gradient = ng.func.grad(lambda x: (loops(x, 0.7) * weights).sum())
    singles = [gradient(row) for row in rows]
    assert launches
    assert None not in launches
    assert np.array_equal(ng.func.vmap(gradient)(rows), singles)
    assert np.array_equal(ng.jit(ng.func.vmap(gradient))(rows), singles)
    x = ng.tensor(rows[0], requires_grad=True)
    y = loops(x, 0.7)
    (batched,) = ng.grad(y, x, ng.tensor(rows), is_grads_batched=True, retain_graph=True)
    looped = [ng.grad(y, x, ng.tensor(row), retain_graph=True)[0].numpy() for row in rows]
    assert np.array_equal(batched.numpy(), looped)


def test_threads_start_no_threads(two_threads):
    assert kept.team() is not None
    with threads.launch():
        assert kept.team() is None
    numba.set_num_threads(1)
    assert kept.team() is None


def test_setting_of_threads_is_observed(two_threads):
    before = ng.get_flags("threads")
    try:
        ng.set_flags(threads=1)
        assert kept.team() is None
    finally:
        ng.set_flags(**before)


@pytest.mark.parametrize("kernel", one_in(2, [rows_of, orbits]), ids=lambda kernel: kernel.__name__)
def test_second_derivatives_are_those_of_differences_of_gradients(kernel):
    args = cases(4)[kernel]
    loops = ng.njit(parallel=True)(kernel.py_func)
    total = lambda x: ng.sin(loops(x, *args[1:])).sum()  # noqa: E731
    gradient = ng.func.grad(total)
    direction = np.random.default_rng(6).normal(size=args[0].shape)
    hessian = ng.func.hessian(total)(args[0]).reshape(direction.size, direction.size)
    expected = along(gradient, args[:1], [0], [direction])
    np.testing.assert_allclose(hessian @ direction.ravel(), expected.ravel(), rtol=1e-6)


# Random kernels


@ng.njit(parallel=True)
def named_like_the_code(x, runs, is_long, in_chunks, prange, laid_down):
    total = 0.0
    for place in numba.prange(runs):
        chunk = 0.0
        for j in range(runs):
            chunk += is_long / (1.0 + (x[place] - x[j]) ** 2) + in_chunks * x[place]
        total += chunk * prange
    return total + laid_down


def test_arguments_may_be_named_as_the_code_names_its_own():
    x = np.random.default_rng(0).normal(size=400)
    found = ng.func.grad(named_like_the_code, argnums=(0, 2, 3, 4, 5))(x, 400, 1.3, 0.2, 2.0, 1.0)
    slopes = 1.0 / (1.0 + (x[:, None] - x) ** 2)
    moved = -4 * 1.3 * ((x[:, None] - x) * slopes**2).sum(1) + 0.2 * 400
    of_chunks = 1.3 * slopes.sum() + 0.2 * 400 * x.sum()
    wanted = 2 * moved, 2 * slopes.sum(), 2 * 400 * x.sum(), of_chunks, 1.0
    for gradient, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-9)


def test_random_kernels_are_right_or_refused():
    verdicts = run(0, 12, of=parallel_text_of)
    assert verdicts["wrong"] == []
    assert len(verdicts["right"]) > 9


@exhaustive
def test_many_random_kernels_are_right_or_refused():
    assert run(12, 300, of=parallel_text_of)["wrong"] == []


@pytest.mark.parametrize("seed", one_in(4, [7, 1, 2, 10]))
def test_random_kernels_have_the_same_bits_on_threads(seed):
    verdict, details = judge(parallel_text_of(seed), seed, options_of(seed), "compiled")
    assert verdict == "right", details
