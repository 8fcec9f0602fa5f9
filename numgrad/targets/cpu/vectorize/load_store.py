"""Text of LLVM code that loads and stores vectors; in memory booleans are bytes."""

from collections.abc import Collection, Iterable, Iterator

from .value_numbering import Operand
from .widen import Widening

_LINE = 64
_BYTES = {"double": 8, "float": 4, "i64": 8, "i32": 4, "i16": 2, "i8": 1}


class Transfers:
    """Writes the lines that load and store a kernel's operands, which have numbers ``k``.

    The pointer to an operand is called ``%<prefix><k>``, such as ``%p3``, with a prefix of one
    letter. A table of pointers is given by its address.
    """

    def __init__(self, code: Widening) -> None:
        self.code = code
        self.kinds = (*code.flow.kinds, *code.flow.out_kinds)
        self.stored = tuple("i8" if kind == "i1" else kind for kind in self.kinds)
        self.sizes = tuple(_BYTES[kind] for kind in self.stored)
        self.slot = code.lanes * code.count * max(self.sizes)
        """Bytes that hold a block of any operand."""
        self.declarations = code.declarations

    def pointers(
        self, prefix: str, table: str, operands: Iterable[int], name: str = "t"
    ) -> Iterator[str]:
        """Yield lines that load the pointers of operands, each from its place in a table.

        ``name`` names the table, where a kernel has pointers of one prefix from several.
        """
        yield f"%{prefix}{name} = inttoptr i64 {table} to ptr"
        for k in operands:
            yield f"%{prefix}{name}{k} = getelementptr i64, ptr %{prefix}{name}, i64 {k}"
            yield f"%{prefix}{k} = load ptr, ptr %{prefix}{name}{k}"

    def redirect(self, prefix: str, table: str, operands: Iterable[int]) -> Iterator[str]:
        """Yield lines that store the pointers of operands, each at its place in a table."""
        for k in operands:
            yield from self.place(f"%{prefix}{k}", table, str(k))

    def pick(self, prefix: str, k: int, table: str, number: str) -> Iterator[str]:
        """Yield lines that load the pointer at place ``number`` of a table as ``%<prefix><k>``."""
        yield f"%{prefix}t{k} = inttoptr i64 {table} to ptr"
        yield f"%{prefix}n{k} = getelementptr i64, ptr %{prefix}t{k}, i64 {number}"
        yield f"%{prefix}{k} = load ptr, ptr %{prefix}n{k}"

    def place(self, pointer: str, table: str, number: str) -> Iterator[str]:
        """Yield lines that store a pointer at place ``number`` of a table."""
        yield f"{pointer}t = inttoptr i64 {table} to ptr"
        yield f"{pointer}n = getelementptr i64, ptr {pointer}t, i64 {number}"
        yield f"store ptr {pointer}, ptr {pointer}n"

    def move(self, name: str, k: int, pointer: str, elements: str | int) -> str:
        """Return the line that makes the pointer ``name``, ``elements`` elements after ``pointer``.
        """
        return f"{name} = getelementptr {self.stored[k]}, ptr {pointer}, i64 {elements}"

    def prefetch(self, pointer: str, k: int, index: str, block: int, ahead: int) -> Iterator[str]:
        """Yield lines that prefetch ``block`` elements, ``ahead`` bytes after element ``index``."""
        self.declarations.add("void", "llvm.prefetch.p0", ["ptr", "i32", "i32", "i32"])
        yield self.move(f"{pointer}i", k, pointer, index)
        writes = int(k >= len(self.code.flow.kinds))
        for line in range(0, block * self.sizes[k], _LINE):
            at = f"{pointer}i{line}"
            yield f"{at} = getelementptr i8, ptr {pointer}i, i64 {ahead + line}"
            yield f"call void @llvm.prefetch.p0(ptr {at}, i32 {writes}, i32 3, i32 1)"

    def load(self, k: int, pointer: str) -> Iterator[str]:
        """Yield lines that load a block of an input, as vectors."""
        for n in range(self.code.count):
            name = self.code.name(k, n)
            yield self.move(f"{name}p", k, pointer, n * self.code.lanes)
            yield from self._truth(name, k, f"load {self._vector(k)}, {self._at(k, f'{name}p')}")

    def load_number(self, k: int, pointer: str) -> Iterator[str]:
        """Yield lines that load an input of one number into all lanes of a vector."""
        name = self.code.name(k, 0)
        *lines, last = self._repeated(name, k, pointer)
        yield from lines
        yield from self._truth(name, k, last)

    def store(self, k: int, value: Operand, pointer: str) -> Iterator[str]:
        """Yield lines that store the vectors of ``value`` as a block of an output."""
        for n in range(self.code.count):
            yield self.move(f"%v{k}p{n}", k, pointer, n * self.code.lanes)
            given = self.code.operand(value, self.kinds[k], n)
            if self.kinds[k] == "i1":
                yield f"%v{k}m{n} = zext {given} to {self._vector(k)}"
                given = f"{self._vector(k)} %v{k}m{n}"
            yield f"store {given}, {self._at(k, f'%v{k}p{n}')}"

    def load_part(self, k: int, pointer: str, part: Collection[int]) -> str:
        """Return the expression that loads a vector of an input's memory, or a part of the vector.

        ``part`` has the places of the elements, counted from anywhere by whole vectors.
        """
        vector, lanes = self._vector(k), self.code.lanes
        if len(part) == lanes:
            return f"load {vector}, {self._at(k, pointer)}"
        function, mask = f"llvm.masked.load.{self._suffix(k)}.p0", self.code.vector("i1")
        self.declarations.add(vector, function, ["ptr", mask, vector])
        given = f"ptr align {self.sizes[k]} {pointer}, {mask} {self._chosen(part)}"
        return f"call {vector} @{function}({given}, {vector} zeroinitializer)"

    def store_part(self, k: int, value: str, pointer: str, part: Collection[int]) -> str:
        """Return the line that stores a vector in an output's memory, or a part of the vector."""
        vector, lanes = self._vector(k), self.code.lanes
        if len(part) == lanes:
            return f"store {value}, {self._at(k, pointer)}"
        function, mask = f"llvm.masked.store.{self._suffix(k)}.p0", self.code.vector("i1")
        self.declarations.add("void", function, [vector, "ptr", mask])
        given = f"ptr align {self.sizes[k]} {pointer}, {mask} {self._chosen(part)}"
        return f"call void @{function}({value}, {given})"

    def _chosen(self, part: Collection[int]) -> str:
        """Return the constant mask of the elements of a vector at places."""
        there = {place % self.code.lanes for place in part}
        truth = (str(lane in there).lower() for lane in range(self.code.lanes))
        return f"<{', '.join(f'i1 {one}' for one in truth)}>"

    def masks(self, prefix: str, count: str) -> Iterator[str]:
        """Yield lines that make a mask for each vector of a block.

        The masks are true for the first ``count`` elements of the block.
        """
        lanes, vector = self.code.lanes, self.code.vector("i32")
        yield f"%{prefix}c = trunc i64 {count} to i32"
        yield f"%{prefix}i = insertelement {vector} poison, i32 %{prefix}c, i64 0"
        mask = f"{vector} zeroinitializer"
        yield f"%{prefix}s = shufflevector {vector} %{prefix}i, {vector} poison, {mask}"
        for n in range(self.code.count):
            numbers = ", ".join(f"i32 {n * lanes + lane}" for lane in range(lanes))
            yield f"%{prefix}m{n} = icmp slt {vector} <{numbers}>, %{prefix}s"

    def fill(self, prefix: str, k: int, target: str) -> Iterator[str]:
        """Yield lines that copy an input to a block at ``target`` where the block's masks are true.

        The input's first element fills the other lanes of the block.
        """
        source, vector, mask = f"%{prefix}{k}", self._vector(k), self.code.vector("i1")
        *lines, last = self._repeated(source, k, source)
        yield from (*lines, f"{source}w = {last}")
        function = f"llvm.masked.load.{self._suffix(k)}.p0"
        self.declarations.add(vector, function, ["ptr", mask, vector])
        for n in range(self.code.count):
            yield self.move(f"{source}f{n}", k, source, n * self.code.lanes)
            given = f"ptr align {self.sizes[k]} {source}f{n}, {mask} %{prefix}m{n}"
            yield f"{source}l{n} = call {vector} @{function}({given}, {vector} {source}w)"
            yield self.move(f"{source}t{n}", k, target, n * self.code.lanes)
            yield f"store {vector} {source}l{n}, {self._at(k, f'{source}t{n}')}"

    def save(self, prefix: str, k: int, source: str) -> Iterator[str]:
        """Yield lines that copy a block at ``source`` to an output where the masks are true."""
        target, vector, mask = f"%{prefix}{k}", self._vector(k), self.code.vector("i1")
        function = f"llvm.masked.store.{self._suffix(k)}.p0"
        self.declarations.add("void", function, [vector, "ptr", mask])
        for n in range(self.code.count):
            yield self.move(f"{target}f{n}", k, source, n * self.code.lanes)
            yield f"{target}l{n} = load {vector}, {self._at(k, f'{target}f{n}')}"
            yield self.move(f"{target}t{n}", k, target, n * self.code.lanes)
            given = f"ptr align {self.sizes[k]} {target}t{n}, {mask} %{prefix}m{n}"
            yield f"call void @{function}({vector} {target}l{n}, {given})"

    def _repeated(self, name: str, k: int, pointer: str) -> Iterator[str]:
        """Yield lines that load a number into all lanes; the last line does not name its result."""
        kind, vector, order = self.stored[k], self._vector(k), self.code.vector("i32")
        yield f"{name}x = load {kind}, {self._at(k, pointer)}"
        yield f"{name}y = insertelement {vector} poison, {kind} {name}x, i64 0"
        yield f"shufflevector {vector} {name}y, {vector} poison, {order} zeroinitializer"

    def _truth(self, name: str, k: int, loaded: str) -> Iterator[str]:
        """Yield lines that give a name to the vector that the expression ``loaded`` reads.

        The bytes of booleans become truth values (``i1``).
        """
        if self.kinds[k] != "i1":
            yield f"{name} = {loaded}"
            return
        yield f"{name}b = {loaded}"
        yield f"{name} = icmp ne {self._vector(k)} {name}b, zeroinitializer"

    def _vector(self, k: int) -> str:
        return self.code.vector(self.stored[k])

    def _suffix(self, k: int) -> str:
        kind = self.stored[k].replace("double", "f64").replace("float", "f32")
        return f"v{self.code.lanes}{kind}"

    def _at(self, k: int, pointer: str) -> str:
        return f"ptr {pointer}, align {self.sizes[k]}"
