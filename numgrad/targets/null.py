"""The null target, for tests: it records kernels and runs, but compiles and computes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..ir.program import Program
from ..ir.target import Bound


@dataclass
class NullKernel:
    """A kernel that has a name and no code."""

    name: str


class NullBound(Bound):
    """A bound program that records its runs and writes no results."""

    __slots__ = ("launches",)

    def __init__(self, program: Program, launches: list[Program]) -> None:
        super().__init__(program)
        self.launches = launches

    def run(self, arrays: Sequence[Any]) -> None:
        self.launches.append(self.program)


@dataclass
class NullTarget:
    """A target that records which kernels and runs are asked for; results are undefined.

    Attributes
    ----------
    launches : list of Program
        The programs that were run, in order.
    kernels : list of NullKernel
        A kernel for each call of `kernel`.
    """

    name = "null"
    rolls = False
    reads_rings = False
    reads_tables = True
    num_threads: int = 2
    launches: list[Program] = field(default_factory=list)
    kernels: list[NullKernel] = field(default_factory=list)

    def kernel(self, spec: Any) -> NullKernel:
        """Return a kernel for a spec without compiling it."""
        self.kernels.append(NullKernel(spec.name))
        return self.kernels[-1]

    def can_fuse(self, spec: Any) -> bool:
        """Whether fusion may join the function of a spec with others: always."""
        return True

    def keeps_vectors(self, spec: Any) -> bool:
        """Return True: nothing is computed."""
        return True

    def is_ready(self, spec: Any) -> bool:
        """Whether the kernel of a spec needs no compiling: always."""
        return True

    def bind(self, program: Program, before: Any = None) -> NullBound:
        """Return a bound program that only records its runs."""
        return NullBound(program, self.launches)
