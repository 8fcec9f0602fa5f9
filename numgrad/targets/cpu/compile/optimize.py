"""LLVM's part of the work on a fused kernel: link, inline, vectorise loops, emit machine code.

The work needs LLVM alone, so that a process of its own can do it (see `worker`). This file is the
program of that process: it imports nothing of numgrad, and neither Numba nor NumPy, which take long
to start.
"""

import marshal
import sys
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

READY = "ready"
"""The first message of the process."""


class Job(NamedTuple):
    """A kernel whose LLVM code is to become machine code.

    Attributes
    ----------
    text : str
        LLVM code that defines the entries.
    parts : tuple of bytes
        Bit code of the functions that the kernel calls; without parts, ``text`` is optimised
        already.
    symbols : tuple of str
        The names of the entries.
    options : dict
        The options of the target machine.
    vectorise : bool
        Whether LLVM vectorises loops.
    """

    text: str
    parts: tuple[bytes, ...]
    symbols: tuple[str, ...]
    options: dict[str, Any]
    vectorise: bool = True


def finish(job: Job) -> tuple[bytes, tuple[str, ...], bool]:
    """Return a job's object file, its external functions, and whether any process may load it."""
    machine, module = optimised(job)
    return bytes(machine.emit_object(module)), externals(module), is_portable(module)


def optimised(job: Job) -> tuple[Any, Any]:
    """Return LLVM's target machine for a job, and the module of the job, linked and optimised."""
    llvm = _llvm()
    module = llvm.parse_assembly(job.text)
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        **job.options
    )
    if job.parts:
        for part in job.parts:
            module.link_in(llvm.parse_bitcode(part))
        internalise((*module.functions, *module.global_variables), job.symbols)
        _optimise(llvm, machine, module, job.vectorise)
    return machine, module


def _llvm() -> Any:
    from llvmlite import binding  # imported late: `main` sets its path first

    return binding


def _optimise(llvm: Any, machine: Any, module: Any, vectorise: bool) -> None:
    """Run LLVM's passes at level 1 over a module: they inline and, if asked to, vectorise loops.

    A loop around scalar functions gains from no other passes.
    """
    options = llvm.PipelineTuningOptions(speed_level=1)
    options.loop_vectorization, options.slp_vectorization = vectorise, False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def internalise(items: Iterable[Any], symbols: Collection[str]) -> None:
    """Make all definitions internal to their module, except for the entries, ``symbols``.

    Numba numbers versions per process, so callees of two objects from different processes can
    share a name (numba #10486); internal symbols cannot.
    """
    for item in items:
        special = item.name in symbols or item.name.startswith("llvm.")
        if not item.is_declaration and not special:
            item.linkage = "internal"


def externals(module: Any) -> tuple[str, ...]:
    """Return the functions that a module calls and does not define.

    Recursive functions are refused: Numba resolves them when it loads a module, which is not done
    here, and LLVM would end the process.
    """
    variables = (item.name for item in module.global_variables if item.is_declaration)
    if any(name.startswith(".numba.unresolved$") for name in variables):
        raise NotImplementedError("a function that calls itself is not linked: write a loop")
    functions = (item.name for item in module.functions if item.is_declaration)
    return tuple(name for name in functions if not name.startswith("llvm."))


def is_portable(module: Any) -> bool:
    """Whether a module contains no address of this process."""
    variables = (item.name for item in module.global_variables)
    return not any(name.startswith("numba.dynamic.globals") for name in variables)


def main() -> None:
    """Read jobs from the standard input until it is closed; write the answers to the output."""
    sys.path.insert(0, sys.argv[1])  # where llvmlite is
    llvm = _llvm()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    arriving, leaving = sys.stdin.buffer, sys.stdout.buffer
    _send(leaving, READY)
    while True:
        try:
            job = Job(*marshal.load(arriving))
        except EOFError:
            return
        try:
            answer: Any = finish(job)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        _send(leaving, answer)


def _send(stream: Any, message: Any) -> None:
    marshal.dump(message, stream)
    stream.flush()


if __name__ == "__main__":
    main()
