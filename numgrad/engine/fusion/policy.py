"""Policy of fusion: when a program is fused, one step at a time.

The first step makes the fused program, each further step compiles a kernel that the target does not
have yet. A step is taken once the program has run for as long as all steps so far and this step are
expected to take: so fusion is expected to cost no more time than the program has already taken.
"""

from collections import Counter
from typing import Any

from ..._errors import KernelError
from ...ir.program import Program
from ...process.gc_pause import paused
from .assemble import fuse

# Expected seconds: to fuse, for each instruction; to compile a kernel, at all and for each step.
_INSTRUCTION = 1e-4
_KERNEL, _STEP = 0.03, 3e-4
# Seconds that an instruction takes at least for each element.
_ELEMENT = 2e-10
MOST_INSTRUCTIONS = 10_000
"""Fusible instructions beyond which fusion takes a second and more: only mode ``"now"`` does it."""


class Fusion:
    """The fusion of one program in progress.

    Attributes
    ----------
    patience : float
        The seconds that the program runs before the next step is taken.
    """

    __slots__ = ("_fused", "_missing", "_program", "_specs", "_target", "patience")

    def __init__(self, program: Program, target: Any, count: int) -> None:
        self._program, self._target = program, target
        self._fused: Program | None = None
        self._specs: list[Any] = []  # of the kernels that fusion makes
        self._missing: list[Any] = []
        self.patience = count * _INSTRUCTION

    def advance(self) -> Program | None:
        """Take the next step; return the fused program once the target has all its kernels."""
        if self._fused is None:
            with paused():  # fusion makes no cycles for the garbage collector
                self._fused = fuse(self._program, self._target.can_fuse)
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
        """Take all remaining steps; return the fused program."""
        while (fused := self.advance()) is None:
            pass
        return fused

    def _obtain(self, spec: Any) -> None:
        """Compile or load a kernel; raise an error with the kernel's name where this fails."""
        try:
            self._target.kernel(spec)
        except Exception as error:
            raise KernelError(f"{spec.name}: {type(error).__name__}: {error}") from error


def fusion_of(program: Program, target: Any, mode: str) -> Fusion | None:
    """Return the fusion of a program; None for a program that is never fused.

    Parameters
    ----------
    mode : {"auto", "now", "never"}
        When the program is fused.
    """
    if mode == "never":
        return None
    if any([i.site is not None and i.site.stream is not None for i in program.instructions]):  # noqa: C419
        return None  # a fused kernel would move its instructions from several streams to one
    counts = Counter([i.pattern for i in program.instructions])
    fusible = [pattern for pattern in counts if pattern.fusible and target.can_fuse(pattern.spec)]
    count = sum([counts[pattern] for pattern in fusible])
    if count < 2 or (mode == "auto" and count > MOST_INSTRUCTIONS):
        return None
    return Fusion(program, target, count)


def forecast(program: Program) -> float:
    """Return a lower bound, in seconds, of a program's running time, before its first run."""
    rows = program.batch or 1
    work = [i.pattern.work * (rows if i.pattern.rows else 1) for i in program.instructions]
    return _ELEMENT * sum(work)
