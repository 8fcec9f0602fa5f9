"""Operators whose values a function of whole arrays computes: now, in programs, from threads."""

import threading

import numpy as np
import pytest
import scipy.fft

import numgrad as ng
from numgrad._declare import host_operator
from numgrad._errors import MatrixError, OperatorError
from numgrad.operators.elementwise.arithmetic import multiply
from numgrad.operators.linalg.matmul import adjoint, matmul
from numgrad.operators.signal import fourier

from .derivatives import check_derivatives, in_program

calls = []


@host_operator("(n,n)->(n),(n,n)", results=("real", None), name="ordered_eigh", register=False)
def eigh(a, *, descending=False):
    calls.append(a.shape)
    values, vectors = np.linalg.eigh(a)
    return (values[..., ::-1], vectors[..., ::-1]) if descending else (values, vectors)


@host_operator("(n)->(h)", name="every_other", register=False, sizes=lambda known, step: {
    "h": -(-known["n"] // step)})  # fmt: skip
def every_other(x, *, step):
    if np.isnan(x).any():
        raise ValueError("not a number")
    return x[..., ::step].copy()


@host_operator("(n,n),(n)->(n)", name="twice_solved", register=False)
def twice_solved(a, b):
    return 2 * np.linalg.solve(a, b[..., None])[..., 0]


@twice_solved.reads
def twice_solved_reads(needs):
    return True, False, needs[0]


@twice_solved.pullback
def twice_solved_pullback(context, g):
    gb = twice_solved(adjoint(context.input(0)), g)
    if not context.wanted[0]:
        return None, gb
    column = ng.expand_dims(gb, axis=-1)
    return multiply(matmul(column, ng.expand_dims(context.output(), axis=-2)), -0.5), gb


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def system(rng, *lead, n=3):
    return rng.standard_normal((*lead, n, n)) + n * np.eye(n), rng.standard_normal((*lead, n))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("lead", [(), (4,), (2, 3), (0,)])
def test_values_and_dtypes_now_and_in_programs(rng, dtype, lead):
    a = rng.standard_normal((*lead, 3, 3)).astype(dtype)
    a = a + a.swapaxes(-1, -2).conj()
    expected = np.linalg.eigh(a)
    for descending in (False, True):
        now = eigh(a, descending=descending)
        turn = slice(None, None, -1) if descending else slice(None)
        assert [y.dtype for y in now] == [np.finfo(dtype).dtype, dtype]
        np.testing.assert_array_equal(now[0].numpy(), expected[0][..., turn])
        np.testing.assert_array_equal(now[1].numpy(), expected[1][..., turn])
        later = in_program(lambda x, d=descending: eigh(x, descending=d)[0], ng.tensor(a))
        np.testing.assert_array_equal(later, expected[0][..., turn])


def test_integers_and_half_precision_are_converted():
    assert twice_solved(np.eye(2, dtype=np.int8), [1, 2]).dtype == np.float64
    assert every_other(np.ones(4, np.float16), step=2).dtype == np.float32


def test_outputs_may_have_sizes_of_their_own(rng):
    x = rng.standard_normal((2, 7))
    for step, count in ((2, 4), (3, 3), (7, 1)):
        assert every_other(x, step=step).shape == (2, count)
        found = in_program(lambda t, s=step: every_other(t, step=s), ng.tensor(x))
        np.testing.assert_array_equal(found, x[:, ::step])


def test_operands_of_any_layout_and_loops_that_broadcast(rng):
    a, b = system(rng, 4)
    b = b[:2, None]
    for x in (a, a[::-1], np.asfortranarray(a), a[..., ::-1, ::-1]):
        expected = 2 * np.linalg.solve(x, np.broadcast_to(b[..., None], (2, 4, 3, 1)))[..., 0]
        np.testing.assert_array_equal(twice_solved(x, b).numpy(), expected)
        np.testing.assert_allclose(
            in_program(twice_solved, ng.tensor(x), ng.tensor(b)), expected, rtol=1e-14
        )


def test_derivatives_batches_and_captured_functions(rng):
    a, b = system(rng)
    check_derivatives(lambda x: twice_solved(x, b), a, rng)
    check_derivatives(lambda x: twice_solved(a, x), b, rng)
    both = ng.func.jacrev(twice_solved, argnums=(0, 1))
    for captured, eager in zip(ng.jit(both)(a, b), both(a, b), strict=True):
        np.testing.assert_array_equal(captured, eager)
    forward = ng.func.jacfwd(twice_solved, argnums=(0, 1))(a, b)
    for one, other in zip(forward, both(a, b), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_batched_pass_calls_the_function_once_for_a_tile_of_rows(rng):
    a = ng.tensor(np.eye(3), requires_grad=True)
    seeds = rng.standard_normal((40, 3))
    y = twice_solved(a, np.ones(3))
    rows = ng.grad(y, a, seeds, is_grads_batched=True, retain_graph=True)[0].numpy()
    looped = [ng.grad(y, a, seed, retain_graph=True)[0].numpy() for seed in seeds]
    np.testing.assert_array_equal(rows, looped)
    calls.clear()
    ng.func.vmap(lambda x: eigh(x)[0])(ng.tensor(np.tile(np.eye(3), (40, 1, 1))))
    assert len(calls) < 10


def test_failures_name_the_function_and_the_place(rng):
    a = np.tile(np.eye(3), (4, 1, 1))
    a[2] = np.nan
    with pytest.raises(MatrixError, match=r"ordered_eigh: .* at loop index 2") as caught:
        eigh(a)
    assert isinstance(caught.value.__cause__, np.linalg.LinAlgError)
    with pytest.raises(MatrixError, match=r"own name: Eigenvalues did not converge$"):
        eigh(a[2], caller="own name")
    with pytest.raises(OperatorError, match="every_other: not a number"):
        every_other(np.array([np.nan]), step=1)
    captured = ng.jit(lambda x: eigh(x * 1.0)[0] + 1.0)
    captured(np.eye(3)), captured(np.eye(3))
    with pytest.raises(MatrixError, match=r"Eigenvalues did not converge.*recorded at .*in <lam"):
        captured(a[2])
    np.testing.assert_array_equal(captured(np.eye(3)), np.full(3, 2.0))


def test_an_interrupt_within_a_program_is_raised():
    pressed = []

    @host_operator("(n)->(n)", name="interrupted", register=False)
    def interrupted(x):
        if pressed:
            raise KeyboardInterrupt
        return x + 1

    captured = ng.jit(lambda x: interrupted(x * 1.0) + 1.0)
    captured(np.ones(2)), captured(np.ones(2))
    pressed.append(True)
    with pytest.raises(KeyboardInterrupt):
        captured(np.ones(2))
    pressed.clear()
    np.testing.assert_array_equal(captured(np.ones(2)), [3.0, 3.0])


def test_threads_run_one_captured_function_at_once(rng):
    a, b = system(rng, 20, n=6)
    captured = ng.jit(lambda a, b: twice_solved(a, twice_solved(a, b) * 1.0))
    expected, results = captured(a, b), []

    def work():
        results.extend(np.array_equal(captured(a, b), expected) for _ in range(30))

    workers = [threading.Thread(target=work) for _ in range(4)]
    [worker.start() for worker in workers], [worker.join() for worker in workers]
    assert results == [True] * 120


def test_want_of_memory_is_no_error_of_an_operator(monkeypatch):
    """The function of the library raises as NumPy's own allocations do, whose error may say
    nothing; it succeeds when it is called again."""

    def scarce(function):
        def called(*args, **options):
            if scarce.now:
                scarce.now = False
                raise MemoryError
            return function(*args, **options)

        return called

    scarce.now = False
    ng.set_flags()  # plans that call another loop are forgotten
    monkeypatch.setattr(fourier, "_loop_of", lambda *args, **options: None)  # NumPy's own loop
    for name in ("fft", "ifft", "rfft", "irfft"):
        monkeypatch.setattr(scipy.fft, name, scarce(getattr(scipy.fft, name)))
    x = ng.tensor(np.arange(6.0), requires_grad=True)
    seeds = np.ones((2, 4), complex)
    captured = ng.jit(lambda x: ng.fft.rfft(x * 2))
    captured(np.arange(6.0))
    mapped = ng.func.vmap(ng.fft.rfft)
    calls = {
        "now": lambda: ng.fft.rfft(x),
        "in a program": lambda: captured(np.arange(6.0)),
        "mapped": lambda: mapped(np.ones((3, 6))),
        "in a pass": lambda: ng.grad(ng.fft.rfft(x), x, later(seeds[0])),
        "in a batched pass": lambda: ng.grad(
            ng.fft.rfft(x), x, later(seeds), is_grads_batched=True
        ),
    }

    def later(seed):
        scarce.now = True
        return seed

    for way, call in calls.items():
        scarce.now = "pass" not in way
        with pytest.raises(MemoryError, match=r"rfft: no memory is left for operands of shapes \("):
            call()
        assert not scarce.now
        if "pass" not in way:
            call()


def test_an_interrupt_in_a_function_comes_out(monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(fourier, "_loop_of", lambda *args, **options: None)  # NumPy's own loop
    captured = ng.jit(lambda x: ng.fft.rfft(x * 2))
    captured(np.arange(6.0))
    monkeypatch.setattr(scipy.fft, "rfft", interrupted)
    for call in (ng.fft.rfft, captured):
        with pytest.raises(KeyboardInterrupt):
            call(np.arange(6.0))
