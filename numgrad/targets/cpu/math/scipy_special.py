"""The functions of ``scipy.special.cython_special``, found when a kernel needs one.

A function of a fused type of Cython is several C functions. They are numbered, but differently in
each version of SciPy: so a kernel's function is found by its C signature. These functions neither
take the GIL nor raise, unless ``scipy.special.seterr`` asks for warnings or errors.
"""

import importlib
import re
from collections.abc import Iterable

from llvmlite import binding as llvm

from numgrad._declare.foreign import PREFIX

from ..platform import object_loader
from ..platform.capsules import address_of, name_of

MODULE = "scipy.special.cython_special"
_KINDS = {"d": "double", "z": "__pyx_t_double_complex", "n": "Py_ssize_t"}


def provide(names: Iterable[str]) -> None:
    """Tell LLVM the addresses of SciPy's functions that these symbols name; skip other symbols.

    Raises
    ------
    ImportError
        For a function that the installed SciPy does not have.
    """
    for symbol in names:
        if symbol.startswith(PREFIX):
            name, kinds, results, count = symbol.removeprefix(PREFIX).split(":")
            wanted = signature(kinds, results, int(count))
            llvm.add_symbol(symbol, _find(name, wanted))


def signature(kinds: str, results: str, count: int) -> str:
    """Return the beginning of the C signature by which a function is found; options may follow.

    ``kinds`` has a letter for each argument, and ``results`` for each result, as in
    `ForeignFunction`; ``count`` results are written through pointers, and with 0 the result is
    returned.
    """
    arguments = [_KINDS[kind] for kind in kinds]
    if count:
        return f"void ({', '.join([*arguments, *(f'{_KINDS[kind]} *' for kind in results)])})"
    return f"{_KINDS[results]} ({', '.join(arguments)}, int __pyx_skip_dispatch"


def _find(name: str, wanted: str) -> int:
    """Return the address of the function ``name`` whose C signature begins as ``wanted``."""
    pattern = re.compile(rf"(__pyx_fuse_(\d+_)?\d+)?{name}")
    for key, capsule in importlib.import_module(MODULE).__pyx_capi__.items():
        if pattern.fullmatch(key) and name_of(capsule).decode().startswith(wanted):
            return address_of(capsule)
    raise ImportError(f"{MODULE} of the installed SciPy has no function {name} of type {wanted!r}")


object_loader.add_symbol_provider(provide, lambda name: name.startswith(PREFIX))
