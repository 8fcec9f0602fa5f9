"""Whether this Numba has the private names that let numgrad compile faster.

Numba may give its private names up in any version. Where one is missing, that which needs the name
is left out, and Numba's own way is taken: slower, with the same numbers. The page on private names
in the documentation lists them all.
"""

from functools import cache
from typing import Any

_OF_LIBRARIES = (
    "_codegen", "_dynamic_globals", "_ensure_finalized", "_final_module",
    "_finalize_dynamic_globals", "_finalize_final_module", "_finalized", "_get_compiled_object",
    "_get_module_for_linking", "_linking_libraries", "_optimize_final_module",
    "_optimize_functions", "_reload_init", "_set_compiled_object", "_unserialize",
    "_verify_declare_only_symbols",
)  # fmt: skip
_OF_CODE_GENERATORS = ("_data_layout", "_library_class", "_tm")


def has(owner: Any, *names: str) -> bool:
    """Whether an object has all attributes of some names."""
    return all(hasattr(owner, name) for name in names)


@cache
def has_libraries() -> bool:
    """Whether Numba's code libraries have what numgrad's own kinds of them replace and read."""
    from .target_machine import codegen

    library = codegen().create_library("numgrad_names")
    return has(library, *_OF_LIBRARIES) and has(codegen(), *_OF_CODE_GENERATORS)


@cache
def has_cached_results() -> bool:
    """Whether results of Numba's compiler can be taken apart, to be kept, and put together again.
    """
    from numba.core.compiler import CompileResult

    names = ("_find_referenced_environments", "_rebuild", "_reduce")
    return has_libraries() and has(CompileResult, *names)
