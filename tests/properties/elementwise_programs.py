"""Random programs of every elementwise operator, fused at once and not: they give the same bits.

``python -m tests.properties.elementwise_programs --programs 2000`` checks as many as one likes; a
number names a program for good.
"""

import argparse
import random
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import numgrad as ng
from numgrad._declare import registry
from numgrad._declare.elementwise import Elementwise
from numgrad.functions.elementwise import tabled as _tabled  # noqa: F401  it fills the table
from numgrad.operators.special.formulas import Tabled


def _is_drawn(operator: Any) -> bool:
    """Whether an operator is elementwise and takes anything: functions of tables with orders and
    other parameters take time that grows with these, or are differentiable in some alone."""
    if isinstance(operator, Tabled):
        return len(operator.parameters) == len(operator.formulas) == 1
    return isinstance(operator, Elementwise)


OPERATORS = {name: o for name, o in sorted(registry.items()) if _is_drawn(o)}
INTEGRAL = frozenset(name for name in OPERATORS if name.startswith("bitwise"))
SHIFTS = frozenset(name for name in OPERATORS if name.endswith("shift"))
# Not straight code, so that a kernel with one of them is no code for whole vectors.
BRANCHING = ("digamma", "gammaln", "fmod", "remainder", "floor_divide", *INTEGRAL)
STRAIGHT = tuple(name for name in OPERATORS if name not in BRANCHING)
DTYPES = ("f8", "f8", "f8", "f4", "c16", "c8", "i8", "?")
SIZES = (1, 3, 8, 17, 64, 150)


class Program:
    """A function of a few arrays: operators applied to numbered values, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        rng = np.random.default_rng(seed)
        self.seed, size = seed, draw.choice(SIZES)
        is_straight = draw.random() < 0.5
        allowed = draw.sample(DTYPES, draw.choice((1, 1, 2, 3)))
        allowed = [draw.choice(("f8", "f8", "f4"))] if is_straight else allowed
        self.inputs = [
            _array(rng, draw.choice(allowed), draw.choice((size, size, size, 1)))
            for _ in range(draw.randint(1, 3))
        ]
        known = len(self.inputs)
        count = draw.choice((9, 20, 40) if is_straight else (2, 5, 9, 20))
        # Of few operators the same one meets itself more often.
        names = list(STRAIGHT if is_straight else OPERATORS)
        names = draw.sample(names, draw.choice((4, 8, 16, len(names))))
        self.steps: list[tuple[str, tuple[int, ...]]] = []
        for n in range(known, known + count):
            name = draw.choice(names)
            arity = len(OPERATORS[name].parameters)
            self.steps.append((name, tuple(_place(draw, n) for _ in range(arity))))

    def __call__(self, *arrays: Any) -> Any:
        """Return a few values, each the sum of others, so that all are needed."""
        known = list(arrays)
        for name, operands in self.steps:
            known.append(_apply(name, [known[n] for n in operands]))
        return tuple(_trace(known[n:]) for n in (len(arrays), len(known) - 1))

    def slopes(self, *arrays: Any) -> Any:
        """Return the gradients of all values with respect to the inputs that have some."""
        numbers = [n for n, a in enumerate(arrays) if a.dtype.kind in "fc"]

        def total(*given: Any) -> Any:
            values = dict(zip(numbers, given, strict=True))
            known = [values.get(n, a) for n, a in enumerate(arrays)]
            return sum(ng.sum(ng.real(value)) for value in self(*known))

        chosen = tuple(range(len(numbers)))
        return ng.func.grad(total, argnums=chosen)(*[arrays[n] for n in numbers])

    def __repr__(self) -> str:
        lines = [f"program {self.seed}"]
        lines += [f"  v{n} = {a.dtype}{list(a.shape)}" for n, a in enumerate(self.inputs)]
        for n, (name, operands) in enumerate(self.steps, len(self.inputs)):
            lines.append(f"  v{n} = {name}({', '.join(f'v{k}' for k in operands)})")
        return "\n".join(lines)


def _place(draw: random.Random, count: int) -> int:
    """Draw one of the values so far, late ones more often."""
    return count - 1 - draw.randrange(min(count, 4) if draw.random() < 0.7 else count)


def _array(rng: np.random.Generator, dtype: str, size: int) -> np.ndarray:
    numbers = rng.uniform(-2, 2, size) * 10.0 ** rng.integers(-3, 3, size)
    special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0], size)
    numbers = np.where(rng.random(size) < 0.1, special, numbers)
    if dtype[0] == "c":
        numbers = numbers + 1j * rng.uniform(-2, 2, size)
    if dtype[0] in "i?":
        numbers = rng.integers(-5, 6, size)
    return numbers.astype(dtype)


def _apply(name: str, values: Sequence[Any]) -> Any:
    """Apply an operator to values, made such as it takes."""
    operator = OPERATORS[name]
    given = [_fitting(operator, n, value) for n, value in enumerate(values)]
    if name in SHIFTS:
        given[1] = ng.bitwise_and(given[1], 7)
    shape = np.broadcast_shapes(*[np.shape(x) for x in given])
    return operator(*[ng.broadcast_to(x, shape) for x in given])


def _fitting(operator: Elementwise, n: int, value: Any) -> Any:
    if n in operator.conditions:
        return ng.real(value) > 0.25
    if operator.partials and n not in operator.partials:
        value = ng.asarray(value).detach()  # such as the order of a norm
    if operator.name in ("signbit", "copysign") and value.dtype.kind == "f":
        return ng.where(ng.isnan(value), -1.0, value)  # the sign of a NaN is anything
    if operator.name in INTEGRAL:
        return value if value.dtype.kind == "i" else ng.where(value != 0, 5, -3)
    if value.dtype.kind in "ib":
        return value * 1.0  # integers have kernels of their own, which other tests cover
    if not operator.allows_complex and value.dtype.kind == "c":
        return ng.imag(value)
    return value


def _trace(values: Sequence[Any]) -> Any:
    result = values[-1]
    for value in values[:-1]:
        result = ng.where(ng.isfinite(value), value, 0.5) * 0.5 + result
    return result


def differences(program: Program) -> list[str]:
    """Compare a program that is fused with one that is not; return what differs."""
    found: list[str] = []
    functions: list[tuple[str, Callable[..., Any]]] = [("values", program)]
    if any(a.dtype.kind in "fc" for a in program.inputs):
        functions.append(("gradients", program.slopes))
    for what, function in functions:
        results = [ng.jit(function, fuse=fuse)(*program.inputs) for fuse in ("never", "now")]
        for n, (a, b) in enumerate(zip(*results, strict=True)):
            if a.dtype != b.dtype or not np.array_equal(*map(_bits, (a, b))):
                found.append(f"{what} {n}: {a} and, fused, {b}")
    return found


def _bits(array: np.ndarray) -> np.ndarray:
    """Return what must be equal: bits, but one NaN is as good as another."""
    parts = np.array(array, order="C", ndmin=1)
    if parts.dtype.kind == "c":
        parts = parts.view(np.finfo(parts.dtype).dtype)
    if parts.dtype.kind == "f":
        parts[np.isnan(parts)] = np.nan
    return parts.view(np.uint8)


def check(seeds: Sequence[int]) -> int:
    """Check the programs of some seeds; return how many failed."""
    failed = 0
    for seed in seeds:
        try:
            found = differences(Program(seed))
        except Exception:
            found = [traceback.format_exc()]
        if found:
            failed += 1
            print(f"FAILED {Program(seed)}", *found, sep="\n", flush=True)
    return failed


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    failed = check(range(args.first, args.first + args.programs))
    print(f"{args.programs} programs from {args.first} on: {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
