"""Fusion: how a program comes to be fused, a step at a time.

Each step (to find out what is fused, then to compile each kernel that is not known) is taken once
the program has run for as long as the steps so far and this one are expected to take. So nobody
waits for fusing longer than they have waited for the program, and for one step at a time.
"""

from collections import Counter
from typing import Any

from ..._errors import KernelError
from ...ir.program import Program
from ...process.gc_pause import paused
from .assemble import fuse

# Seconds that it takes to find out what becomes of an instruction; to compile a kernel, and for
# each of its steps.
_INSTRUCTION = 1e-4
_KERNEL, _STEP = 0.03, 3e-4
# Seconds that an instruction takes for an element, at least.
_ELEMENT = 2e-10
MOST_INSTRUCTIONS = 10_000
"""With more instructions a program waits a second and more to be fused: only ``"now"`` does it."""


class Fusion:
    """The way of a program to the one that it becomes.

    Attributes
    ----------
    patience : float
        Seconds that the program runs before the next step is taken.
    """

    __slots__ = ("_fused", "_missing", "_program", "_specs", "_target", "patience")

    def __init__(self, program: Program, target: Any, count: int) -> None:
        self._program, self._target = program, target
        self._fused: Program | None = None
        self._specs: list[Any] = []  # of the kernels that are made for the program
        self._missing: list[Any] = []
        self.patience = count * _INSTRUCTION

    def advance(self) -> Program | None:
        """Take the next step; return the fused program if all its kernels are known now."""
        if self._fused is None:
            with paused():  # what fusing takes holds no cycles
                self._fused = fuse(self._program, self._target.joins)
            specs = dict.fromkeys([i.pattern.spec for i in self._fused.instructions])
            self._specs = [s for s in specs if hasattr(s, "steps")]
            self._missing = [s for s in self._specs if not self._target.is_ready(s)]
        else:
            self._obtain(self._missing.pop())
        if self._missing:
            self.patience += _KERNEL + _STEP * len(self._missing[-1].steps)
            return None
        for spec in self._specs:
            self._obtain(spec)
        return self._fused

    def finish(self) -> Program:
        """Take all steps that are left; return the fused program."""
        while (fused := self.advance()) is None:
            pass
        return fused

    def _obtain(self, spec: Any) -> None:
        """Compile or load a kernel; whatever prevents that is said with its name."""
        try:
            self._target.kernel(spec)
        except Exception as error:
            raise KernelError(f"{spec.name}: {type(error).__name__}: {error}") from error


def fusion_of(program: Program, target: Any, mode: str) -> Fusion | None:
    """Return how a program comes to be fused; None where it never is.

    Parameters
    ----------
    mode : {"auto", "now", "never"}
        When it is fused.
    """
    if mode == "never":
        return None
    if any([i.site is not None and i.site.stream is not None for i in program.instructions]):  # noqa: C419
        return None  # what is joined would be computed on one stream of several
    counts = Counter([i.pattern for i in program.instructions])
    fusible = [pattern for pattern in counts if pattern.fusible and target.joins(pattern.spec)]
    count = sum([counts[pattern] for pattern in fusible])
    if count < 2 or (mode == "auto" and count > MOST_INSTRUCTIONS):
        return None
    return Fusion(program, target, count)


def forecast(program: Program) -> float:
    """Return the seconds that a run of a program takes at least, before it has run."""
    rows = program.batch or 1
    work = [i.pattern.work * (rows if i.pattern.rows else 1) for i in program.instructions]
    return _ELEMENT * sum(work)
