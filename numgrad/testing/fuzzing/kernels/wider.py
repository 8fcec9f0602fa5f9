"""Write random kernels with more of the language.

These have parts of matrices, functions within the kernel, masks, ties, norms, integers in
arithmetic, lists, and small arrays.
"""

from .small import SmallArrays


class WideKernelWriter(SmallArrays):
    """Writes a random kernel as `KernelWriter` does, with more kinds of statements.

    Parameters
    ----------
    seed : int
    """

    def _further(self) -> dict:
        return {
            self._part: 3, self._inner: 1, self._mask: 1, self._library: 2, self._whole: 2,
            self._integer: 2, self._tuple: 1, self._over: 1, self._chosen: 1,
            self._matrices: 1, self._grown: 2, self._collected: 1, self._states: 2,
            self._left_early: 2,
        } | self.small_kinds()  # fmt: skip

    def vector(self) -> str:
        """Return the text of a vector of ``n`` elements: an array, a part, or an expression."""
        one, two = self.random.choice(self.arrays), self.random.choice(self.arrays)
        i, j = self.index(), self.index()
        return self.pick(
            one, two, f"A[{i}]", f"A[:, {j}]", f"A.T[{i}, :]", f"{one}[::-1]", f"{one} * {two}",
            f"np.sin({one})", f"A[{i}, :] + {two}", f"np.where({one} > {two}, {one}, 0.5)",
            f"np.clip({one}, -0.5, 0.5)", f"np.maximum({one}, {two})", f"A @ {one}", f"{one} @ A",
        )  # fmt: skip

    def _part(self, depth: int) -> None:
        """Write an assignment to a part of an array, whose value often has parts of arrays too."""
        i = self.index()
        target, value = self.pick(
            (f"A[{i}, 1:]", f"0.5 * {self.random.choice(self.arrays)}[:-1]"),
            ("A[:-1, 2]", f"A[1:, {self.index()}] * 0.7 + {self.atom()}"),
            (f"A[1:3, {i}]", f"A[2:4, {self.index()}] * 0.5 + 0.0 * y[1:3]"),
            ("A[::2, ::2]", f"{self.atom()}"),
            (f"{self.random.choice(self.arrays)}[1:3]", f"0.3 * {self.vector()}[1:3]"),
            (f"{self.random.choice(self.arrays)}[:]", f"0.8 * {self.vector()}"),
            ("A[:, :]", "0.9 * A.T"),
            (f"A[{i}]", f"0.5 * ({self.vector()})"),
        )
        sign = self.pick("", "", "+") if ".T" not in value else ""
        self.line(depth, f"{target} {sign}= {value}")

    def _inner(self, depth: int) -> None:
        """Write a function within the kernel, and a call of it."""
        self.new += 1
        name, scalar = f"inner{self.new}", self.random.choice(self.scalars)
        self.line(depth, f"def {name}(u, w=0.5):")
        self.line(depth + 1, "r = u * w")
        self.line(depth + 1, f"for k in range({self.pick(1, 2, 3)}):")
        self.line(depth + 2, f"r = math.sin(r + x[k] * {scalar})")
        self.line(depth + 2, f"if r > {self.random.uniform(-0.2, 0.9):.2f}:")
        self.line(depth + 3, "return r * u")
        self.line(depth + 1, "return r - w")
        second = self.pick("", f", {self.atom()}", ", w=0.3")
        self.line(depth, f"{self.random.choice(self.scalars)} = {name}({self.atom()}{second})")

    def _mask(self, depth: int) -> None:
        array, other = self.random.choice(self.arrays), self.random.choice(self.arrays)
        test = f"{other} {self.pick('>', '<', '>=')} {self.pick('0.5', '0.0', '-0.5')}"
        statement = self.pick(
            f"{array}[{test}] = {self.atom()}",
            f"{array}[{test}] *= 0.5",
            f"{array}[{test}] = 0.5 * {array}[{test}]",
            f"{self.random.choice(self.scalars)} = math.sin(np.sum({array}[{test}]))",
            f"{self.random.choice(self.scalars)} = math.sin(np.sum(A[{test}]))",
        )
        self.line(depth, statement)

    def _library(self, depth: int) -> None:
        one = self.vector()
        value = self.pick(
            f"np.max({one})", f"np.min({one})", "np.sum(np.max(A, axis=0))", f"np.median({one})",
            f"np.sort({one})[1]", f"np.linalg.norm({one} + 0.1)", f"np.ptp({one})",
            f"np.sum(np.diff({one}))", f"np.cumsum({one})[2]", "np.trace(A)", f"np.mean({one})",
            f"np.interp({self.atom()}, np.linspace(-1.0, 1.0, 5), {self.random.choice(self.arrays)})",  # noqa: E501
            "np.sum(A, axis=1)[1]", f"np.dot({one}, {self.vector()})", "np.sum(A * A.T)",
            f"np.sum(np.outer({one}, y)[1])", f"({one})[np.argmax({self.random.choice(self.arrays)})]",  # noqa: E501
            f"np.sum(np.roll({one}, 2) * x)", "A.ravel()[7]", "A.reshape(-1)[3:8].sum()",
            f"np.hypot({self.atom()}, 0.5)", f"np.prod({one})", "np.linalg.norm(A)",
            f"np.sum(({one})[3:0:-1])", f"({one})[-2::-2][1]", f"({one})[:{self.index()}:-1].sum()",
            f"({one})[np.argsort({self.random.choice(self.arrays)})[1]]",
            f"np.sum(A[::-2, 3:0:-1]) + round({self.atom()}, 1)",
        )  # fmt: skip
        self.line(depth, f"{self.random.choice(self.scalars)} = math.sin({value})")

    def _whole(self, depth: int) -> None:
        """Write an operation that changes a whole array in place."""
        array = self.random.choice(self.arrays)
        statement = self.pick(
            f"{array} {self.pick('+', '-')}= 0.5 * ({self.vector()})",
            f"{array} *= {self.atom()}",
            f"{array}[:] = np.tanh({array})",
            f"A += 0.1 * np.outer({array}, {array})",
            f"{array} /= 2.0",
        )
        if "A[" in statement or "A.T" in statement or "A @" in statement or "@ A" in statement:
            statement = f"{array} *= 0.75"
        self.line(depth, statement)

    def _grown(self, depth: int) -> None:
        """Write a list of numbers or of tuples that grows in a loop, and a use of it."""
        self.new += 1
        name, i, scalar = f"list{self.new}", f"l{self.new}", self.random.choice(self.scalars)
        is_of_pairs = self.random.random() < 0.3
        element = f"({i}, {self.bounded()})" if is_of_pairs else self.bounded()
        self.line(depth, f"{name} = [{'(0, 0.5)' if is_of_pairs else '0.5'}]")
        self.line(depth, f"for {i} in range({self.pick('n', 'n - 2', '3')}):")
        self.line(depth + 1, f"if x[{i}] > {self.random.uniform(-1.0, 0.5):.2f}:")
        self.line(depth + 2, f"{name}.append({element})")
        self.line(depth + 1, f"elif {name}:")
        self.line(depth + 2, self.pick(f"{name}.pop()", f"{name}.append({element})", "pass"))
        if is_of_pairs:
            self.line(depth, f"for {i}, e{self.new} in {name}:")
            self.line(depth + 1, f"{scalar} = math.sin({scalar} + e{self.new} * x[{i}])")
            return
        header, statement = self.pick(
            (f"if len({name}) > 2:", f"{scalar} = math.sin(sum({name}) * {scalar})"),
            (f"while len({name}) > 1:", f"{scalar} = math.sin({name}.pop() + {scalar})"),
            (f"for u{self.new} in {name}:", f"{scalar} = 0.5 * {scalar} + u{self.new}"),
        )
        self.line(depth, header)
        self.line(depth + 1, statement)
        self.line(depth, f"{scalar} += 0.3 * {name}[-1] if {name} else 0.0")

    def _collected(self, depth: int) -> None:
        """Write a list comprehension with conditions, and the sum of the list."""
        self.new += 1
        i, j, scalar = f"p{self.new}", f"q{self.new}", self.random.choice(self.scalars)
        array, least = self.random.choice(self.arrays), f"{self.random.uniform(-1.0, 0.5):.2f}"
        value = self.pick(
            f"{array}[{i}] * {self.atom()} for {i} in range(n) if x[{i}] > {least}",
            f"{array}[{i}] * y[{j}] for {i} in range(n) for {j} in range({i}) if {i} != {j} + 1",
            f"{array}[{i}] * {i} for {i} in range(n) for {j} in (0, 2) if y[{j}] > {least}",
        )
        self.line(depth, f"{scalar} = math.sin(sum([{value}]) + {scalar})")

    def _states(self, depth: int) -> None:
        """Write a list of arrays that grows in a loop, and a use of it."""
        self.new += 1
        name, i, scalar = f"states{self.new}", f"s{self.new}", self.random.choice(self.scalars)
        array = self.random.choice(self.arrays)
        self.line(depth, f"{name} = [{array}{self.pick('.copy()', ' * 0.5')}]")
        self.line(depth, f"for {i} in range({self.pick('n', '3')}):")
        self.line(depth + 1, f"if x[{i}] > {self.random.uniform(-1.0, 0.5):.2f}:")
        value = self.pick(f"{name}[-1] * 0.5 + y", f"{name}[0] * {self.atom()}", "0.5 * x")
        self.line(depth + 2, f"{name}.append({value})")
        self.line(depth + 1, f"elif len({name}) > 1:")
        self.line(depth + 2, self.pick(f"{scalar} = math.sin({name}.pop()[1])", "pass"))
        self.line(depth, f"for e{self.new} in {name}:")
        self.line(depth + 1, f"{scalar} = math.sin({scalar} + e{self.new}[2] * x[1])")
        if self.random.random() < 0.5:
            self.line(depth, f"{array}[:] = 0.5 * {name}[-1] + 0.2 * {name}[0]")

    def _left_early(self, depth: int) -> None:
        """Write two nested loops: if the inner one ends without a break, it may end the outer one.
        """
        self.new += 1
        i, j, scalar = f"f{self.new}", f"h{self.new}", self.random.choice(self.scalars)
        self.line(depth, f"for {i} in range(3):")
        self.line(depth + 1, f"for {j} in range(n):")
        self.line(depth + 2, f"{scalar} = math.sin({scalar} + x[{j}] * {self.atom()})")
        self.line(depth + 2, f"if {scalar} > {self.random.uniform(0.2, 0.9):.2f}:")
        self.line(depth + 3, self.pick("break", "break", f"return {scalar} * y[{i}]"))
        self.line(depth + 1, "else:")
        other = f"{scalar} = 0.5 * {scalar}"
        self.line(depth + 2, self.pick("continue", "break", other, f"return {scalar} * x[{i}]"))
        self.line(depth + 1, f"{scalar} += 0.3 * y[{i}]")

    def _integer(self, depth: int) -> None:
        """Write an expression with integers in arithmetic."""
        i = self.random.choice(self.bounds)[0] if self.bounds else "n"
        value = self.pick(
            f"{i} * 0.1", f"({i} + 1) / n", f"({i} // 2) * 0.3", "picks[2] * 0.2",
            f"({i} & 1) * 0.5", f"-{i} % 3", f"0.5 ** {i}", f"({i} - 1) * 0.25",
        )  # fmt: skip
        name = self.random.choice(self.scalars)
        self.line(depth, f"{name} = {name} * 0.5 + math.sin({value} * {self.atom()})")

    def _tuple(self, depth: int) -> None:
        self.new += 1
        name = f"pair{self.new}"
        self.line(depth, f"{name} = ({self.atom()}, {self.bounded()})")
        self.line(depth, f"p, q = {name}[1], {name}[0] * 0.5")

    def _over(self, depth: int) -> None:
        """Write a loop over the elements of an array."""
        self.loops += 1
        name, array = f"v{self.loops}", self.random.choice(self.arrays)
        header = self.pick(
            f"for {name} in {array}:", f"for i{self.loops}, {name} in enumerate({array}):",
            f"for {name}, u{self.loops} in zip({array}, A[1]):",
        )  # fmt: skip
        self.line(depth, header)
        self.scalars.append(name)
        self._body(depth, None)
        self.scalars.remove(name)

    def _matrices(self, depth: int) -> None:
        """Write statements that make a matrix, multiply matrices and write to one."""
        self.new += 1
        name, one, two = f"M{self.new}", self.random.choice(self.arrays), self.atom()
        made = self.pick("np.sin(A)", f"A * {two}", "A.copy()", f"0.5 * A + np.outer({one}, {one})")
        product = self.pick(f"{name} @ A", f"A @ {name}", f"{name} @ {name}.T", f"{name} @ {name}")
        self.line(depth, f"{name} = {made}")
        self.line(depth, f"{name}_ = 0.2 * ({product})")
        self.line(depth, self.pick(
            f"{name}[{self.index()}, {self.index()}] = {self.bounded()}",
            f"A[:, :] = np.sin({name}_)",
            f"{one}[:] = np.tanh({name}_ @ {one})", f"{one}[1] = math.sin(np.sum({name}_))",
        ))  # fmt: skip
        value = self.pick(f"np.sum({name}_ * {name})", f"{name}_[1, 2]", f"np.sum({name}_ @ {one})")
        self.line(depth, f"{self.random.choice(self.scalars)} = math.sin({value})")

    def _chosen(self, depth: int) -> None:
        """Write an ``if`` and ``else`` that assign different arrays to one name, and a use of it.
        """
        self.new += 1
        name = f"c{self.new}"
        self.line(depth, f"if {self.condition()}:")
        self.line(depth + 1, f"{name} = {self.vector()} * 0.5")
        self.line(depth, "else:")
        self.line(depth + 1, f"{name} = {self.random.choice(self.arrays)} + 0.5")
        self.line(depth, f"{self.random.choice(self.scalars)} = math.cos(np.sum({name}))")
