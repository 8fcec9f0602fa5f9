"""Neighbouring copies of a program: what one launch copies together, and what it must not."""

from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng
from numgrad.targets.cuda.launch.steps import Place
from numgrad.targets.cuda.program import copies
from numgrad.targets.cuda.program.bound_program import BoundProgram
from numgrad.targets.cuda.program.copies import Copy
from numgrad.testing.cuda.benchmarks.workloads import lorenz

from ..programs import TARGET, on_both, program_of, require_equal

RNG = np.random.default_rng(17)
DOUBLE = np.dtype(float)


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """All copies of these tests count as small."""
    for runtime in (TARGET.runtime, ng.cuda.current_stream()._runtime):
        monkeypatch.setattr(runtime.driver, "RESIDENT", 1000, raising=False)


def names(function, *arrays):
    """Return the names of the launches that copy."""
    steps = TARGET.bind(program_of(function, *arrays)).steps
    launches = [one for step in steps for one in getattr(step, "launches", [step])]
    names = [launch.kernel.kernel.name for launch in launches]
    return [name for name in names if name in ("copy", "copies")]


def test_the_copies_of_a_roll_are_one_launch():
    def rolls(x):
        return ng.cumsum(ng.roll(x, 1)), ng.cumsum(ng.roll(x, -2))

    x = RNG.standard_normal(9)
    assert names(rolls, x) == ["copies"] * 2
    require_equal(on_both(rolls, x))


@pytest.mark.parametrize("dtype", ["int16", "float32", "complex128"])
@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_matrices_are_rolled_by_one_launch(axis, dtype):
    x = (10 * RNG.standard_normal((4, 5))).astype(dtype)
    shifts = (1, -2) if axis == (0, 1) else 2

    def rolled(x):
        return ng.cumsum(ng.roll(x, shifts, axis), axis=1)

    assert names(rolled, x) == ["copies"]
    require_equal(on_both(rolled, x))


def test_copies_of_results_have_launches_of_their_own():
    """A result may share memory with an argument, or with another result."""
    x = RNG.standard_normal(9)
    assert names(lambda x: (ng.roll(x, 1), ng.roll(x, 2)), x) == ["copy"] * 4
    require_equal(on_both(lambda x: (ng.roll(x, 1), ng.roll(x, 2)), x))


def test_a_copy_waits_for_what_it_reads():
    x = RNG.standard_normal(9)
    program = program_of(lambda x: ng.cumsum(ng.roll(x, 1)), x)
    first, second = program.instructions[:2]
    driver, count = TARGET.runtime.driver, len(program.nbytes)
    apart = [Place(0, 1000 * buffer) for buffer in range(count)]
    (joined,) = copies.grouped([first, second], program, apart, driver)
    assert len(joined) == 2
    same = [Place(0, 0)] * count  # what the first one writes, the second one reads
    assert list(copies.grouped([first, second], program, same, driver)) == [first, second]


def test_copies_of_other_dtypes_have_launches_of_their_own():
    x = RNG.standard_normal(6)
    program = program_of(lambda x: ng.cumsum(ng.roll(x, 1)), x)
    other = program_of(lambda x: ng.cumsum(ng.roll(x, 1)), x.astype(np.float32))
    mixed = [*program.instructions[:2], *other.instructions[:2]]
    places = [Place(0, 1000 * buffer) for buffer in range(len(program.nbytes))]
    found = list(copies.grouped(mixed, program, places, TARGET.runtime.driver))
    assert [[one.dtype.char for one in group] for group in found] == [["d"] * 2, ["f"] * 2]


def test_a_launch_has_so_many_copies_at_most(monkeypatch):
    monkeypatch.setattr(copies, "_MOST", 3)
    x = RNG.standard_normal((3, 4))

    def rolled(x):
        return ng.cumsum(ng.roll(x, (1, 1), (0, 1)), axis=1)

    assert names(rolled, x)[:1] == ["copies"]
    require_equal(on_both(rolled, x))


def test_large_copies_have_launches_of_their_own(monkeypatch):
    monkeypatch.setattr(TARGET.runtime.driver, "RESIDENT", 2)
    x = RNG.standard_normal(20)
    assert names(lambda x: ng.cumsum(ng.roll(x, 10)), x) == ["copy"] * 2


def test_captured_gradients_of_rolls_have_the_bits_of_the_processor():
    def derivatives(x, rows):
        y = x
        for _ in range(3):
            y = y + (ng.roll(y, 1) - ng.roll(y, -2)) * ng.roll(y, -1)
        return ng.grad(y, [x], rows, is_grads_batched=True)[0]

    x, rows = RNG.standard_normal(9), RNG.standard_normal((2, 9))
    found = [
        ng.jit(derivatives, fuse="now")(
            ng.tensor(x, device=device, requires_grad=True), ng.tensor(rows, device=device)
        )
        for device in ("cpu", "cuda")
    ]
    np.testing.assert_array_equal(found[1].cpu().numpy(), found[0].numpy())


def test_lorenz_96_has_few_launches(monkeypatch):
    """Of three steps there are 24 kernels, which read rolls in place."""
    bound, begin = [], BoundProgram.__init__

    def noted(self, *given):
        begin(self, *given)
        bound.append(self)

    monkeypatch.setattr(BoundProgram, "__init__", noted)
    x = 8 + 0.01 * np.sin(np.arange(8.0))

    def gradients(x, rows):
        y = lorenz(SimpleNamespace(roll=ng.roll), x, 3)
        return ng.grad(y, [x], rows, is_grads_batched=True)[0]

    leaf = ng.tensor(x, device="cuda", requires_grad=True)
    ng.jit(gradients, fuse="now")(leaf, ng.tensor(np.eye(8), device="cuda"))
    steps = max((one.steps for one in bound), key=len)
    launches = [one for step in steps for one in getattr(step, "launches", [step])]
    assert len(launches) == 24


def one(slot, offset, sizes, strides):
    return Copy(DOUBLE, sizes, (Place(9, 0), Place(slot, offset)), ((8,) * len(sizes), strides))


def apart(a, b):
    return copies._are_apart(a, 1, b, 1)


def test_columns_of_a_matrix_lie_apart():
    first, others = one(0, 0, (5,), (80,)), one(0, 8, (5, 9), (80, 8))
    assert apart(first, others)
    assert not apart(first, one(0, 8, (5, 10), (80, 8)))  # up to the next first column
    assert not apart(first, one(0, 0, (5, 2), (80, 8)))


def test_arguments_and_results_may_share_memory():
    assert apart(one(0, 0, (5,), (8,)), one(3, 0, (5,), (8,)))
    assert not apart(one(2, 0, (5,), (8,)), one(3, 0, (5,), (8,)))


def test_what_is_said_to_lie_apart_has_no_common_byte():
    answers = []
    for _ in range(3000):
        outer = int(RNG.choice([-64, 24, 40, 64, 80]))
        rows = int(RNG.integers(1, 5))
        pair = []
        for _ in range(2):
            sizes, strides = (int(RNG.integers(1, 5)),), (int(RNG.choice([-16, -8, 8, 16, 24])),)
            if RNG.random() < 0.7:
                sizes, strides = (rows, *sizes), (outer, *strides)
            pair.append(one(0, 8 * int(RNG.integers(100, 120)), sizes, strides))
        places = [
            {
                place.places[1].offset + sum(np.multiply(index, place.strides[1]))
                for index in np.ndindex(place.sizes)
            }
            for place in pair
        ]
        if apart(*pair):
            assert not places[0] & places[1]
        answers.append((apart(*pair), not places[0] & places[1]))
    assert answers.count((True, True)) > answers.count((False, True))  # most are found
