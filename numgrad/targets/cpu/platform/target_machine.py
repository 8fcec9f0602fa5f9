"""LLVM's target machine and passes for kernels, with the options that Numba has for its own code.

All of this is made by llvmlite, of what Numba's settings say: nothing depends on how Numba's own
generator of code is made. The module imports Numba, so it is imported only when a kernel is
compiled.
"""

from functools import cache, reduce
from operator import or_
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir
from numba.core.registry import cpu_target

from .numba_setup import config
from .vector_library import vector_registers


def codegen() -> Any:
    """Return Numba's generator of code for the processor."""
    context: Any = cpu_target.target_context  # a property of Numba's own kind
    return context.codegen()


def new_module(name: str) -> ir.Module:
    """Return an empty module for this processor."""
    return codegen().create_library(name).create_ir_module(name)


@cache
def numba_options() -> dict[str, Any]:
    """Return the options of Numba's target machine, but for the level of optimisation."""
    _, name, features = codegen().magic_tuple()
    architecture = llvm.Target.from_default_triple().name
    relocation = "static" if architecture.startswith("x86") else "default"
    if architecture.startswith("ppc"):
        relocation = "pic"
    return {
        "cpu": name, "features": features, "reloc": relocation, "codemodel": "jitdefault",
        "jit": True,
    }  # fmt: skip


@cache
def target_options() -> dict[str, Any]:
    """Return the options of Numba's target machine, at optimisation level 2.

    LLVM makes the same loops as at Numba's level 3, in three quarters of the time. On Intel's
    processors LLVM keeps to registers of 256 bits unless it is told otherwise.
    """
    options = {"opt": 2, **numba_options()}
    if vector_registers() == 512:
        options["features"] = ",".join(filter(None, (options["features"], "-prefer-256-bit")))
    return options


@cache
def target_machine() -> llvm.TargetMachine:
    """Return LLVM's target machine, for which kernels are compiled."""
    return _machine(target_options())


@cache
def numba_machine() -> llvm.TargetMachine:
    """Return a target machine like Numba's own."""
    return _machine({"opt": config.OPT, **numba_options()})


def _machine(options: dict[str, Any]) -> llvm.TargetMachine:
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(**options)


def optimise(module: llvm.ModuleRef, level: int, *, vectorise: bool = True) -> None:
    """Run LLVM's passes over a module as Numba does.

    With ``vectorise``, loops and straight code become vectors as Numba's settings say; without it,
    loops do not.
    """
    loops = bool(config.LOOP_VECTORIZE) and vectorise
    manager, builder = _passes(level, loops, bool(config.SLP_VECTORIZE))
    _prune(manager)
    manager.run(module, builder)


def prune(module: llvm.ModuleRef) -> None:
    """Inline callees and remove needless reference counting, as Numba does before other passes."""
    manager, builder = _passes(0, False, False)
    if config.OPT != 0:
        manager.add_loop_rotate_pass()
        manager.add_instruction_combine_pass()
        manager.add_jump_threading_pass()
    _prune(manager)
    manager.run(module, builder)


def _passes(level: int, loops: bool, straight: bool) -> tuple[Any, Any]:
    options = llvm.create_pipeline_tuning_options()
    options.speed_level = level
    options.loop_vectorization, options.slp_vectorization = loops, straight
    builder = llvm.create_pass_builder(numba_machine(), options)
    return builder.getModulePassManager(), builder


def _prune(manager: Any) -> None:
    """Add the pass that removes needless reference counting, as Numba's settings say."""
    if config.LLVM_REFPRUNE_PASS:
        words = (word.strip().upper() for word in config.LLVM_REFPRUNE_FLAGS.split(","))
        known = llvm.RefPruneSubpasses.__members__
        manager.add_refprune_pass(reduce(or_, (known[w] for w in words if w in known), 0))
