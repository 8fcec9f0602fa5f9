"""What the engine asks of a device: kernels for specs, and programs made ready to run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from .program import Instruction, Program, Shape


class Failure(NamedTuple):
    """Where a kernel raised.

    Attributes
    ----------
    instruction : Instruction
    row : int
        Of the batch; 0 where there is none.
    loop_index : int
        Position within the row, over all loop dimensions of the instruction in C order.
    inputs : callable
        Returns copies of the inputs that the kernel had in that row.
    """

    instruction: Instruction
    row: int
    loop_index: int
    inputs: Callable[[], list[np.ndarray]]


class Bound:
    """A program as a target runs it; each target has its own kind.

    Attributes
    ----------
    program : Program
    arguments : list of int
        The positions of the arguments that are used, in the order in which `run` takes them.
    shapes, dtypes, strides : list
        Of these arguments, as the program reads their memory; no strides of one in C order.
    """

    __slots__ = ("arguments", "dtypes", "program", "shapes", "strides")

    def __init__(self, program: Program) -> None:
        self.program = program
        self.arguments = list(program.arguments.values())
        given = [program.given[buffer] for buffer in program.arguments]
        self.shapes: list[Shape] = [item[0] for item in given]
        self.dtypes: list[np.dtype] = [item[1] for item in given]
        self.strides: list[Shape | None] = [item[2] for item in given]

    def run(self, arrays: Sequence[Any]) -> Failure | None:
        """Run the program once on the arrays of its arguments, and write the results to the arrays
        behind them, in C order; say where a kernel raised."""
        raise NotImplementedError

    def reused_arguments(self, donated: Mapping[int, np.dtype]) -> dict[int, int]:
        """Return for results the argument over which each may be written.

        ``donated`` has the dtypes of the arguments that may be overwritten, by their positions;
        nobody else reads their memory.
        """
        return {}

    def short_arguments(self) -> list[tuple[Any, Any]] | None:
        """Return what the arguments are, as `entry` takes them, of a program so short that an entry
        is worth while; None of another."""
        return None

    def entry(
        self,
        arguments: Sequence[tuple[Any, Any]],
        positions: Sequence[int] | Mapping[int, int],
        shapes: Sequence[Shape],
        calls: int | None = None,
    ) -> tuple[Any, Callable[[], int] | None]:
        """Return a builtin function that runs the program with no Python around it, and with
        ``calls``, the number it answers before it refuses, one that says how many it answered;
        None where there is none.

        It takes arguments and arrays for the results. It returns None when it has run, and
        anything else when the caller has to call `run`: also for results that share memory with
        anything.

        Parameters
        ----------
        arguments : sequence of (dtype, shape)
            What it takes: an array, in C order unless the shape is a `Strided`; a number of a type,
            in place of the dtype, for an ``int`` with the least and the greatest in place of the
            shape; the object of a `Same`.
        positions : sequence or dict of int
            Which of them is each argument of the program.
        shapes : sequence of tuple
            The results in the shapes that the caller gives them.
        """
        return None, None


class Target(Protocol):
    """A device, as the engine and the operators see it."""

    name: str

    @property
    def num_threads(self) -> int:
        """Threads that share the work of a large array."""
        ...

    def kernel(self, spec: Any) -> Any:
        """Return the kernel of a spec, the same one for equal specs. An elementwise one has a
        ``ufunc(*arrays, out=array)``, which writes into any view of memory, as NumPy's do."""
        ...

    def is_ready(self, spec: Any) -> bool:
        """Whether the kernel of a spec is in memory or on disk, so that nothing is compiled."""
        ...

    def can_fuse(self, spec: Any) -> bool:
        """Whether the scalar function of a spec can be one of those that a kernel joins."""
        ...

    def bind(self, program: Program) -> Bound:
        """Find the kernels of a program, place its buffers, and return it ready to run."""
        ...
