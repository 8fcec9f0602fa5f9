"""Random numbers that a captured function would draw once for all calls are refused."""

import dataclasses
import functools
import random
import sys
import tempfile
import threading
import time

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import CaptureError
from numgrad.func.guards.random_guard import RandomGuard

X = np.array([1.0, 2.0])
RNG = np.random.default_rng(0)
LEGACY = np.random.RandomState(0)


def named(x):
    return x + RNG.normal(size=2)


def around(x):
    return named(x) * 2.0


class Layer:
    shared = np.random.default_rng(3)

    def __init__(self):
        self.rng = np.random.default_rng(1)
        self.parts = {"noise": [np.random.PCG64(2)]}

    def __call__(self, x):
        return x * self.rng.uniform()

    def deep(self, x):
        return x * np.random.Generator(self.parts["noise"][0]).uniform()

    def of_the_class(self, x):
        return x * self.shared.normal()

    def by_a_method(self, x):
        return self(x)


class Slotted:
    __slots__ = ("rng",)

    def __init__(self):
        self.rng = random.Random(1)

    def draw(self, x):
        return x * self.rng.random()


@dataclasses.dataclass(eq=False)
class Model:
    layer: Layer

    def loss(self, x):
        return self.layer(x).sum()


def closing_over(rng):
    return lambda x: x + rng.standard_normal(2)


def with_default(x, rng=np.random.default_rng(5)):  # noqa: B008  the case
    return x * rng.random()


def in_a_function_inside(x):
    def inside(y):
        return y * RNG.random()

    return inside(x)


DRAWING = {
    "np.random": lambda x: x + np.random.normal(size=2),  # noqa: NPY002
    "np.random.shuffle": lambda x: (np.random.permutation(2), x)[1],  # noqa: NPY002
    "without a seed": lambda x: x + np.random.default_rng().normal(size=2),
    "a seed sequence": lambda x: x * np.random.SeedSequence().generate_state(1)[0],
    "a bit generator": lambda x: x * np.random.PCG64().random_raw(),
    "random": lambda x: x * random.random(),
    "random.shuffle": lambda x: (random.shuffle([1, 2, 3]), x)[1],
    "legacy": lambda x: x + LEGACY.rand(2),
    "a global": named,
    "a global of a global": around,
    "a closure": closing_over(np.random.default_rng(7)),
    "a default": with_default,
    "a function inside": in_a_function_inside,
    "a partial": functools.partial(lambda rng, x: x * rng.random(), np.random.default_rng(8)),
    "an object": Layer(),
    "a method": Layer().by_a_method,
    "an attribute": Layer().deep,
    "a class": Layer().of_the_class,
    "slots": Slotted().draw,
    "parts of parts": Model(Layer()).loss,
    "a derivative": ng.func.grad(lambda x: (x * RNG.normal(size=2)).sum()),
    "a captured function": ng.jit(named),
}


@pytest.mark.parametrize("function", DRAWING.values(), ids=DRAWING)
def test_drawing_is_refused(function):
    captured = ng.jit(function)
    for _ in range(2):
        with pytest.raises(ng.errors.CaptureError, match=r"random numbers .* pass them as an arg"):
            captured(X)


def test_a_static_generator_is_watched():
    captured = ng.jit(lambda x, rng: x * rng.random(), static_argnums=1)
    with pytest.raises(ng.errors.CaptureError, match="Generator"):
        captured(X, np.random.default_rng(0))


def test_drawing_in_an_ensemble_is_refused():
    with pytest.raises(ng.errors.CaptureError, match="random numbers"):
        ng.jit(lambda x: x * RNG.normal(), ensemble=True)(X)


def test_draws_that_are_arguments():
    captured = ng.jit(lambda x, noise: x + noise)
    rng, expected = np.random.default_rng(0), np.random.default_rng(0)
    for _ in range(3):
        np.testing.assert_array_equal(captured(X, rng.normal(size=2)), X + expected.normal(size=2))


def test_a_generator_with_a_seed_of_its_own_is_part_of_the_function():
    function = lambda x: x + np.random.default_rng(4).normal(size=2)  # noqa: E731
    captured = ng.jit(function)
    for _ in range(3):
        np.testing.assert_array_equal(captured(X), function(X))


def test_modules_that_are_imported_meanwhile_may_make_generators(tmp_path, monkeypatch):
    """As scipy.stats does; what the function itself draws is found when it is captured again."""
    text = "import numpy as np\ngenerator = np.random.default_rng()\nfirst = generator.normal()\n"
    for name in ("draws_when_imported", "imported_by_one_that_draws"):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    def imports(x):
        import draws_when_imported

        return x + draws_when_imported.first

    def draws(x):
        import imported_by_one_that_draws

        return x + imported_by_one_that_draws.first + np.random.default_rng().normal()

    captured = ng.jit(imports)
    first = captured(X)
    np.testing.assert_array_equal(first, imports(X))
    np.testing.assert_array_equal(captured(X), first)
    with pytest.raises(CaptureError, match="without a seed"):
        ng.jit(draws)(X)


def test_generators_that_are_not_drawn_from():
    layer = Layer()
    captured = ng.jit(lambda x: x * len(layer.parts) + (RNG is None))
    np.testing.assert_array_equal(captured(X), X)


class Anything:
    """A proxy as libraries write it: it has every attribute and claims every class."""

    def __getattribute__(self, name):
        raise RuntimeError("asked for " + name)


class Silent:
    """An object that makes its attributes when it is asked for them."""

    def __getattr__(self, name):
        return lambda *args: name


class Stubborn(dict):
    def values(self):
        raise RuntimeError("asked for values")


@pytest.mark.parametrize("kind", [Anything, Silent, Stubborn])
def test_objects_that_a_function_holds_run_no_code_of_theirs(kind):
    held = kind()

    def function(x):
        return x * 2 if held is not None else x

    np.testing.assert_array_equal(ng.jit(function)(np.ones(3)), 2 * np.ones(3))


def slow(x):
    until = time.perf_counter() + 0.05
    while time.perf_counter() < until:
        x = x + 1.0 - 1.0
    return x * 2.0


@pytest.fixture
def other_thread():
    """One that draws all the time from Python's generator, as those that serve connections do."""
    ends = threading.Event()

    def draw():
        while not ends.is_set():
            random.sample(range(10), 2)
            time.sleep(1e-3)

    thread = threading.Thread(target=draw)
    thread.start()
    yield
    ends.set()
    thread.join()


def test_draws_of_another_thread_do_not_count(other_thread):
    captured = ng.jit(slow)
    np.testing.assert_array_equal(captured(np.ones(2)), [2.0, 2.0])
    np.testing.assert_array_equal(captured(np.arange(2.0)), [0.0, 2.0])
    assert sys.getprofile() is None


@pytest.mark.parametrize("draw", [random.random, random.gauss, lambda: random.choice([1.0, 2.0])])
def test_own_draws_count_beside_those_of_another_thread(other_thread, draw):
    with pytest.raises(CaptureError, match="random"):
        ng.jit(lambda x: slow(x) + draw())(np.ones(2))
    assert sys.getprofile() is None


def test_a_single_draw_of_another_thread_from_numpy():
    recordings = []

    def doubled(x):
        recordings.append(1)
        if len(recordings) == 1:
            other = threading.Thread(target=np.random.random)
            other.start()
            other.join()
        return x * 2.0

    np.testing.assert_array_equal(ng.jit(doubled)(np.ones(2)), [2.0, 2.0])
    assert len(recordings) == 2


def test_a_draw_of_another_thread_just_after_the_function(monkeypatch):
    """The state of a generator is looked at once: a second look would see what others have drawn
    since then."""
    may_be_of_others = RandomGuard.may_be_of_others

    def look_and_be_interrupted(draws):
        found = may_be_of_others(draws)
        random.random()
        return found

    monkeypatch.setattr(RandomGuard, "may_be_of_others", look_and_be_interrupted)
    np.testing.assert_array_equal(ng.jit(lambda x: x * 2.0)(np.ones(2)), [2.0, 2.0])


def test_names_of_files_are_no_draws():
    def f(x):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"one")
        return x * 2.0

    f(1.0)
    assert ng.jit(f)(np.ones(2)).tolist() == [2.0, 2.0]
