"""Policy of fusion: when a program is fused, one step at a time.

The first step makes the fused program, each further step compiles a kernel that the target does not
have yet. A step is taken once the program has run for as long as all steps up to this one are
expected to take together. So fusion should cost no more time than the program has already taken.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..._errors import KernelError
from ...ir.kernel_spec import RolledSpec
from ...ir.program import Program
from ...process.gc_pause import paused
from ..rolling import roll as rolling
from .assemble import fuse

# Expected seconds to fuse an instruction; to compile a kernel, and for each of its steps more.
_INSTRUCTION = 1e-4
_KERNEL, _STEP = 0.03, 3e-4
# Expected seconds to compile a loop, before its steps, and to lower and to bind an instruction.
_LOOP, _LOWERING, _BINDING = 0.1, 5e-6, 3e-6
# The least seconds that an instruction takes for an element.
_ELEMENT = 2e-10
MOST_INSTRUCTIONS = 10_000
"""With more fusible instructions fusion takes over a second: then only mode ``"now"`` fuses."""


class Fusion:
    """The fusion of one program in progress: steps that are taken between runs of the program.

    Parameters
    ----------
    program : Program
    target
    count : int
        The number of instructions that can be fused.
    unrolled : Program, optional
        The program before its repeated instructions became loops.
    replaced : int
        The number of instructions for which given loops stand.
    is_short : bool
        Whether the program is short enough to be fused; of a longer one only loops are compiled.

    Attributes
    ----------
    patience : float
        The seconds that the program runs before the next step is taken.
    present : Program
        The program as it can be run now: with its loops as soon as the target has their kernels.
    spared : float
        The seconds by which lowering and binding the program are faster than those of the unrolled
        one; 0 for a program without loops.
    """

    __slots__ = (
        "_count", "_fused", "_is_short", "_loops", "_missing", "_program", "_specs", "_target",
        "patience", "present", "spared",
    )  # fmt: skip

    def __init__(
        self, program: Program, target: Any, count: int, unrolled: Program | None = None,
        is_short: bool = True, replaced: int = 0,
    ) -> None:  # fmt: skip
        self._program, self._target, self._count = program, target, count
        self._is_short = is_short
        self._fused: Program | None = None
        self._specs: list[Any] = []  # of the kernels that fusion makes
        self._missing: list[Any] = []
        self._loops: list[Any] = []
        self.present, self.patience, self.spared = program, 0.0, 0.0
        if unrolled is not None:
            specs = dict.fromkeys([i.pattern.spec for i in program.instructions])
            self._loops = [s for s in specs if isinstance(s, RolledSpec)]
            self.present = unrolled
            less = len(unrolled.instructions) - len(program.instructions)
            self.spared = less * _BINDING + replaced * (_LOWERING + _BINDING)
        self.patience += self._next_cost()

    def advance(self) -> Program | None:
        """Take the next step; return the fused program after the last step, None before.

        For a program that is too long to be fused, return the program with its loops.
        """
        if self._loops:
            self._obtain(self._loops.pop())
            if not self._loops:
                self.present = self._program
                if not self._is_short:
                    return self._program
        elif self._fused is None:
            self._fuse()
        else:
            self._obtain(self._missing.pop())
        if self._fused is None or self._missing:
            self.patience += self._next_cost()
            return None
        for spec in self._specs:
            self._obtain(spec)
        return self._fused

    @property
    def unrolled(self) -> Any:
        """The instructions of the program before they became loops, packed; None where there are no
        loops, or none is packed."""
        return self._program.unrolled

    def _fuse(self) -> None:
        with paused():  # fusion makes no cycles for the garbage collector
            target = self._target
            self._fused = fuse(
                self._program, self._joins, target.reads_rings, target.reads_tables
            )
        specs = dict.fromkeys([i.pattern.spec for i in self._fused.instructions])
        self._specs = [s for s in specs if hasattr(s, "steps")]
        self._missing = [s for s in self._specs if not self._target.is_ready(s)]

    def _joins(self, spec: Any) -> bool:
        """Whether a kernel computes the function of a spec together with others."""
        return self._target.can_fuse(spec) and self._target.keeps_vectors(spec)

    def _next_cost(self) -> float:
        """Return the seconds that the next step is expected to take."""
        if self._loops:
            spec = self._loops[-1]
            return 0.0 if self._target.is_ready(spec) else _LOOP + _STEP * len(spec.steps)
        if self._fused is None:
            return self._count * _INSTRUCTION
        return _KERNEL + _STEP * len(self._missing[-1].steps)

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


def fusion_of(
    program: Program, target: Any, mode: str,
    roll: Callable[[Program, Any], Program | None] = rolling.rolled,
) -> Fusion | None:  # fmt: skip
    """Return the fusion of a program; None for a program that is never fused.

    Parameters
    ----------
    mode : {"auto", "now", "never"}
        When the program is fused.
    roll : callable
        Returns the program with loops in place of repeated instructions, or None; see `rolling`.
    """
    if mode == "never":
        return None
    counts = Counter(program.patterns())
    is_long = len(program.instructions) >= rolling.FEWEST_INSTRUCTIONS
    given = [p.spec.as_loop for p in counts if getattr(p.spec, "as_loop", None) is not None]
    loops = roll(program, target) if given or is_long else None
    if loops is not None:
        counts = Counter(loops.patterns())
    fusible = [pattern for pattern in counts if pattern.fusible and target.can_fuse(pattern.spec)]
    count = sum([counts[pattern] for pattern in fusible])
    is_short = mode == "now" or count <= MOST_INSTRUCTIONS
    if loops is not None:
        replaced = sum([loop.replaces for of in given if (loop := of()) is not None])
        return Fusion(loops, target, count, program, is_short, replaced)
    if count < 2 or not is_short:
        return None
    return Fusion(program, target, count)


def forecast(program: Program) -> float:
    """Return a lower bound, in seconds, of a program's running time, before its first run."""
    rows = program.batch or 1
    work = [pattern.work * (rows if pattern.rows else 1) for pattern in program.patterns()]
    return _ELEMENT * sum(work)
