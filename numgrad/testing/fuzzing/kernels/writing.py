"""Write random kernels as source text, in which values stay bounded and indices are valid.

The kernels have nested loops, branches, jumps, overwrites, views, exchanged and rebound arrays, and
callees.
"""

import random

_LENGTH = "n"


class KernelWriter:
    """Writes the source of a random kernel ``kernel(x, y, A, s, n, picks)``.

    The arguments are two vectors of ``n`` numbers, a square matrix, a number, ``n``, and ``n``
    indices. Each method whose name is a kind of statement, such as ``_for``, writes one statement
    with an indentation of ``depth`` levels.

    Parameters
    ----------
    seed : int

    Attributes
    ----------
    text : str
        The source, callees included.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.scalars = ["s", "p", "q"]
        self.arrays = ["x", "y"]
        self.matrices = ["A"]
        self.bounds: list[tuple[str, int, int]] = []  # loop variables, distances from both ends
        self.loops = 0
        self.budget = self.random.randint(4, 14)
        self.new = 0
        self.in_loop = 0
        self.text = self._callees() + self._kernel()

    # Parts

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def index(self) -> str:
        """Return the text of an index into an array with ``n`` elements."""
        if self.bounds and self.chance(0.85):
            name, low, high = self.random.choice(self.bounds)
            kind = self.random.random()
            if kind < 0.72:
                shift = self.random.randint(-low - 1 if self.chance(0.15) else -low, high)
                return f"{name}{shift:+d}" if shift else name
            if kind < 0.82:
                return f"({name} * {self.pick(2, 3)} + {self.pick(0, 1)}) % n"
            if kind < 0.92:
                return f"picks[{name}]"
            return f"n - 1 - {name}"
        return self.pick("0", "1", "-1", "2", "n - 1", "n // 2")

    def element(self) -> str:
        if self.chance(0.25):
            return f"{self.random.choice(self.matrices)}[{self.index()}, {self.index()}]"
        return f"{self.random.choice(self.arrays)}[{self.index()}]"

    def atom(self) -> str:
        kind = self.random.random()
        if kind < 0.45:
            return self.element()
        if kind < 0.85:
            return self.random.choice(self.scalars)
        return f"{self.random.uniform(-1, 1):.2f}"

    def expression(self, depth: int = 0) -> str:
        kind = self.random.random()
        if depth > 2 or kind < 0.15:
            return self.atom()
        one, two = self.expression(depth + 1), self.expression(depth + 1)
        if kind < 0.35:
            return f"{one} {self.pick('+', '-')} {two}"
        if kind < 0.55:
            return f"({one}) * ({two})"
        if kind < 0.62:
            return f"({one}) / (1.5 + ({two}) ** 2)"
        if kind < 0.78:
            return f"{self.pick('math.sin', 'math.cos', 'math.tanh', 'np.sin', 'math.atan')}({one})"
        if kind < 0.84:
            return f"({one} if {self.condition()} else {two})"
        if kind < 0.90:
            return f"{self.pick('max', 'min')}({one}, {two})"
        if kind < 0.95:
            return f"callee_{self.pick(1, 2)}({one}, {two})"
        return f"abs({one})"

    def bounded(self) -> str:
        """Return the text of an expression whose values stay small."""
        return (
            f"math.sin({self.expression(1)})"
            if self.chance(0.5)
            else f"0.5 * ({self.expression(1)})"
        )

    def condition(self) -> str:
        kind = self.random.random()
        if self.bounds and kind < 0.25:
            return f"{self.random.choice(self.bounds)[0]} % {self.pick(2, 3)} == {self.pick(0, 1)}"
        test = f"{self.atom()} {self.pick('<', '>', '<=')} {self.random.uniform(-0.5, 0.8):.2f}"
        if kind < 0.4:
            return f"{test} {self.pick('and', 'or')} {self.atom()} > {self.random.uniform(-0.5, 0.8):.2f}"  # noqa: E501
        return test

    # Statements

    def block(self, depth: int) -> None:
        """Write the statements of a block, at least one."""
        start = len(self.lines)
        for _ in range(self.random.randint(1, 4)):
            if self.budget > 0:
                self.statement(depth)
        if len(self.lines) == start:
            self.line(depth, f"{self.random.choice(self.scalars)} = {self.bounded()}")

    def statement(self, depth: int) -> None:
        self.budget -= 1
        kinds = {
            self._assign: 5, self._augment: 3, self._store: 6, self._for: 5 if depth < 4 else 0,
            self._while: 2 if depth < 4 else 0, self._if: 4 if depth < 5 else 0,
            self._jump: 3 if self.in_loop else 0, self._swap: 1, self._slice: 1, self._reduce: 1,
            self._view: 1, self._rebind: 1, self._return: 1 if depth > 1 else 0, self._scalar_swap: 1,  # noqa: E501
        }  # fmt: skip
        kinds |= self._further()
        chosen = self.random.choices(list(kinds), list(kinds.values()))[0]
        chosen(depth)

    def _further(self) -> dict:
        """Return further kinds of statements, as methods with their weights, for subclasses."""
        return {}

    def _assign(self, depth: int) -> None:
        if self.chance(0.3):
            self.new += 1
            name = f"t{self.new}"
            self.line(depth, f"{name} = {self.expression()}")
            self.line(depth, f"{self.random.choice(self.scalars)} = {name} * {self.atom()} * 0.5")
        else:
            self.line(depth, f"{self.random.choice(self.scalars)} = {self.bounded()}")

    def _augment(self, depth: int) -> None:
        name, sign = self.random.choice(self.scalars), self.pick("+", "-", "*")
        self.line(depth, f"{name} {sign}= {self.bounded()}")

    def _store(self, depth: int) -> None:
        sign = self.pick("", "", "+", "-")
        self.line(depth, f"{self.element()} {sign}= {self.bounded()}")

    def _for(self, depth: int) -> None:
        self.loops += 1
        name = f"i{self.loops}"
        low, high = self.pick(0, 0, 1, 2), self.pick(0, 0, 1)
        header = self.pick(
            f"range({low}, n - {high})",
            f"range({low}, n - {high})",
            f"range(n - 1 - {high}, {low} - 1, -1)",
        )
        if low == high == 0:
            header = self.pick("range(n)", "range(n - 1, -1, -1)", "range(0, n, 2)", "range(n)")
        if self.bounds and self.chance(0.2):
            outer = self.random.choice(self.bounds)[0]
            header, low, high = self.pick(
                (f"range({outer})", 0, 1), (f"range({outer} + 1, n)", 1, 0)
            )
        self.line(depth, f"for {name} in {header}:")
        self._body(depth, (name, low, high))

    def _body(self, depth: int, bound) -> None:
        if bound:
            self.bounds.append(bound)
        self.in_loop += 1
        kept = list(self.arrays)
        self.block(depth + 1)
        self.arrays = [a for a in self.arrays if a in kept]
        self.in_loop -= 1
        if bound:
            self.bounds.pop()

    def _while(self, depth: int) -> None:
        self.loops += 1
        name = f"w{self.loops}"
        self.line(depth, f"{name} = {self.pick(0, 1)}")
        test = f"{name} < {self.pick(2, 3, 4)}"
        if self.chance(0.4):
            test += f" and {self.random.choice(self.scalars)} < {self.random.uniform(0, 1.5):.2f}"
        self.line(depth, f"while {test}:")
        self.line(depth + 1, f"{name} += 1")
        self._body(depth, (name, 0, 0) if self.chance(0.3) else None)

    def _if(self, depth: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        kept = list(self.arrays)
        self.block(depth + 1)
        self.arrays = list(kept)
        if self.chance(0.5):
            self.line(depth, "else:")
            self.block(depth + 1)
            self.arrays = list(kept)

    def _jump(self, depth: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        if self.chance(0.4):
            self.line(depth + 1, f"{self.random.choice(self.scalars)} = {self.bounded()}")
        self.line(depth + 1, self.pick("break", "continue"))

    def _return(self, depth: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.line(depth + 1, f"return {self.expression()} + 0.0 * s")

    def _swap(self, depth: int) -> None:
        if len(self.arrays) >= 2:
            one, two = self.random.sample(self.arrays[:3], 2)
            self.line(depth, f"{one}, {two} = {two}, {one}")

    def _scalar_swap(self, depth: int) -> None:
        self.line(depth, f"p, q = {self.pick('q, p', 'q, s', 'p + q, p * q * 0.3', 'q, p * 0.5')}")

    def _slice(self, depth: int) -> None:
        one, two = self.random.choice(self.arrays), self.random.choice(self.arrays)
        value = self.pick(
            f"{two}[:-1] * 0.5", f"np.sin({two}[:-1]) + {self.atom()}", f"{two}[:-1] * {one}[1:]",
            f"0.3 * {one}[1:]", f"{self.atom()}",
        )  # fmt: skip
        self.line(depth, f"{one}[1:] {self.pick('', '', '+')}= {value}")

    def _reduce(self, depth: int) -> None:
        one, two = self.random.choice(self.arrays), self.random.choice(self.arrays)
        value = self.pick(
            f"np.sum({one} * {two})", f"np.sum({one})", f"np.mean(np.sin({one}))", f"np.dot({one}, {two})",  # noqa: E501
            f"np.max({one})", f"np.min({one} * {two})", f"np.sum(A[{self.index()}] * {one})",
        )  # fmt: skip
        self.line(depth, f"{self.random.choice(self.scalars)} = math.sin({value})")

    def _view(self, depth: int) -> None:
        self.new += 1
        name = f"row{self.new}"
        self.line(depth, f"{name} = {self.pick(f'A[{self.index()}]', f'A[:, {self.index()}]')}")
        self.line(depth, f"{name}[{self.index()}] = {self.bounded()}")
        self.line(depth, f"{self.random.choice(self.scalars)} += 0.5 * {name}[{self.index()}]")

    def _rebind(self, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.5:
            self.new += 1
            name = f"b{self.new}"
            value = self.pick("np.zeros(n)", "x.copy()", "x * 0.5", "y + x", "np.sin(y)")
            self.line(depth, f"{name} = {value}")
            self.arrays.append(name)
            self.line(depth, f"{name}[{self.index()}] = {self.bounded()}")
        elif "z" in self.arrays:
            self.line(depth, f"z = {self.pick('z * 0.5 + x', 'np.sin(z)', 'z + 0.1 * y', 'z * s')}")

    # The whole

    def _callees(self) -> str:
        return (
            "def callee_1(a, b):\n    if a > b:\n        return a * 0.5\n    c = b\n"
            "    for k in range(3):\n        c = math.sin(c + a)\n        if c > 0.6:\n"
            "            return c * b\n    return c - a\n\n\n"
            "def callee_2(a, b=0.5):\n    c = a * b\n    while c > 0.3:\n        c = c * 0.6 - 0.05\n"  # noqa: E501
            "    return c\n\n\n"
        )

    def _kernel(self) -> str:
        self.line(0, "def kernel(x, y, A, s, n, picks):")
        for text in ("p = 0.3", "q = s", "z = x * s"):
            self.line(1, text)
        self.arrays.append("z")
        for _ in range(4):
            self.block(1)
        self.line(1, "return s + p * q + np.sum(x * y) + np.sum(z) + A[1, 2] * A[0, 1]")
        return "\n".join(self.lines) + "\n"
