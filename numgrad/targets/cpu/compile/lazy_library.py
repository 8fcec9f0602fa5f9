"""Code libraries of Numba whose machine code is made when its address is asked for.

Numba makes machine code of every function as soon as the function is compiled. Most functions are
only linked into their callers, as LLVM code, and their own machine code is never run. A long
function is kept apart: its callers call its machine code, and are not linked with its LLVM code,
which would be optimised anew for each of them.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target

from ..platform.numba_internals import has_libraries

_ENVIRONMENT = "_ZN08NumbaEnv"
_UNRESOLVED = ".numba.unresolved$"
_OWN = re.compile(r"_[0-9a-f]{16}B\d+v")  # the digest in a name, and the number behind it
_apart: set[str] = set()


class LazyLibrary(JITCodeLibrary):
    """The code of a function, as LLVM code until one of its functions is asked for.

    Attributes
    ----------
    needs : dict
        The libraries of the functions apart that the code calls, by their keys in the cache.
    keeps_needs : bool
        Whether the cache that keeps the code on disk also keeps the keys of what the code needs;
        Numba's own cache does not.
    """

    _codegen: Any
    keeps_needs = False
    _is_emitted = False
    _key: str | None = None

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.enable_object_caching()
        self.needs: dict[str, LazyLibrary] = {}

    def add_linking_library(self, library: Any) -> None:
        """Link another library into this one; the code of a library that is apart is called."""
        if isinstance(library, LazyLibrary):
            library._ensure_finalized()
            self.needs |= library.needs if library._key is None else {library._key: library}
        super().add_linking_library(library)

    def _get_module_for_linking(self) -> Any:
        if not _is_used():
            return self._whole()
        return llvm.parse_assembly("") if self._key else super()._get_module_for_linking()

    def _whole(self) -> Any:
        """Return the code with that of the functions apart, for a caller that knows neither of
        these nor of environments."""
        self.emit()
        if not self.needs:
            return super()._get_module_for_linking()
        module = super()._get_module_for_linking().clone()
        for library in self.needs.values():
            module.link_in(library._whole(), preserve=True)
        return module

    def _verify_declare_only_symbols(self) -> None:
        missing = [f.name for f in self._final_module.functions if f.is_declaration]
        for name in missing:
            if name.startswith("_ZN5numba") and name not in _apart:
                raise AssertionError(f"Symbol {name} not linked properly")

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True
        names = [variable.name for variable in self._final_module.global_variables]
        if any(name.startswith(_UNRESOLVED) for name in names):
            self.emit()

    def emit(self) -> None:
        """Make machine code, unless that was done before."""
        if self._is_emitted:
            return
        self._is_emitted = True
        for library in self.needs.values():
            library.emit()
        self._dynamic_globals.clear()
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            name = variable.name
            environment = lookup_environment(name) if name.startswith(_ENVIRONMENT) else None
            if environment is not None:
                self._codegen.set_env(name, environment)

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function; 0 if the library does not define the function."""
        self._ensure_finalized()
        if not self._is_emitted:
            functions = {f.name for f in self._final_module.functions if not f.is_declaration}
            if name not in functions:
                return 0
            self.emit()
        return super().get_pointer_to_function(name)

    def _get_compiled_object(self) -> Any:
        self.emit()
        return super()._get_compiled_object()

    @property
    def codegen(self) -> Any:
        """The library itself: Numba calls ``library.codegen.set_env``."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Set the environment of a function; without machine code there is none to set."""
        if self._is_emitted:
            self._codegen.set_env(name, environment)

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        """Return a library with machine code, as Numba does."""
        library = super()._unserialize(codegen, state)
        library.emit()
        return library

    # On disk

    @property
    def is_portable(self) -> bool:
        """Whether other processes may load the code."""
        names = [variable.name for variable in self._final_module.global_variables]
        is_recursive = any(name.startswith(_UNRESOLVED) for name in names)
        return not (self.has_dynamic_globals or is_recursive or self._reload_init)

    def bit_code(self, symbol: str) -> bytes:
        """Return the code as LLVM bit code, with the function ``symbol`` as its entry.

        Numba numbers functions per process, so functions of two processes can share a name, unless
        the name has a digest of the function: others become internal.
        """
        module = self._final_module.clone()
        for function in module.functions:
            if not (function.is_declaration or _OWN.search(function.name)):
                function.linkage = "internal"
        module.get_function(symbol).linkage = "linkonce_odr"
        return module.as_bitcode()

    def set_apart(self, key: str, symbol: str) -> None:
        """Let callers call the machine code of the function ``symbol``."""
        self._key = key
        _apart.add(symbol)

    def serialize_using_object_code(self) -> Any:
        """Return the code for a cache, with that of the functions apart unless the cache keeps
        ``needs`` too."""
        if self.keeps_needs or not self.needs:
            return super().serialize_using_object_code()
        module = self._whole()
        code = bytes(self._codegen._tm.emit_object(module))
        return self.name, "object", (code, module.as_bitcode())

    def machine_code(self) -> bytes | None:
        """Return the machine code of a function apart; None for other functions."""
        return None if self._key is None else self._get_compiled_object()

    @classmethod
    def of_bit_code(
        cls, name: str, code: bytes, needs: "dict[str, LazyLibrary]", machine_code: bytes | None
    ) -> "LazyLibrary":
        """Return the library of what `bit_code` returned; ``machine_code`` is that of a function
        apart."""
        library = cls(_codegen(), name)
        library.needs = needs
        library._final_module = llvm.parse_bitcode(code)
        if machine_code is not None:
            library._set_compiled_object(machine_code)
        library._finalize_final_module()
        return library


def _codegen() -> Any:
    context: Any = cpu_target.target_context
    return context.codegen()


def _is_used() -> bool:
    if not has_libraries():
        return False
    return _codegen()._library_class is LazyLibrary


@contextmanager
def used() -> Iterator[None]:
    """Let Numba make lazy libraries within the ``with`` block; the caller holds Numba's lock.

    A Numba whose libraries are made otherwise keeps its own.
    """
    if not has_libraries():
        yield
        return
    codegen = _codegen()
    before = codegen._library_class
    codegen._library_class = LazyLibrary
    try:
        yield
    finally:
        codegen._library_class = before
