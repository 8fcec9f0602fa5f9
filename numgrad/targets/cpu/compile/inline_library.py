"""Functions that only kernels call, which are compiled as parts of these."""

from typing import Any

from llvmlite import binding as llvm
from numba.core.codegen import JITCodeLibrary


class Part(JITCodeLibrary):
    """Numba's code of a function, optimised and linked as always, but not made machine code."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, as a library does that has no function of the name."""
        return 0

    @property
    def codegen(self) -> Any:
        """Where Numba looks for the environment of a function that Python calls."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Forget the environment, which belongs to machine code."""


class ScalarPart(Part):
    """The same, not even optimised before what calls it is: Numba would do it twice.

    For functions with few loops: sums over rows took up to twice as long where their loops were
    inlined before they were made vectors.
    """

    def _optimize_functions(self, ll_module: llvm.ModuleRef) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Leave it to the kernel."""
