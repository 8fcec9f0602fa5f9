"""The null target: records what it is asked for, compiles and runs nothing; for tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..ir.program import Program
from ..ir.target import Bound


@dataclass
class NullKernel:
    """A kernel with a name."""

    name: str


class NullBound(Bound):
    """A program that leaves its results as they are, and notes that it was run."""

    __slots__ = ("launches",)

    def __init__(self, program: Program, launches: list[Program]) -> None:
        super().__init__(program)
        self.launches = launches

    def run(self, arrays: Sequence[Any]) -> None:
        self.launches.append(self.program)


@dataclass
class NullTarget:
    """Records what it is asked to do; the numbers in its results are undefined.

    Attributes
    ----------
    launches : list of Program
        What was run.
    kernels : list of NullKernel
        One per spec asked for.
    """

    name = "null"
    num_threads: int = 2
    launches: list[Program] = field(default_factory=list)
    kernels: list[NullKernel] = field(default_factory=list)

    def kernel(self, spec: Any) -> NullKernel:
        """Return a kernel for a spec without compiling it."""
        self.kernels.append(NullKernel(spec.name))
        return self.kernels[-1]

    def joins(self, spec: Any) -> bool:
        """Whether a kernel can join the function of a spec with others: any."""
        return True

    def is_ready(self, spec: Any) -> bool:
        """Whether the kernel of a spec needs no compiling: here none does."""
        return True

    def bind(self, program: Program) -> NullBound:
        """Return a program that only notes that it was run."""
        return NullBound(program, self.launches)
