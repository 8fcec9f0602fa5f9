"""Machine code of chains, written in assembly language: for x86-64 with AVX2 or AVX-512.

LLVM's assembler turns the text into bytes; none of its optimisers sees it, so it takes little more
than a microsecond for an instruction. Each step of the code works on two vectors, with AVX2 on one:
while an operation on the one waits for its operands, the processor goes on with the other.

The code is a function of the address of a table: how many bytes of each operand there are, where
the chain's numbers and slots are, then the addresses of the operands in memory.
"""

import weakref
from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np
from llvmlite import binding as llvm

from . import interrupts, room
from .links import vector_bytes
from .registers import Allocation, Do, Place
from .toolchain import compiler_lock

TABLE_BYTES, TABLE_SPACE, TABLE_OPERANDS = range(3)
"""Words of the table."""

_SYMBOL = "numgrad_chain"
_SAVED = ("rbx", "r12", "r13")
# Bytes that are on their way from memory while others are computed.
_AHEAD = 1024
_LINE = 64


def interleaved() -> int:
    """Return on how many vectors each step works."""
    return 2 if vector_bytes() == 64 else 1


def registers() -> int:
    """Return how many registers there are for values, each as wide as a step works on."""
    return (32 if vector_bytes() == 64 else 16) // interleaved()


def step_bytes() -> int:
    """Return on how many bytes of each operand a step works."""
    return interleaved() * vector_bytes()


class Code:
    """Machine code in memory, which it is as long as this object lives.

    Attributes
    ----------
    address : int
    """

    def __init__(self, text: str) -> None:
        escaped = text.replace("\n", "\\0A")
        module = f'module asm "{escaped}"\ndeclare void @{_SYMBOL}(i64)\n'
        # Interrupted between two calls of LLVM, llvmlite would free what LLVM has freed.
        with compiler_lock, interrupts.held():
            room.require(room.LOAD, "assemble a chain")
            while _unused:
                _unused.pop().close()
            module = f'target triple = "{llvm.get_process_triple()}"\n{module}'
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(module), _machine())
            weakref.finalize(self, _unused.append, engine).atexit = False
            engine.finalize_object()
            self.address = engine.get_function_address(_SYMBOL)


# Engines whose code is gone. They are closed when the next one is made: an object may end at any
# time, in any thread, where one can wait neither for the lock nor for Ctrl-C.
_unused: list[llvm.ExecutionEngine] = []


def _machine() -> llvm.TargetMachine:
    """Return what an engine takes over as its own."""
    features = "+avx512f,+avx512dq" if vector_bytes() == 64 else "+avx2"
    return _target().create_target_machine(features=features, opt=0, jit=True)


@cache
def _target() -> llvm.Target:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm.Target.from_default_triple()


def assembly(allocation: Allocation, dtype: np.dtype, numbers: int, moving: Sequence[int]) -> str:
    """Return the code of a chain in assembly language.

    Parameters
    ----------
    numbers : int
        How many vectors of one number precede the slots.
    moving : sequence of int
        The operands in memory in the order of the table, inputs and outputs.
    """
    return "\n".join(_Writer(dtype, numbers, moving).lines(allocation))


class _Writer:
    """Writes the code of one chain."""

    def __init__(self, dtype: np.dtype, numbers: int, moving: Sequence[int]) -> None:
        self.letters, self.integer = ("pd", "q") if dtype.itemsize == 8 else ("ps", "d")
        self.vector = vector_bytes()
        self.name = "zmm" if self.vector == 64 else "ymm"
        self.slots = numbers * self.vector
        self.moving = {k: 8 * (TABLE_OPERANDS + n) for n, k in enumerate(moving)}

    def lines(self, allocation: Allocation) -> Iterator[str]:
        yield from (".text", f".globl {_SYMBOL}", ".p2align 4", f"{_SYMBOL}:")
        yield from (f"push %{name}" for name in _SAVED)
        yield "mov %rdi, %r13"
        yield f"mov {8 * TABLE_SPACE}(%r13), %r12"
        yield from ("xor %ebx, %ebx", ".p2align 4", ".Lstep:")
        for place in self.moving.values():
            yield f"mov {place}(%r13), %rax"
            for line in range(0, step_bytes(), _LINE):
                yield f"prefetcht0 {_AHEAD + line}(%rax,%rbx)"
        for do in allocation.code:
            yield from self._step(do)
        yield f"add ${step_bytes()}, %rbx"
        yield f"cmp {8 * TABLE_BYTES}(%r13), %rbx"
        yield "jb .Lstep"
        yield from (f"pop %{name}" for name in reversed(_SAVED))
        yield from ("vzeroupper", "ret")

    def _step(self, do: Do) -> Iterator[str]:
        if do.name == "call":
            yield from self._call(do)
            return
        yield from (line for place in (*do.sources, do.target) if (line := self._address(place)))
        name, _, number = do.name.partition(" ")
        writes = {
            "load": partial(self._plain, "movu"),
            "store": partial(self._plain, "movu"),
            "cmp": partial(self._compare, number),
            "choose": partial(self._choose, number),
            "blend": self._blend,
        }.get(name) or partial(self._plain, name)
        for n in range(interleaved()):
            yield from writes(*(self._operand(p, n) for p in (*do.sources[::-1], do.target)))

    def _plain(self, name: str, *operands: str) -> Iterator[str]:
        yield f"v{name}{self.letters} {', '.join(operands)}"

    def _compare(self, number: str, *operands: str) -> Iterator[str]:
        """Compare; with AVX-512 to one of its masks, which becomes a vector like any other."""
        if self.vector == 32:
            yield f"vcmp{self.letters} {number}, {', '.join(operands)}"
            return
        *sources, target = operands
        yield f"vcmp{self.letters} {number}, {', '.join(sources)}, %k1"
        yield f"vpmovm2{self.integer} %k1, {target}"

    def _choose(self, number: str, true: str, false: str, *operands: str) -> Iterator[str]:
        """Compare and choose by the mask at once, which only AVX-512 has."""
        *compared, target = operands
        yield f"vcmp{self.letters} {number}, {', '.join(compared)}, %k1"
        yield f"vblendm{self.letters} {true}, {false}, {target} {{%k1}}"

    def _blend(self, true: str, false: str, mask: str, target: str) -> Iterator[str]:
        if self.vector == 32:
            yield f"vblendv{self.letters} {mask}, {true}, {false}, {target}"
            return
        yield f"vpmov{self.integer}2m {mask}, %k1"
        yield f"vblendm{self.letters} {true}, {false}, {target} {{%k1}}"

    def _call(self, do: Do) -> Iterator[str]:
        for n in range(interleaved()):
            for k, place in enumerate(do.sources):
                if line := self._address(place):
                    yield line
                yield f"vmovu{self.letters} {self._operand(place, n)}, %{self.name}{k}"
            yield f"movabs ${do.address}, %rax"
            yield "call *%rax"
            yield f"vmovu{self.letters} %{self.name}0, {self._operand(do.target, n)}"

    def _address(self, place: Place) -> str:
        """Return what brings the address of an operand of the chain to a register."""
        kind, number = place
        return f"mov {self.moving[number]}(%r13), %rax" if kind == "operand" else ""

    def _operand(self, place: Place, n: int) -> str:
        """Return the operand for vector ``n`` of a step."""
        kind, number = place
        if kind == "register":
            return f"%{self.name}{number * interleaved() + n}"
        if kind == "operand":
            return f"{n * self.vector}(%rax,%rbx)"
        if kind == "number":
            return f"{number * self.vector}(%r12)"
        return f"{self.slots + (number * interleaved() + n) * self.vector}(%r12)"
