"""The platform's vector library: its functions, and the lanes of a vector on this processor.

On x86-64 Linux the library is libmvec, a part of glibc. Before glibc 2.35 it had exp, log, sin, cos
and pow alone, so each function is looked up. Some functions come from `avx512`. Other platforms
have no vector library, and kernels call libm.
"""

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from llvmlite import binding as llvm

from numgrad._settings import settings

from . import avx512, object_loader
from .numba_setup import config

SONAME = "libmvec.so.1"

PREFIX = "numgrad_simd_"
"""The prefix of the functions by which kernels call the library, the same in every kernel."""

_OF_ONE = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "erf", "erfc",
)  # fmt: skip
ARGUMENTS: Mapping[str, int] = dict.fromkeys(_OF_ONE, 1) | {"pow": 2, "atan2": 2, "hypot": 2}
"""Functions that kernels take from the vector library, with the number of their arguments."""

_WIDE = (
    "znver", "knl", "knm", "icelake", "tigerlake", "rocketlake", "sapphirerapids", "emeraldrapids",
    "graniterapids", "diamondrapids",
)  # fmt: skip
"""How LLVM's names of processors begin whose loops use registers of 512 bits: AMD's, Xeon Phi, and
Intel's since Ice Lake. Before, such registers lowered the clock."""

_REGISTERS = {"e": 512, "d": 256}
"""Bits of a vector register, by the letter that stands for an instruction set in a symbol."""


@dataclass(frozen=True)
class VectorLibrary:
    """The functions of a vector library for registers of one width.

    Attributes
    ----------
    isa : str
        The letter of the instruction set: ``d`` AVX2, ``e`` AVX-512.
    missing : frozenset of str
        Symbols that this version does not have.
    """

    isa: str
    missing: frozenset[str] = frozenset()

    def lanes(self, bits: int) -> int:
        """Return the number of elements of ``bits`` bits in a register."""
        return _REGISTERS[self.isa] // bits

    def symbol(self, function: str, bits: int) -> str:
        """Return the name of the vector variant of a function: that of `avx512`, or the vector
        ABI's."""
        ours = avx512.symbol_of(function, bits)
        if ours is not None and self.isa == "e":
            return ours
        suffix = "f" if bits == 32 else ""
        arguments = "v" * ARGUMENTS[function]
        return f"_ZGV{self.isa}N{self.lanes(bits)}{arguments}_{function}{suffix}"

    def variant(self, function: str, bits: int) -> str | None:
        """Return the name of the vector variant of a function; None if the library does not have
        it."""
        symbol = self.symbol(function, bits)
        return None if symbol in self.missing else symbol

    def __str__(self) -> str:
        total = 2 * len(ARGUMENTS)
        return (
            f"libmvec ({'AVX-512' if self.isa == 'e' else 'AVX2'}, "
            f"{self.lanes(64)} lanes float64, {self.lanes(32)} float32; "
            f"{total - len(self.missing)} of {total} functions)"
        )


@cache
def vector_library() -> VectorLibrary | None:
    """Return the vector library that kernels call in this process, None where there is none."""
    isa = _instruction_set(_processor(), _features())
    if isa is None or not load():
        return None
    symbols = {VectorLibrary(isa).symbol(name, bits) for name in ARGUMENTS for bits in (32, 64)}
    theirs = symbols.difference(avx512.SYMBOLS)
    return VectorLibrary(isa, frozenset(x for x in theirs if llvm.address_of_symbol(x) is None))


@cache
def vector_registers() -> int:
    """Return the bits of the vector registers that the loops of this process use."""
    return _REGISTERS.get(_instruction_set(_processor(), _features()) or "", 128)


def load() -> bool:
    """Tell LLVM the functions of the vector library; return False where there is no such library.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    try:
        llvm.load_library_permanently(SONAME)
    except RuntimeError:  # a C library without it
        return False
    return True


def identity() -> str:
    """Return the vector library as a text for the keys of kernels that depend on the library."""
    library = vector_library()
    return "no vector library" if library is None else repr((library.isa, sorted(library.missing)))


def description() -> str:
    """Describe in words where kernels take functions of ``math`` from, with the reason if from
    libm."""
    library = vector_library()
    if settings.math == "libm":
        return "scalar libm, as the setting math says"
    return "scalar libm, as there is no vector library" if library is None else str(library)


def _processor() -> str:
    return config.CPU_NAME or llvm.get_host_cpu_name()


def _features() -> frozenset[str]:
    """Return the features of the processor for which code is compiled, as Numba chooses them."""
    if config.CPU_FEATURES is not None:
        given = config.CPU_FEATURES.split(",")
        return frozenset(name[1:] for name in given if name.startswith("+"))
    try:
        host = llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM knows no features of this processor
        return frozenset()
    return frozenset(
        name for name, has in host.items()
        if has and (config.ENABLE_AVX or not name.startswith("avx"))
    )  # fmt: skip


def _instruction_set(processor: str, features: frozenset[str]) -> str | None:
    """Return the letter of the instruction set whose registers loops use, or None."""
    if {"avx512f", "avx512dq"} <= features and processor.startswith(_WIDE):
        return "e"
    return "d" if {"avx2", "fma"} <= features else None


object_loader.add_symbol_provider(lambda _: load())
