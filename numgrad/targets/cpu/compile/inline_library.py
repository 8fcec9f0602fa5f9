"""Code libraries of Numba for functions that become parts of kernels."""

from functools import cache
from typing import Any

from llvmlite import binding as llvm
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen, JITCodeLibrary

from ..platform.numba_internals import has_libraries
from ..platform.target_machine import codegen


def inline_library(kind: "type[InlineLibrary]", name: str) -> Any:
    """Return a library for the function ``name``: of ``kind``, if Numba's libraries are made as
    numgrad knows them."""
    if has_libraries():
        return kind(codegen(), name)
    return AheadLibrary(_ahead(), name)


@cache
def _ahead() -> AOTCPUCodegen:
    """Return Numba's generator of code that is not loaded, for this processor."""
    return AOTCPUCodegen("numgrad_inline", "host")


class _WithoutAddresses:
    """What Numba asks of a library of whose functions none becomes machine code."""

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0 for the address of a function: no function here becomes machine code."""
        return 0

    @property
    def codegen(self) -> Any:
        """The library itself: Numba calls ``library.codegen.set_env``, which does nothing here."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: only machine code has an environment."""


class InlineLibrary(_WithoutAddresses, JITCodeLibrary):
    """The code of a function, optimised and linked by Numba, but never turned into machine code."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class AheadLibrary(_WithoutAddresses, AOTCodeLibrary):
    """The same in a way that depends on none of Numba's private names; it takes longer."""


class ScalarInlineLibrary(InlineLibrary):
    """The code of a scalar function, optimised only with the kernel that calls it.

    Numba would also optimise the code before the kernel is linked. Scalar functions, with their few
    loops, do not need that step. Core functions need it, and have an `InlineLibrary`: sums over
    rows took up to twice as long where their loops were inlined before they were vectorised.
    """

    def _optimize_functions(self, ll_module: llvm.ModuleRef) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Do nothing: the module is optimised with the kernel."""
