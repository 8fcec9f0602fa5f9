"""Loops over ``prange`` in chunks of their steps, which run on several threads.

How many chunks there are depends on the steps and on lengths of arrays alone, and what the chunks
have found is added in the order of the steps: results have the same bits on any number of threads.
Where steps add to a shadow that others add to as well, the first chunk adds to the
shadow, and each other one to zeros of its own. Where only steps that are near to each other add to
the same elements, every second chunk runs first, and then those between.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from ..ssa.ir import Op, Value, depth
from .forward import count_text
from .races import Races, Shares
from .tape import Tape
from .writing import Names, Writer

_NATURAL = "(1 << 62) - 1"
"""The bits of a count: LLVM sees by them that no index is negative, and vectorises the loop."""


@dataclass
class Chunk:
    """The names of the first step of a chunk, and of the step after its last one, which count the
    steps of the loop from 0; and the bounds of the loop over the steps of the chunk."""

    low: str
    high: str
    bounds: list[str]


class Chunks:
    """Writes loops over chunks.

    Parameters
    ----------
    races : Races
    names : Names
    writer : Writer
    tape : Tape
    ops : set of Op
        The operations of the forward sweep.
    room : int
        The bytes that the zeros of all chunks may take.
    """

    def __init__(
        self, races: Races, names: Names, writer: Writer, tape: Tape, ops: set[Op], room: int
    ) -> None:
        self.races, self.names, self.writer, self.tape = races, names, writer, tape
        self.ops, self.room = ops, room
        self._tops: dict[Op, dict[str, str]] = {}
        candidates = [op for op in races.program.body.walk() if op.info.get("is_parallel")]
        if any(self._has_tops(op) and depth(op.region) > 0 for op in candidates):
            tape.use("i")

    # The forward sweep

    @contextlib.contextmanager
    def forward(self, op: Op, bounds: list[str], live: list[Value]) -> Iterator[list[str]]:
        """Write what stands around a loop of the forward sweep; yield the bounds of the loop.

        Parameters
        ----------
        op : Op
        bounds : list of str
            Those of the loop over all steps.
        live : list of Value
            The numbers that the loop carries.
        """
        is_free = self.races.is_free_forward(op, live, self.ops)
        is_pushing = self.races.is_pushing(op) and not self.tape.is_muted
        if is_pushing and self.races.of(op) is not None:
            writing = self._in_parts if is_free else self._noting_tops
            with writing(op, count_text(op, bounds), bounds[0]) as chunk:
                yield chunk.bounds
        elif is_free and not is_pushing:
            work = self._work(op)
            total, count = self._begin(count_text(op, bounds), f"in_chunks({{}}, 1, {work})")
            with self._over(total, count, 1, work, bounds[0]) as (_, chunk):
                yield chunk.bounds
        else:
            yield bounds

    def _work(self, op: Op) -> str:
        """Return about how many operations a step takes, in the same words in both sweeps."""
        return self.races.work(op, self.tape.text, self.ops)

    # Where the steps push values: how long the tapes are at the start of each chunk

    def _has_tops(self, op: Op) -> bool:
        return self.races.of(op) is not None and self.races.is_pushing(op)

    @contextlib.contextmanager
    def _noting_tops(self, op: Op, steps: str, start: str) -> Iterator[Chunk]:
        """Write a loop over chunks, one after the other, that notes how long the tapes are."""
        line = self.writer.line
        total, count, tops = self._begin_tops(op, steps)
        number = self.names.fresh("chunk")
        with self.writer.block(f"for {number} in range({count}):"):
            for s, name in tops.items():
                line(f"{name}[{number}] = {self.tape.tops[s]}")
            yield self._chunk(total, count, number, start)
        for s, name in tops.items():
            line(f"{name}[{count}] = {self.tape.tops[s]}")
        self._keep_tops(op)

    @contextlib.contextmanager
    def _in_parts(self, op: Op, steps: str, start: str) -> Iterator[Chunk]:
        """Write a loop over chunks, each of which writes to a part of the tapes."""
        tape, line = self.tape, self.writer.line
        total, count, tops = self._begin_tops(op, steps)
        rooms = {s: self.names.fresh(f"room_{s}") for s in tops}
        needed = {s: self.names.fresh(f"needed_{s}") for s in tops}
        for s in tops:
            line(f"{rooms[s]} = ({tape.tapes[s]}.size - {tape.tops[s]}) // {count}")
            line(f"{needed[s]} = np.zeros({count}, np.int64)")
        with self._over(total, count, 1, self._work(op), start) as (number, chunk):
            for s, room in rooms.items():
                start = f"{tape.tops[s]} + {number} * {room}"
                line(f"{tape.tapes[s]} = {tape.tapes[s]}[{start}:{start} + {room}]")
                line(f"{tape.tops[s]} = 0")
            tape.noted = {s: f"{name}[{number}]" for s, name in needed.items()}
            yield chunk
            tape.noted = {}
            for s, name in tops.items():
                line(f"{name}[{number}] = {tape.tops[s]}")
        sizes = {s: f"{name}.size" for s, name in tape.tapes.items()}
        for s, name in needed.items():
            sizes[s] = f"max({sizes[s]}, {tape.tops[s]} + {count} * most_of({name}))"
        tests = [f"most_of({name}) > {rooms[s]}" for s, name in needed.items()]
        with self.writer.block(f"if {' or '.join(tests)}:"):
            tape.ask(sizes)
        for s, name in tops.items():
            given = f"{tape.tapes[s]}, {tape.tops[s]}, {rooms[s]}, {name}"
            line(f"{tape.tops[s]} = moved_together({given})")
        self._keep_tops(op)

    def _begin_tops(self, op: Op, steps: str) -> tuple[str, str, dict[str, str]]:
        """Write the arrays of tops; return the names of the numbers of steps and of chunks, and of
        the arrays."""
        tops = self._names_of_tops(op)
        total, count = self._begin(steps, self._fine(op))
        for name in tops.values():
            self.writer.line(f"{name} = np.empty({count} + 1, np.int64)")
        return total, count, tops

    def _fine(self, op: Op) -> str:
        """Return how many chunks the forward sweep makes of so many steps, with a place for them;
        the reverse sweep makes as many, or joins some."""
        shares = self.races.of(op)
        return f"in_chunks({{}}, {shares.apart if shares else 1}, {self._work(op)})"

    def _keep_tops(self, op: Op) -> None:
        if depth(op.region) > 0:
            self.tape.push_lengths(list(self._names_of_tops(op).values()))

    def _names_of_tops(self, op: Op) -> dict[str, str]:
        if op not in self._tops:
            self._tops[op] = {s: self.names.fresh(f"tops_{s}") for s in self.tape.used}
        return self._tops[op]

    def _restore_tops(self, op: Op, total: str) -> str:
        """Write what finds the tops of the chunks of the forward sweep; return how many chunks that
        made."""
        fine = self.names.fresh("chunks")
        self.writer.line(f"{fine} = {self._fine(op).format(total)}")
        if depth(op.region) > 0:
            self.tape.pop_lengths(list(self._names_of_tops(op).values()), f"{fine} + 1")
        return fine

    def _begin(self, steps: str, chunks: str) -> tuple[str, str]:
        """Write how many steps and chunks there are; return the names of both numbers."""
        total, count = self.names.fresh("steps"), self.names.fresh("chunks")
        self.writer.line(f"{total} = {steps}")
        self.writer.line(f"{count} = {chunks.format(total)}")
        return total, count

    @contextlib.contextmanager
    def _over(
        self, total: str, count: str, apart: int, work: str, start: str, fine: str = ""
    ) -> Iterator[tuple[str, Chunk]]:
        """Write the loop over chunks, or the two loops over every second one; chunks begin where
        ``fine`` chunks do."""
        place, number = self.names.fresh("place"), self.names.fresh("chunk")
        line, block = self.writer.line, self.writer.block
        phase = self.names.fresh("phase") if apart > 1 else ""
        with contextlib.ExitStack() as stack:
            if phase:
                stack.enter_context(block(f"for {phase} in range(2):"))
            runs = f"({count} + 1 - {phase}) // 2" if phase else count
            stack.enter_context(block(f"for {place} in prange({runs}, {total} * ({work})):"))
            if phase:
                line(f"{number} = 2 * {place} + {phase}")
            else:  # chunks from both ends by turns: a thread has early ones and late ones
                line(f"{number} = {place} // 2")
                with block(f"if {place} % 2 != 0:"):
                    line(f"{number} = {count} - 1 - {number}")
            yield number, self._chunk(total, count, number, start, fine)

    def _chunk(self, total: str, count: str, number: str, start: str, fine: str = "") -> Chunk:
        """Write where a chunk begins and ends."""
        line, low, high = self.writer.line, self.names.fresh("low"), self.names.fresh("high")
        first, last = number, f"({number} + 1)"
        if fine:
            first, last = (f"({n} * {fine} // {count})" for n in (first, last))
        line(f"{low} = {total} * {first} // {fine or count} & {_NATURAL}")
        line(f"{high} = {total} * {last} // {fine or count} & {_NATURAL}")
        ends = [low, high]
        if start != "0":
            ends = [self.names.fresh("first"), self.names.fresh("last")]
            line(f"{ends[0]} = ({start}) + {low}")
            line(f"{ends[1]} = ({start}) + {high}")
        return Chunk(low, high, [*ends, "1"])

    # The reverse sweep

    @contextlib.contextmanager
    def reverse(self, op: Op, steps: str, registers: list[str]) -> Iterator[Chunk | None]:
        """Write what stands around a loop that reverses steps; yield the chunk of the loop, None
        for a loop over all steps.

        Parameters
        ----------
        op : Op
        steps : str
            How many steps the loop has.
        registers : list of str
            The names of sums to which all steps add.
        """
        shares = self.races.of(op)
        if shares is None:
            yield None
            return
        work = self.races.work(op, self.tape.text)
        shadows = [self.names.cotangent(array) for array in shares.arrays]
        sizes = " + ".join(f"{shadow}.size" for shadow in shadows)
        more = f", {sizes}, {self.room}" if shadows else ""
        chunks = f"in_chunks({{}}, {shares.apart}, {work}{more})"
        total, count = self._begin(steps, chunks)
        own = [*(self.names.cotangent(number) for number in shares.numbers), *registers]
        sums = {name: self.names.fresh(f"{name}_sums") for name in own}
        parts = {shadow: self.names.fresh(f"{shadow}_parts") for shadow in shadows}
        for kept in sums.values():
            self.writer.line(f"{kept} = np.empty({count})")
        for shadow, kept in parts.items():
            shape = f"({count} - 1,) + {shadow}.shape"
            self.writer.line(f"{kept} = np.empty({shape}, {shadow}.dtype)")
        fine = self._restore_tops(op, total) if self._has_tops(op) else ""
        if fine:
            self.writer.line(f"{count} = min({count}, {fine})")
        start = self.tape.text(op.bounds[0])
        with self._over(total, count, shares.apart, work, start, fine) as (number, chunk):
            self._start(number, sums, parts, shares)
            if fine:
                self._take_tops(op, f"({number} + 1) * {fine} // {count}")
            yield chunk
            for name, kept in sums.items():
                self.writer.line(f"{kept}[{number}] = {name}")
        if fine:
            self._take_tops(op, "0")
        self._add(count, sums, parts, shares)

    def _take_tops(self, op: Op, chunk: str) -> None:
        for s, tops in self._names_of_tops(op).items():
            self.writer.line(f"{self.tape.tops[s]} = {tops}[{chunk}]")

    def _start(
        self, number: str, sums: dict[str, str], parts: dict[str, str], shares: Shares
    ) -> None:
        """Write the zeros of a chunk."""
        for name in sums:
            self.writer.line(f"{name} = 0.0")
        for array, (shadow, kept) in zip(shares.arrays, parts.items(), strict=True):
            with self.writer.block(f"if {number} > 0:"):
                self.writer.line(f"{shadow} = {kept}[{number} - 1]")
                with self._everywhere(array, shadow) as place:
                    self.writer.line(f"{shadow}[{place}] = 0.0")

    @contextlib.contextmanager
    def _everywhere(self, array: Value, name: str) -> Iterator[str]:
        """Write loops over the elements of an array; yield the index of an element."""
        places = [self.names.fresh("j") for _ in range(array.type.ndim or 0)]
        with contextlib.ExitStack() as stack:
            for axis, place in enumerate(places):
                header = f"for {place} in range({name}.shape[{axis}]):"
                stack.enter_context(self.writer.block(header))
            yield ", ".join(places)

    def _add(
        self, count: str, own: dict[str, str], parts: dict[str, str], shares: Shares
    ) -> None:
        """Write the sums over chunks, in their order."""
        line, block = self.writer.line, self.writer.block
        if own:
            number = self.names.fresh("chunk")
            with block(f"for {number} in range({count}):"):
                for name, kept in own.items():
                    line(f"{name} += {kept}[{number}]")
        for array, (shadow, kept) in zip(shares.arrays, parts.items(), strict=True):
            number = self.names.fresh("chunk")
            header = f"for {number} in range({count} - 1):"
            with block(header), self._everywhere(array, shadow) as place:
                line(f"{shadow}[{place}] += {kept}[{number}, {place}]")
