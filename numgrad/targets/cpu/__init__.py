"""The CPU: kernels compiled by Numba, run by the machine.

Neither an import of the package nor a new `CPUTarget` compiles or loads anything.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..._settings import settings

if TYPE_CHECKING:
    import numpy as np

    from ...ir.program import Program
    from .compile.disk_cache import CacheInfo
    from .machine.machine import Runner
    from .machine.profiler import TimedRunner
    from .schedule.bound_program import BoundProgram

__all__ = ["CPUTarget"]


class CPUTarget:
    """The CPU as a target: it compiles kernels, and binds programs to the machine that runs them.

    Examples
    --------
    >>> target = CPUTarget()
    >>> target.num_threads >= 1
    True
    """

    name = "cpu"
    rolls = True
    reads_rings = False
    reads_tables = True

    def __init__(self) -> None:
        # Both are imported at the first use: Numba takes longer to import than NumPy.
        self._find_kernel: Callable[[Any], Any] | None = None
        self._bound: type[BoundProgram] | None = None

    def kernel(self, spec: Any) -> Any:
        """Return the compiled kernel of a kernel spec, the same object for equal specs."""
        if self._find_kernel is None:
            from .kernels.kernel import kernel

            self._find_kernel = kernel
        return self._find_kernel(spec)

    def can_fuse(self, spec: Any) -> bool:
        """Return True: fusion may join any function with others, even a function of a C library."""
        return True

    def keeps_vectors(self, spec: Any) -> bool:
        """Whether a kernel of the function of a spec and others computes on whole vectors.

        Without a vector library no kernel that calls a function does.
        """
        from .codegen.scalar_graph import scalar
        from .platform.vector_library import vector_library

        if settings.math != "simd" or vector_library() is None:
            return True
        return scalar(spec).is_for_vectors

    def is_ready(self, spec: Any) -> bool:
        """Whether the kernel of a spec is in memory or on disk: its use compiles nothing."""
        from .kernels.kernel import is_ready

        return is_ready(spec)

    def prepare(self) -> None:
        """Compile or load the machine and other code that all programs share."""
        from .compile.routines import prepare

        prepare()

    def rerun(self, spec: Any) -> "Callable[[Sequence[np.ndarray]], dict[int, list[Any]]]":
        """Return a function that calls the function of a kernel again, so that it raises in Python.

        The kernel has reported a failure at one element of its loop. The returned function takes
        the core array of each input for that element. If nothing raises, the result has for each
        output the indices that the function did not write.
        """
        from .kernels.rerun import rerun

        return rerun(spec)

    def bind(self, program: "Program", before: Any = None) -> "BoundProgram":
        """Place the buffers of a program, and return the program in a form that can be run.

        ``before``, the same program as it was bound before fusion, is not used on the CPU.
        """
        if self._bound is None:
            from .schedule.bound_program import BoundProgram

            self._bound = BoundProgram
        return self._bound(program, self)

    def addresses(self, arrays: "Sequence[np.ndarray]") -> list[int]:
        """Return the address of the first element of each array: what a bound program takes."""
        from .python.array_addresses import addresses

        return addresses(arrays)

    def recorder(self, **plan: Any) -> Any:
        """Return a builtin function that records an operation; see `recorders.recorder`."""
        from .python import recorders

        return recorders.recorder(**plan)

    def capturing_recorder(self, **plan: Any) -> Any:
        """Return a builtin function that records an operation while a function is captured; see
        `recorders.capturing`."""
        from .python import recorders

        return recorders.capturing(**plan)

    def rule_recorder(self, *parts: Any) -> Any:
        """Return a builtin function that applies a rule; see `recorders.applying`."""
        from .python import recorders

        return recorders.applying(*parts)

    def finder(self, *parts: Any) -> Any:
        """Return a builtin function that finds the recorder for given values and options.

        See `recorders.finder`.
        """
        from .python import recorders

        return recorders.finder(*parts)

    def numbered(self, *parts: Any) -> Any:
        """Return what a finder calls where each function reads values by number.

        See `recorders.numbered`.
        """
        from .python import recorders

        return recorders.numbered(*parts)

    def follower(self, *parts: Any) -> Any:
        """Return a builtin function that recognises graphs like an earlier one.

        See `followers.follower`.
        """
        from .python import followers

        return followers.follower(*parts)

    def timed(self, runner: "Runner", count: int) -> "TimedRunner":
        """Return a runner of the same program that times each of its ``count`` instructions."""
        from .machine.profiler import TimedRunner

        return TimedRunner(runner, count)

    @property
    def num_threads(self) -> int:
        """The number of threads of a parallel run."""
        from .platform.threads import get_num_threads

        return get_num_threads()

    def set_num_threads(self, n: int) -> None:
        """Set the number of threads of parallel runs, for the whole process."""
        from .platform.threads import set_num_threads

        set_num_threads(n)

    def threading_layer(self) -> str:
        """Start Numba's threads, and return the name of its threading layer."""
        from .platform.threads import threading_layer

        return threading_layer()

    def l2_bytes(self) -> int:
        """Return the size of one core's L2 cache in bytes."""
        from .machine.scratch import l2_bytes

        return l2_bytes()

    def math(self) -> str:
        """Return the name of the library from which kernels take real ``exp``, ``sin``, ..."""
        from .platform.vector_library import description

        return description()

    def cache_info(self) -> "CacheInfo":
        """Return the directory and the counters of the kernel cache."""
        from .compile.disk_cache import cache_info

        return cache_info()
