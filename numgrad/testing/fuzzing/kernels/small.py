"""Write random kernels with small arrays: vectors of three numbers and matrices of two by two.

The arrays are made, read, written, copied, shared, exchanged and handed to functions.
"""

from .writing import KernelWriter


class SmallArrays(KernelWriter):
    """Writes random kernels that also have statements with small arrays.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, seed: int) -> None:
        self.triples: list[str] = []
        super().__init__(seed)

    def small_kinds(self) -> dict:
        """Return the kinds of statements with small arrays, as methods with their weights."""
        has = bool(self.triples)
        return {
            self._triple: 2, self._square: 1, self._triple_store: 4 * has,
            self._triple_read: 2 * has, self._triple_steps: 2 * has, self._triple_other: 2 * has,
        }  # fmt: skip

    def block(self, depth: int) -> None:
        kept = list(self.triples)
        super().block(depth)
        self.triples = kept if depth > 1 else self.triples

    def place(self) -> str:
        """Return the text of an index into a vector of three numbers."""
        known = self.pick("0", "1", "2", "-1", "-2")
        return known if self.chance(0.95) else f"{self.index()} % 3"

    def _triple(self, depth: int) -> None:
        self.new += 1
        name, i = f"v{self.new}_", self.index()
        numbers = f"{self.atom()}, {self.bounded()}, {self.atom()}"
        self.line(depth, f"{name} = " + self.pick(
            "np.zeros(3)", "np.ones(3)", f"np.array([{numbers}])",
            f"np.array([0.5, {self.atom()}, 1.0])",
            f"x[1:4] * {self.atom()}", "y[0:3].copy()", f"A[{i}, :3] * 0.5", "np.sin(A[1:4, 2])",
            f"callee_3(x[0:3], {self.atom()})", f"callee_3(A[{i}, 1:4], {self.atom()})",
            f"callee_3({self._some()}, {self.atom()})",
        ))  # fmt: skip
        self.triples.append(name)

    def _some(self) -> str:
        return self.random.choice(self.triples) if self.triples else "y[-3:]"

    def _square(self, depth: int) -> None:
        """Write statements that make a small matrix, fill it in a loop, and multiply it."""
        self.new += 1
        name, half = f"m{self.new}", self.pick("2", "row + 1")
        self.line(depth, f"{name} = {self.pick('np.zeros((2, 2))', 'A[1:3, 2:4].copy()')}")
        self.line(depth, "for row in range(2):")
        self.line(depth + 1, f"for column in range({half}):")
        self.line(depth + 2, f"{name}[row, column] += x[row] * y[column + 1] + {self.atom()}")
        self.line(depth, f"{name} = {self.pick(f'{name} @ {name}', f'{name} * 0.5', f'{name}.T + {name}')}")  # noqa: E501
        element = f"{name}[{self.pick(0, 1)}, {self.pick(0, -1)}]"
        self.line(depth, f"{self.random.choice(self.scalars)} = math.sin({element})")

    def _triple_store(self, depth: int) -> None:
        sign = self.pick("", "", "+", "-", "*")
        self.line(depth, f"{self._some()}[{self.place()}] {sign}= {self.bounded()}")

    def _triple_read(self, depth: int) -> None:
        one, two = self._some(), self._some()
        value = self.pick(
            f"{one}[{self.place()}] * {two}[{self.place()}]", f"np.sum({one})",
            f"np.dot({one}, {two})", f"np.sum({one} * {two})", f"{one}[{self.place()}]",
            f"np.max({one})", f"np.sum({one}[1:])",
        )  # fmt: skip
        self.line(depth, f"{self.random.choice(self.scalars)} = math.sin({value})")

    def _triple_steps(self, depth: int) -> None:
        self.loops += 1
        one, two, k = self._some(), self._some(), f"k{self.loops}"
        self.line(depth, f"for {k} in {self.pick('range(3)', 'range(2)', 'range(2, -1, -1)', 'range(1, 3)')}:")  # noqa: E501
        self.line(depth + 1, self.pick(
            f"{one}[{k}] = 0.5 * {two}[{k}] + {self.atom()}", f"{one}[{k}] += 0.3 * {two}[2 - {k}]",
            f"{one}[{k}] = math.sin({one}[{k} - 1] + x[{k}])", f"x[{k}] = 0.7 * {one}[{k}]",
        ))  # fmt: skip
        if self.chance(0.3):
            self.line(depth + 1, f"if {k} == 1:")
            self.line(depth + 2, f"{one}[{self.place()}] *= 0.5")

    def _triple_other(self, depth: int) -> None:
        """Write another use of small arrays: under a second name, exchanged, or as a whole."""
        one, two = self._some(), self._some()
        self.new += 1
        name = f"o{self.new}"
        kind = self.pick("name", "part", "copy", "exchange", "store", "whole", "rebind", "index")
        if kind in ("name", "part", "copy"):
            text = {"name": one, "part": f"{one}[1:]", "copy": f"{one}.copy()"}[kind]
            self.line(depth, f"{name} = {text}")
            self.line(depth, f"{name}[1] = {self.bounded()}")
            self.line(depth, f"{self.random.choice(self.scalars)} = math.sin({one}[1] + {name}[0])")
        elif kind == "exchange":
            self.line(depth, f"{one}, {two} = {two}, {one}")
        elif kind == "store":
            self.line(depth, f"{self.pick('x[1:4]', 'A[2, :3]', 'y[:3]')} {self.pick('', '+')}= 0.5 * {one}")  # noqa: E501
        elif kind == "whole":
            self.line(depth, f"{one}[:] = {self.pick(f'0.5 * {two}', f'np.sin({one})', f'x[0:3] + 0.1 * {one}')}")  # noqa: E501
        elif kind == "rebind":
            self.line(depth, f"{one} = {self.pick(f'{one} + 0.5 * {two}', f'0.3 * {two}', f'callee_3({one}, 0.4)')}")  # noqa: E501
        else:
            self.line(depth, f"{name} = np.array([2, 0, 1])")
            self.line(depth, f"{one}[{name}[0]] = 0.5 * {two}[{name}[{self.place()}]]")

    def _callees(self) -> str:
        return super()._callees() + (
            "def callee_3(r, a):\n    made = np.zeros(3)\n    if r[1] > 0.2:\n"
            "        w = r / (1.5 + a * a)\n        for k in range(3):\n"
            "            made[k] = w[k] * a + w[2 - k]\n    else:\n        for k in range(3):\n"
            "            made[k] = math.sin(r[k])\n    return made\n\n\n"
        )
