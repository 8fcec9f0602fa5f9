"""``python -m numgrad warm --capability 9.0 program.py``: fill the kernel cache for an absent GPU.

The program runs as it would on a machine with the GPU: its programs for the device are lowered and
fused, and their kernels are compiled. Nobody launches these kernels: the processor computes. What
launches kernels without Python is compiled as well, for the processor of this machine.
"""

import os
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from numgrad.engine.lower.executable import watch
from numgrad.engine.record.apply import mode, other_modes, runtime
from numgrad.targets.cpu import CPUTarget
from numgrad.targets.cuda import StandIn
from numgrad.targets.cuda.launch.entry import compile_here
from numgrad.targets.cuda_rehearsal.driver import AbsentGPU, on_host
from numgrad.targets.cuda_rehearsal.target import RehearsalTarget

from .warm import described

_PACKAGES = ("numba_cuda", "cuda.core")


class Rehearsal:
    """Runs programs of a GPU that is not there on the processor, in place of `Bound.run`.

    Each program is fused before its first run, so that the kernels of both of its forms are
    compiled.
    """

    def __init__(self) -> None:
        self._here: dict[int, tuple[Any, Any]] = {}  # by the id of the program, which is kept

    def run(self, plan: Any, bound: Any, arrays: Sequence[Any]) -> Any:
        """Run a program; the engine calls this method."""
        if not isinstance(plan.target, RehearsalTarget):
            return bound.run(arrays)
        program = plan.program
        if id(program) not in self._here:
            self._here[id(program)] = program, plan.target.bound_here(program)
            if plan.fusion is not None:
                plan.fuse()
        here = self._here[id(program)][1]
        given = dict(zip(bound.arguments, arrays, strict=False))
        results = arrays[len(bound.arguments) :]
        return here.run([on_host(a) for a in (*[given[n] for n in here.arguments], *results)])


@contextmanager
def rehearsing(capability: tuple[int, int], processors: int) -> Iterator[AbsentGPU]:
    """Let this process have a GPU of a compute capability that is not there, as ``"cuda:0"``."""
    driver, before = AbsentGPU(capability, processors), watch.current
    StandIn.current = driver
    target = RehearsalTarget(driver, runtime.target, lambda: mode.stream, other_modes)
    runtime.targets[target.name] = target
    watch.current = Rehearsal()
    try:
        yield driver
    finally:
        watch.current, StandIn.current = before, None
        del runtime.targets[target.name]


def run(capability: tuple[int, int], processors: int, command: Sequence[str]) -> int:
    """Run a program or a module with its arguments, and print a summary; 0 if all went well."""
    if problem := _problem(command):
        print(problem, file=sys.stderr)
        return 2
    began = perf_counter()
    with rehearsing(capability, processors) as driver:
        status = _run(command)
    compile_here()
    directory = CPUTarget().cache_info().directory
    facts = [
        ("compiled", f"{driver.compiled} kernels for compute capability {_text(capability)}"),
        ("from the cache", str(driver.found)),
        ("time", f"{perf_counter() - began:.1f} s"),
        ("cache", described(directory)),
    ]
    if driver.unkept:
        facts.insert(2, ("not kept", f"{driver.unkept} kernels, which each process compiles"))
    for name, fact in facts:
        print(f"{name:<16}{fact}")
    return status if directory else status or 1


def _text(capability: tuple[int, int]) -> str:
    return ".".join(map(str, capability))


def _problem(command: Sequence[str]) -> str | None:
    """Return why kernels cannot be compiled here, or no program can be run; None if all is there.
    """
    from numgrad.targets.cuda.device.available import is_installed

    if not command or command == ["-m"]:
        return "--capability: give the program whose kernels are wanted: program.py, or -m module"
    if not all(map(is_installed, _PACKAGES)):
        return "--capability: the compilers of CUDA are missing: pip install 'numgrad[cuda13]'"
    return None


def _run(command: Sequence[str]) -> int:
    """Run a program as the main one; return its exit status."""
    is_module = command[0] == "-m"
    name, *given = command[1:] if is_module else command
    before, sys.argv = sys.argv, [name, *given]
    try:
        if is_module:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, os.path.dirname(os.path.abspath(name)))
            runpy.run_path(name, run_name="__main__")
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = before
    return 0


__all__ = ["rehearsing", "run"]
