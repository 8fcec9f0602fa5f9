"""The interface of targets: kernels for kernel specs, and programs bound to be run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from .program import Instruction, Program, Shape


class Failure(NamedTuple):
    """The instruction, row and loop position at which a kernel raised.

    Attributes
    ----------
    instruction : Instruction
    row : int
        The row of the batch; 0 without a batch.
    loop_index : int
        The position within the row, over all loop dimensions of the instruction in C order.
    inputs : callable
        Returns copies of the inputs that the kernel had in that row.
    """

    instruction: Instruction
    row: int
    loop_index: int
    inputs: Callable[[], list[np.ndarray]]


class Bound:
    """A program bound to a target; each target has a subclass.

    Attributes
    ----------
    program : Program
    arguments : list of int
        The positions of the arguments that are used, in the order in which `run` takes them.
    shapes, dtypes, strides : list
        Shapes, dtypes and strides of these arguments, as the program reads their memory; the
        strides are None in C order.
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
        """Run the program once, on the arrays of its arguments followed by arrays in C order for
        its results; return the failure of a kernel, or None."""
        raise NotImplementedError

    def reused_arguments(self, donated: Mapping[int, np.dtype]) -> dict[int, int]:
        """Return for results the argument over which each may be written.

        ``donated`` maps the positions of arguments that may be overwritten to their dtypes: their
        memory is read by nothing else.
        """
        return {}

    def leave_python(self) -> bool:
        """Have operators of Python called without Python where they can be; return whether there
        are some, so that the program has to be bound anew."""
        return False

    def short_arguments(self) -> list[tuple[Any, Any]] | None:
        """Return the ``arguments`` of `entry` for a program so short that an entry pays; None for a
        longer program."""
        return None

    def entry(
        self,
        arguments: Sequence[tuple[Any, Any]],
        positions: Sequence[int] | Mapping[int, int],
        shapes: Sequence[Shape],
        calls: int | None = None,
    ) -> tuple[Any, Callable[[], int] | None]:
        """Return an entry, a builtin function that runs the program without Python, and its meter;
        None for each that there is not.

        An entry takes arguments and arrays for the results. It returns None after a run, and any
        other object if the caller has to call `run` instead: results that share memory with
        anything are such a case. The meter returns how many calls the entry has answered since the
        meter was last called, and lets it answer as many as before.

        Parameters
        ----------
        arguments : sequence of (dtype, shape)
            A pair for each argument. An array has its dtype and shape, or a `Strided` if it is not
            in C order. A number has its type as dtype; an ``int`` has its least and greatest value
            as shape. A `Same` stands for a certain object.
        positions : sequence or dict of int
            For each argument of the program its position in ``arguments``.
        shapes : sequence of tuple
            The shapes in which the caller passes arrays for the results.
        calls : int, optional
            The number of calls that the entry answers before it refuses; only then is there a
            meter.
        """
        return None, None


class Target(Protocol):
    """A device, as the engine and the operators see it.

    Attributes
    ----------
    rolls : bool
        Whether there are kernels of a `RolledSpec`.
    """

    name: str
    rolls: bool

    @property
    def num_threads(self) -> int:
        """Threads that share the work of a large array."""
        ...

    def kernel(self, spec: Any) -> Any:
        """Return the kernel of a spec: the same object for specs with equal identities.

        An elementwise kernel has a ``ufunc(*arrays, out=array)``, which writes into any view of
        memory as universal functions of NumPy do.
        """
        ...

    def is_ready(self, spec: Any) -> bool:
        """Whether the kernel of a spec is in memory or on disk, so that nothing is compiled."""
        ...

    def can_fuse(self, spec: Any) -> bool:
        """Whether the scalar function of a spec can be one of those that a kernel joins."""
        ...

    def bind(self, program: Program, before: Bound | None = None) -> Bound:
        """Find the kernels of a program, place its buffers, and return the bound program.

        ``before`` is the program as it was bound before it was fused, with the same constants.
        """
        ...
