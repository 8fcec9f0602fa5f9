"""Code libraries of Numba for functions that become parts of kernels."""

from typing import Any

from llvmlite import binding as llvm
from numba.core.codegen import JITCodeLibrary


class InlineLibrary(JITCodeLibrary):
    """The code of a function, optimised and linked by Numba, but never turned into machine code."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0 for the address of a function: no function here becomes machine code."""
        return 0

    @property
    def codegen(self) -> Any:
        """The library itself: Numba calls ``library.codegen.set_env``, which does nothing here."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: only machine code has an environment."""


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
