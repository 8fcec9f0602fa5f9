"""The null target: records launches, compiles and runs nothing; for tests of the engine."""

from collections.abc import Callable, Sequence
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
        The arguments of each launch.
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

    def is_ready(self, spec: Any) -> bool:
        """Whether the kernel of a spec needs no compiling: here none does."""
        return True

    def l2_bytes(self) -> int:
        """Size of the second-level cache that the scheduler is to assume."""
        return self.l2

    def addresses(self, arrays: Sequence[Any]) -> list[int]:
        """Return made-up addresses."""
        return [4096] * len(arrays)

    def bind(
        self,
        code: Any,
        starts: Any,
        parts: Sequence[tuple[int, int, int, int, int, bool]],
        slots: int = 3,
        block_bytes: int = 0,
        uses_blas: bool = False,
    ) -> Callable[[Sequence[int]], None]:
        """Return a function that notes its launches."""

        def run(addresses: Sequence[int] = ()) -> None:
            for first, last, rows, tile, arena_bytes, parallel in parts:
                self.launches.append(
                    {
                        "code": code, "instructions": last - first, "rows": rows, "tile": tile,
                        "arena_bytes": arena_bytes, "parallel": parallel, "uses_blas": uses_blas,
                    }
                )  # fmt: skip

        return run
