"""The null target: records launches, compiles and runs nothing; for tests of the engine."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class NullKernel:
    """A kernel with a name and a made-up address."""

    name: str
    address: int


@dataclass
class NullTarget:
    """Records what it is asked to do; the numbers in its results are undefined.

    Attributes
    ----------
    launches : list of dict
        The arguments of each `run`.
    kernels : list of NullKernel
        One per spec asked for.
    """

    name = "null"
    launches: list[dict[str, Any]] = field(default_factory=list)
    kernels: list[NullKernel] = field(default_factory=list)
    num_threads: int = 2
    l2: int = 1 << 20

    def kernel(self, spec: Any) -> NullKernel:
        """Return a kernel for a spec without compiling it."""
        kernel = NullKernel(spec.name, 4096 + 64 * len(self.kernels))
        self.kernels.append(kernel)
        return kernel

    def l2_bytes(self) -> int:
        """Size of the second-level cache that the scheduler is to assume."""
        return self.l2

    def run(
        self,
        code: Any,
        starts: Any,
        rows: int,
        tile: int,
        arena_bytes: int,
        parallel: bool,
        uses_blas: bool = False,
    ) -> None:
        """Note the launch."""
        self.launches.append(
            {
                "code": code, "instructions": len(starts), "rows": rows, "tile": tile,
                "arena_bytes": arena_bytes, "parallel": parallel, "uses_blas": uses_blas,
            }
        )  # fmt: skip
