"""LLVM's part of the work on a fused kernel: link, inline, make loops vectors, emit machine code.

It needs LLVM alone. So it can be done in a process of its own, which this file is the program of;
see `worker`. It imports nothing of numgrad, and neither Numba nor NumPy, which take long to start.
"""

import marshal
import sys
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

READY = "ready"
"""What the process says first."""


class Job(NamedTuple):
    """A kernel to be finished.

    Attributes
    ----------
    text : str
        LLVM code that defines the entries.
    parts : tuple of bytes
        Bit code of what it calls; with none, the code is optimised already.
    symbols : tuple of str
        The entries.
    options : dict
        Of the target machine.
    vectorise : bool
        Whether loops become loops over vectors.
    """

    text: str
    parts: tuple[bytes, ...]
    symbols: tuple[str, ...]
    options: dict[str, Any]
    vectorise: bool = True


def finish(job: Job) -> tuple[bytes, tuple[str, ...], bool]:
    """Return the object file, the functions that it calls, and whether any process may load it."""
    machine, module = optimised(job)
    return bytes(machine.emit_object(module)), externals(module), is_portable(module)


def optimised(job: Job) -> tuple[Any, Any]:
    """Return the target machine and the module of which it makes machine code."""
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
    from llvmlite import binding  # where the process finds it is known when it runs

    return binding


def _optimise(llvm: Any, machine: Any, module: Any, vectorise: bool) -> None:
    """Inline and vectorise: all that a loop around scalar functions gains from."""
    options = llvm.PipelineTuningOptions(speed_level=1)
    options.loop_vectorization, options.slp_vectorization = vectorise, False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def internalise(items: Iterable[Any], symbols: Collection[str]) -> None:
    """Hide everything that is defined but the entries.

    Numba numbers versions per process, so callees of two objects from different processes can
    share a name (numba #10486); internal symbols cannot.
    """
    for item in items:
        special = item.name in symbols or item.name.startswith("llvm.")
        if not item.is_declaration and not special:
            item.linkage = "internal"


def externals(module: Any) -> tuple[str, ...]:
    """Return the functions that a module calls and does not have.

    Numba looks for those that call themselves when it loads a module. Here nobody does, and LLVM
    would end the process.
    """
    variables = (item.name for item in module.global_variables if item.is_declaration)
    if any(name.startswith(".numba.unresolved$") for name in variables):
        raise NotImplementedError("a function that calls itself is not linked: write a loop")
    functions = (item.name for item in module.functions if item.is_declaration)
    return tuple(name for name in functions if not name.startswith("llvm."))


def is_portable(module: Any) -> bool:
    """Whether no address of this process is part of a module."""
    variables = (item.name for item in module.global_variables)
    return not any(name.startswith("numba.dynamic.globals") for name in variables)


def main() -> None:
    """Finish jobs that arrive on the standard input until it is closed."""
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
