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
        Shapes, dtypes and strides that these arguments must have; strides are None for C order.
    often : int
        The number of runs after which an entry pays.
    """

    often = 100

    __slots__ = ("arguments", "dtypes", "program", "shapes", "strides")

    def __init__(self, program: Program) -> None:
        self.program = program
        self.arguments = list(program.arguments.values())
        given = [program.given[buffer] for buffer in program.arguments]
        self.shapes: list[Shape] = [item[0] for item in given]
        self.dtypes: list[np.dtype] = [item[1] for item in given]
        self.strides: list[Shape | None] = [item[2] for item in given]

    def run(self, arrays: Sequence[Any]) -> Failure | None:
        """Run the program once; return the failure of a kernel, or None.

        ``arrays`` has the arrays of the arguments, then arrays in C order for the results.
        """
        raise NotImplementedError

    def repeat(
        self, arrays_at: Callable[[int], Sequence[Any]], start: int, stop: int, goes_on: Any = None
    ) -> int:
        """Run the program from run ``start`` on, at most to before run ``stop``; return how many
        runs are complete.

        A run that is left is one of `run`, which reports failures: there may be fewer complete runs
        than asked for, none too.

        Parameters
        ----------
        arrays_at : callable
            Returns the arrays of a run, as `run` takes them. From run to run the array of an
            operand moves on by a fixed number of bytes, or two arrays take turns.
        start, stop : int
        goes_on : ndarray, optional
            Eight bytes: the repetition ends after a run that leaves all of them 0.
        """
        return 0

    def reused_arguments(self, donated: Mapping[int, np.dtype]) -> dict[int, int]:
        """Return, by the number of a result, the argument whose memory the result may take.

        ``donated`` has the positions and dtypes of the arguments that may be overwritten, as
        nothing else reads their memory. Results that have to be in other memory are left out.
        """
        return {}

    def leave_python(self) -> bool:
        """Have operators of Python called without Python where they can be; return whether there
        are some, so that the program has to be bound anew."""
        return False

    def short_arguments(self) -> list[tuple[Any, Any]] | None:
        """Return the parameter ``arguments`` of `entry`, if an entry pays; None if it does not.

        The time that an entry saves at each run matters only for a short program.
        """
        return None

    def entry(
        self,
        arguments: Sequence[tuple[Any, Any]],
        positions: Sequence[int] | Mapping[int, int],
        shapes: Sequence[Shape],
        calls: int | None = None,
    ) -> tuple[Any, Callable[[], int] | None]:
        """Return an entry, which runs the program without Python, and the meter of its calls.

        An entry is a builtin function that takes the arguments and arrays for the results. An entry
        returns None after a run, and any other object if the caller has to call `run` instead, for
        example because an array for a result shares memory with another array. The meter is a
        function that returns how many calls the entry has answered since the meter was last called,
        and lets the entry answer ``calls`` further ones. In place of an entry or a meter that does
        not exist there is None.

        Parameters
        ----------
        arguments : sequence of (dtype, shape)
            A pair for each argument that the entry takes. An array has its dtype and shape, or a
            `Strided` as shape if it is not in C order. A number has its type as dtype; an ``int``
            has its least and greatest value as shape. A `Same` stands for a certain object.
        positions : sequence or dict of int
            For each argument of the program its position in ``arguments``.
        shapes : sequence of tuple
            The shapes in which the caller passes arrays for the results.
        calls : int, optional
            The number of calls that the entry answers before it refuses; only then is there a
            meter.
        """
        return None, None

    def maker(self) -> Callable[..., Any] | None:
        """Return a function of the arrays of the arguments that returns the array of the result.

        The function returns None where the caller has to call `run`. None stands for a program of
        several results, or that cannot be run so.
        """
        return None


class Target(Protocol):
    """A device, as the engine and the operators see it.

    Attributes
    ----------
    rolls : bool
        Whether there are kernels of a `RolledSpec`.
    reads_rings : bool
        Whether kernels can read an axis from the middle to the end, and then on from the beginning;
        see `Pattern.turns`.
    reads_tables : bool
        Whether kernels move the columns of tables together, see `FusedSpec.tables`.
    """

    name: str
    rolls: bool
    reads_rings: bool
    reads_tables: bool

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
        """Whether the scalar function of a spec can be fused with others into one kernel."""
        ...

    def keeps_vectors(self, spec: Any) -> bool:
        """Whether functions that are fused with that of a spec still compute on whole vectors.

        Where they do not, the function stays a kernel of its own.
        """
        ...

    def bind(self, program: Program, before: Bound | None = None) -> Bound:
        """Find the kernels of a program, place its buffers, and return the bound program.

        ``before`` is an earlier form of the program, bound before fusion; the target may use its
        constants again.
        """
        ...
