"""Rolls that are read in place: kernels go on from the beginning of an axis after its end."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.fusion.assemble import fuse
from numgrad.targets.cuda.program import lowering

from ..programs import TARGET, on_both, program_of, require_equal

RNG = np.random.default_rng(17)


@pytest.fixture(params=["narrow", "wide", "rows"])
def walk(request, monkeypatch):
    """How threads count elements, and whether a thread takes several."""
    monkeypatch.setattr(TARGET, "_prepared", {})
    monkeypatch.setattr(lowering, "_WIDE", 1 if request.param == "wide" else 1 << 31)
    resident = 1 if request.param == "rows" else 1000
    monkeypatch.setattr(TARGET.runtime.driver, "RESIDENT", resident, raising=False)
    return request.param


def launches(function, *arrays):
    """Return the launches of a fused program."""
    reads = TARGET.reads_rings, TARGET.reads_tables
    program = fuse(program_of(function, *arrays), TARGET.can_fuse, *reads)
    return TARGET.bind(program).steps


def stencil(x):
    return (ng.roll(x, 1) - ng.roll(x, -2)) * ng.roll(x, -1) - x


def of_two_axes(x):
    return ng.roll(x, (1, -2), (0, 1)) * ng.roll(x, 1, 0) + ng.roll(x, 2, 1) * x


def of_the_middle(x):
    return ng.roll(x, 2, 1) * ng.roll(x, -1, 1) - ng.roll(x, 1, 0)


FUNCTIONS = {
    "a row": (stencil, (7,)), "flat": (stencil, (3, 4)), "two axes": (of_two_axes, (4, 5)),
    "three axes": (of_the_middle, (3, 4, 5)),
    "turned": (lambda x: of_two_axes(x.mT), (4, 5)),
    "backwards": (lambda x: stencil(x[::-1]) * x, (7,)),
    "every other": (lambda x: stencil(x[::2]), (14,)),
    "broadcast": (lambda x: ng.roll(x, 1, 0) * ng.roll(x[:1], 2, 1) + x[:, :1], (4, 5)),
    "twice": (lambda x: ng.roll(ng.roll(x, 2) * x, 3) + ng.roll(x, 1), (9,)),
    "half": (lambda x: ng.roll(x, 4) + ng.roll(x, -4) * x, (8,)),
    "two elements": (lambda x: ng.roll(x, 1) * x, (2,)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int16"])
def test_rolls_have_the_bits_of_the_processor(name, dtype, walk):
    function, shape = FUNCTIONS[name]
    x = (10 * RNG.standard_normal(shape)).astype(dtype)
    require_equal(on_both(function, x, fused=True))


@pytest.mark.parametrize("name", ["a row", "three axes", "half"])
def test_what_reads_rolls_is_one_launch(name):
    function, shape = FUNCTIONS[name]
    (step,) = launches(function, RNG.standard_normal(shape))
    assert "_first" in step.kernel.kernel.text


def test_a_result_does_not_take_the_memory_of_what_is_rolled():
    """A thread would overwrite what others are yet to read."""

    def function(x):
        for _ in range(4):
            x = ng.exp(-ng.roll(x, 1) * x) + ng.cumsum(x)
        return ng.roll(x, 1) * ng.cumsum(x)

    require_equal(on_both(function, RNG.random(9), fused=True), 1e-14)


@pytest.mark.parametrize("axis", [0, 1])
def test_captured_gradients_of_batches(axis):
    def derivatives(x, rows):
        y = x
        for _ in range(3):
            y = y + (ng.roll(y, 1, axis) - ng.roll(y, -2, axis)) * ng.roll(y, -1, 1 - axis)
        return ng.grad(y, [x], rows, is_grads_batched=True)[0]

    x, rows = RNG.standard_normal((3, 4)), RNG.standard_normal((2, 3, 4))
    found = [
        ng.jit(derivatives, fuse="now")(
            ng.tensor(x, device=device, requires_grad=True), ng.tensor(rows, device=device)
        )
        for device in ("cpu", "cuda")
    ]
    np.testing.assert_array_equal(found[1].cpu().numpy(), found[0].numpy())


@pytest.mark.parametrize("seed", range(12))
def test_random_stencils(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(2, 5, rng.integers(1, 4)))
    plan = [
        (int(rng.integers(len(shape))), int(rng.integers(-4, 5)), int(rng.integers(4)))
        for _ in range(5)
    ]

    def function(x, y):
        values = [x, y]
        for axis, shift, kind in plan:
            rolled = ng.roll(values[-1], shift, axis)
            made = [rolled * values[-2], rolled - values[0], ng.flip(rolled, axis) + values[1],
                    ng.roll(values[-2], -shift, axis) * rolled][kind]  # fmt: skip
            values.append(made)
        return values[-1], values[-2] * values[2]

    x, y = rng.standard_normal(shape), rng.standard_normal(shape)
    require_equal(on_both(function, x, y, fused=True))
