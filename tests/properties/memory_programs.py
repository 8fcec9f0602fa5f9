"""Random programs that transpose, reshape, compute and write, run by NumPy and by numgrad: who
shares memory with whom decides what they return.

``python -m tests.properties.memory_programs --programs 2000 --first 100000`` runs many; gradients
of a few differ, as two numbers that are sorted are nearly equal.
"""

import argparse
import random

import numpy

import numgrad

WRITES = (
    "{a} *= 0.5", "{a}[...] = 1.25", "{a}[0] = 3.0", "{a} += 1.0", "{a}[-1:] *= 2.0",
    "np.copyto({a}, 0.75)", "{a}[::2] += {a}[::2] * 0.5", "{a}[{a} > 0.9] = 0.1", "{a}.sort()",
    "np.add({a}, 1.0, out={a})", "{a} -= {a}.mean()", "{a}[[0]] = 2.0", "{a}.fill(0.3)",
    "np.add.at({a}, 0, 1.5)",
)  # fmt: skip
ELEMENTWISE = (
    "np.sin({a})", "{a} * 2.0", "{a} + {b}", "{a} * {b}", "np.where({a} > 0.3, {a}, {b})", "-{a}",
    "np.clip({a}, -1, 1)", "{a} - {a}.mean({axis}, keepdims=True)", "np.copy({a})", "{a}.copy()",
    "np.array({a})", "{a}.copy(order='K')", "{a}.astype('float64')", "np.zeros_like({a})",
    "np.ones_like({a}) + {a}", "np.maximum({a}, {b})", "np.sort({a}, axis={axis})",
    "np.cumsum({a}, axis={axis})", "np.roll({a}, 1, axis={axis})",
    "np.concatenate([{a}, {a}], axis={axis})", "np.stack([{a}, {a}], axis={axis})",
    "np.take({a}, [0, 0], axis={axis})", "{a}[{colons}[0, -1, 0]]", "np.repeat({a}, 2, {axis})",
    "np.tile({a}, 2)", "np.sum({a}, axis={axis})", "np.max({a}, axis={axis})", "np.pad({a}, 1)",
)  # fmt: skip
VIEWS = (
    "np.transpose({a}, {axes})", "np.flip({a}, {axis})", "{a}.T", "{a}[{colons}::-1]",
    "{a}[{colons}1:]", "{a}[{colons}None]", "{a}[{colons}0]", "{a}.reshape(-1)", "{a}.ravel()",
    "{a}.ravel(order='F')", "{a}.ravel(order='K')", "{a}.T.reshape(-1)",
    "{a}.reshape({n}, -1)", "{a}.reshape({n}, -1, order='F')", "{a}.reshape({n}, -1, order='A')",
    "{a}.flatten()", "{a}.flatten('K')",
)  # fmt: skip


class Program:
    """A program with a number: its text, its argument and what NumPy makes of that."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        shape = [self.rng.choice([1, 2, 3, 3, 4]) for _ in range(self.rng.choice([2, 2, 3, 3, 4]))]
        order = self.rng.sample(range(len(shape)), len(shape))
        values = numpy.random.default_rng(seed).uniform(0.1, 1.7, [shape[n] for n in order])
        self.argument = values.transpose(numpy.argsort(order))
        self.known = {"x": self.argument}
        self.shared = {"x"}  # which may be views of the argument, as it depends on its order
        self.lines: list[str] = []
        while len(self.lines) < 8:
            self._add(f"v{len(self.lines)}")
        totals = [
            f"(np.reshape({name}, -1) * np.arange(1.0, {array.size + 1})).sum() * {n + 1}"
            for n, (name, array) in enumerate(self.known.items())
        ]
        self.text = "\n    ".join(["def program(np, x):", *self.lines])
        self.text += "\n    return " + " + ".join(totals) + "\n"
        namespace: dict = {}
        exec(self.text, namespace)
        self.run = namespace["program"]

    def _add(self, new: str) -> None:
        """Add a statement; what may share memory with the argument is not written."""
        own = [name for name in self.known if name not in self.shared]
        kind = self.rng.choice([VIEWS, ELEMENTWISE, VIEWS, WRITES])
        if kind is WRITES and own:
            line = self.rng.choice(WRITES).format(a=self.rng.choice(own))
            exec(line, {"np": numpy, **self.known})
            self.lines.append(line)
        elif kind is not WRITES:
            name = self.rng.choice(list(self.known))
            form = self.rng.choice(kind)
            text = self._expression(form, name)
            made = eval(text, {"np": numpy, **self.known})
            if 0 < made.size <= 200 and 0 < made.ndim <= 5:
                self.known[new] = made
                if kind is VIEWS and "flatten" not in form and name in self.shared:
                    self.shared.add(new)
                self.lines.append(f"{new} = {text}")

    def _expression(self, form: str, name: str) -> str:
        array = self.known[name]
        axis = self.rng.randrange(array.ndim)
        alike = [n for n, a in self.known.items() if a.shape == array.shape]
        sizes = [n for n in range(1, array.size + 1) if array.size % n == 0]
        return form.format(
            a=name, b=self.rng.choice(alike), axis=axis, colons=":, " * axis,
            axes=tuple(self.rng.sample(range(array.ndim), array.ndim)), n=self.rng.choice(sizes),
        )  # fmt: skip

    def expected(self, x: numpy.ndarray) -> float:
        return float(self.run(numpy, x.copy(order="K")))


def differences(program: Program) -> list[str]:
    """Return in which ways numgrad makes something else of a program than NumPy."""

    def run(x):
        return program.run(numgrad, x)

    x, wrong = program.argument, []
    captured, gradient = numgrad.jit(run), numgrad.func.grad(run)
    in_c_order = numpy.ascontiguousarray(x)
    ways = {
        "eager": (run(numgrad.asarray(x.copy(order="K"))), x),
        "captured": (captured(x), x),
        "replayed": (captured(x), x),
        "in C order": (captured(in_c_order), in_c_order),
    }
    for name, (found, argument) in ways.items():
        if not numpy.isclose(float(found), program.expected(argument), 1e-8):
            wrong.append(name)
    slopes = gradient(x)
    if not numpy.allclose(numgrad.jit(gradient)(x), slopes, 1e-8, 1e-9):
        wrong.append("captured gradient")
    direction = numpy.cos(numpy.arange(x.size)).reshape(x.shape)
    ends = []
    for step in (1e-6, -1e-6):
        moved = x.copy(order="K")
        moved += step * direction
        ends.append(program.expected(moved))
    slope = (ends[0] - ends[1]) / 2e-6
    tolerance = 1e-4 + 1e-6 * abs(ends[0])
    if not numpy.isclose((slopes * direction).sum(), slope, 1e-4, tolerance):
        wrong.append("gradient")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    failed = 0
    for seed in range(options.first, options.first + options.programs):
        program = Program(seed)
        wrong = differences(program)
        if wrong:
            failed += 1
            print(seed, wrong, program.text, sep="\n")
    print(f"{options.programs} programs, {failed} failed")


if __name__ == "__main__":
    main()
