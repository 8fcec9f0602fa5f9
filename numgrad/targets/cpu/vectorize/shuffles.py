"""Text of LLVM code that sorts the elements of a table by columns, in registers.

Rows of a table follow one another in memory, so a column is strided. Vectors of whole rows are
loaded and stored, and their elements change places by shuffles of two vectors. A table of six
columns is two tables of three columns, one of its elements at even places and one of those at odd
places: so the number of shuffles grows with the sum of the factors of the width. Where a row is
whole vectors, squares are transposed, by shuffles that need no table of places.
"""

from collections.abc import Iterator, Mapping, Sequence

Vector = str | None
"""A vector, as LLVM's text with its type; None for one with any values."""

Element = tuple[str, int] | None
"""A vector and a place there; None for any value."""


def factor_of(width: int) -> int:
    """Return the least factor of a width above 1."""
    return next(f for f in range(2, width + 1) if width % f == 0)


class Shuffles:
    """Writes the lines that shuffle vectors.

    Parameters
    ----------
    vector : str
        The type of a vector.
    lanes : int
        The number of elements of a vector.
    near : int
        The number of elements in each part of a vector within which a processor moves elements
        fastest, at most ``lanes``.
    prefix : str
        With what names of values begin that no other line uses.
    """

    def __init__(self, vector: str, lanes: int, near: int, prefix: str) -> None:
        self.vector, self.lanes, self.near, self.prefix = vector, lanes, near, prefix
        self._count = 0

    def columns(
        self, rows: Sequence[Vector], width: int, wanted: Mapping[int, str]
    ) -> Iterator[str]:
        """Yield lines that make columns of a table from the vectors of its rows.

        ``wanted`` has the names of the columns by place. Where few columns are wanted, each is
        picked from the rows on its own.
        """
        if width % self.lanes == 0:
            count = width // self.lanes
            for number in range(count):
                first = number * self.lanes
                names = {p - first: x for p, x in wanted.items() if 0 <= p - first < self.lanes}
                yield from self._transposed(rows[number::count], names)
            return
        factor = factor_of(width) if 2 * len(wanted) > width else width
        yield from self._split(rows, width, factor, wanted)

    def rows(self, columns: Sequence[Vector]) -> Iterator[str]:
        """Yield lines that make the vectors of a table's rows from its columns.

        The names of the vectors are those of `row_names`.
        """
        yield from self._rows(columns, self.row_names(len(columns)))

    def row_names(self, width: int) -> list[str]:
        """Return the names of the vectors that `rows` makes."""
        return [f"{self.prefix}r{n}" for n in range(width)]

    def _rows(self, columns: Sequence[Vector], names: Sequence[str]) -> Iterator[str]:
        width = len(columns)
        if width % self.lanes == 0:
            count = width // self.lanes
            for number in range(count):
                first = number * self.lanes
                rows = dict(enumerate(names[number::count]))
                yield from self._transposed(columns[first : first + self.lanes], rows)
            return
        factor = factor_of(width)
        parts: list[Sequence[Vector]] = []
        for first in range(factor):
            part = columns[first::factor]
            if len(part) > 1:
                made = [self._name() for _ in part]
                yield from self._rows(part, made)
                part = self._typed(made)
            parts.append(part)
        for number, name in enumerate(names):
            places = range(number * self.lanes, (number + 1) * self.lanes)
            elements = [self._at(parts[p % factor], p // factor) for p in places]
            yield from self._merged(name, elements)

    def _split(
        self, rows: Sequence[Vector], width: int, factor: int, wanted: Mapping[int, str],
        unit: int = 1,
    ) -> Iterator[str]:  # fmt: skip
        """Yield lines that make columns of a table, which is split into ``factor`` tables first.

        An element of the table is ``unit`` elements of vectors.
        """
        inner, units = width // factor, self.lanes // unit
        for first in range(factor):
            part = {(p - first) // factor: x for p, x in wanted.items() if p % factor == first}
            if not part:
                continue
            names = [part[0] if inner == 1 else self._name() for _ in range(inner)]
            for number, name in enumerate(names):
                places = [(number * units + n) * factor + first for n in range(units)]
                yield from self._merged(name, self._elements(rows, places, unit))
            if inner > 1:
                yield from self._split(self._typed(names), inner, factor_of(inner), part, unit)

    def _transposed(
        self, square: Sequence[Vector], wanted: Mapping[int, str], unit: int = 1
    ) -> Iterator[str]:
        """Yield lines that transpose a square, whose elements are ``unit`` elements of vectors.

        ``wanted`` has the names of the columns by place. Elements of neighbouring rows come side by
        side first; each two are one element then, of two squares of half the size.
        """
        size = len(square)
        if unit >= self.near:
            yield from self._split(square, size, 2, wanted, unit)
            return
        near = self.near // unit
        for half in (0, near // 2):
            own = [p for p in range(size) if half <= p % near < half + near // 2]
            part = {n: wanted[p] for n, p in enumerate(own) if p in wanted}
            if not part:
                continue
            names = [part[0] if size == 2 else self._name() for _ in range(size // 2)]
            for number, name in enumerate(names):
                pair = square[2 * number : 2 * number + 2]
                elements = [e for p in own for x in pair for e in self._elements([x], [p], unit)]
                yield from self._merged(name, elements)
            if size > 2:
                yield from self._transposed(self._typed(names), part, 2 * unit)

    def _elements(
        self, vectors: Sequence[Vector], places: Sequence[int], unit: int
    ) -> list[Element]:
        """Return the elements at places that count ``unit`` elements of vectors side by side."""
        return [self._at(vectors, place * unit + n) for place in places for n in range(unit)]

    def _at(self, vectors: Sequence[Vector], place: int) -> Element:
        number, lane = divmod(place, self.lanes)
        found = vectors[number] if number < len(vectors) else None
        return None if found is None else (found, lane)

    def _merged(self, name: str, elements: Sequence[Element]) -> Iterator[str]:
        """Yield lines that make a vector of elements, one line for each vector but one of theirs.
        """
        vectors = [*dict.fromkeys([e[0] for e in elements if e is not None])]
        known, *others = vectors or [f"{self.vector} poison"]
        others = others or [f"{self.vector} poison"]
        order = [e[1] if e is not None and e[0] == known else None for e in elements]
        for number, further in enumerate(others, 1):
            order = [
                e[1] + self.lanes if e is not None and e[0] == further else place
                for e, place in zip(elements, order, strict=True)
            ]
            result = name if number == len(others) else self._name()
            yield f"{result} = shufflevector {known}, {further}, {self._mask(order)}"
            known = f"{self.vector} {result}"
            order = [n if place is not None else None for n, place in enumerate(order)]

    def _mask(self, order: Sequence[int | None]) -> str:
        places = ", ".join(f"i32 {'poison' if x is None else x}" for x in order)
        return f"<{self.lanes} x i32> <{places}>"

    def _typed(self, names: Sequence[str]) -> list[Vector]:
        return [f"{self.vector} {name}" for name in names]

    def _name(self) -> str:
        self._count += 1
        return f"{self.prefix}s{self._count}"
