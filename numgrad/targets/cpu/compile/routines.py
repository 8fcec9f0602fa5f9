"""Routines: functions of this package that are compiled once for all programs and kernels.

The key of a routine has only its name, because the sources of the package are part of every key. So
a process that finds a routine in the cache imports neither the module of its source nor Numba.
"""

from functools import cache
from importlib import import_module
from pathlib import Path

from llvmlite import binding as llvm

from ..platform import object_loader
from ..platform.avx512 import SYMBOLS, module_of
from .compiler import Code, join_keys, obtain, symbol_of

GATHER, SCATTER, COPY = "numgrad_gather", "numgrad_scatter", "numgrad_copy"
"""Names under which kernels call the routines of `copy_loops`."""

MATMUL = "numgrad_matmul"
LAPACK = {
    name: "numgrad_" + name for name in ("lu_factor", "lu_solve", "solve_triangular", "cholesky")
}
TRIDIAGONAL = {
    name: "numgrad_" + name for name in ("hermitian_reduced", "eigvalsh", "hermitian_vectors")
}
ORTHOGONAL = {name: "numgrad_" + name for name in ("qr", "qr_square")}
"""Names under which kernels call the functions of `blas`, `lapack`, `tridiagonal` and `orthogonal`
that serve all dtypes."""

_CPU = (__package__ or "").rpartition(".")[0]

NUMPY_LOOP = "numgrad_numpy_loop"
"""Name under which kernels call the routine that calls NumPy's loops."""


@cache
def address_of(module: str, name: str, returns: bool = False, parallel: bool = False) -> int:
    """Return the address of a function of a module of `targets.cpu`, compiled or loaded.

    The function takes words (int64), and returns one word or, unless ``returns``, nothing. A module
    of another target has a dot in front of its name.
    """
    parts = ("routine", module, name, returns, parallel, *_source(module))
    key = join_keys((), repr(parts))

    def compiled() -> Code | int:
        from ..codegen.object_files import compile_routine  # it imports Numba

        function = getattr(import_module(f".{module}", _CPU), name)
        return compile_routine(function, key, returns, parallel)

    return obtain(key, compiled)


def _source(module: str) -> tuple[str, ...]:
    """Return what the key of a routine has of the sources of its folder.

    That is nothing for this package, whose sources are part of every key.
    """
    if not module.startswith("."):
        return ()
    folder = Path(__file__).parents[2].joinpath(*module.split(".")[:-1])
    return tuple([path.read_text("utf-8") for path in sorted(folder.glob("*.py"))])


@cache
def vector_function(symbol: str) -> int:
    """Return the address of a function of `avx512`, compiled or loaded."""
    key = join_keys((), repr(("vector function", symbol)))

    def compiled() -> Code:
        from ..codegen.object_files import code_of
        from ..platform.target_machine import target_machine  # it imports Numba

        name = symbol_of(key)
        module = llvm.parse_assembly(module_of(symbol, name))
        return code_of(target_machine(), module, name)

    return obtain(key, compiled)


def prepare() -> None:
    """Compile or load the routines that programs and kernels share."""
    for name in ("work", "loops"):
        address_of("machine.interpreter", name, returns=True)
    address_of("machine.interpreter", "work_in_parallel", returns=True, parallel=True)
    address_of("machine.entry_compiled", "enter", returns=True)
    address_of("python.recorder_code", "record", returns=True)
    address_of("python.capture_code", "record", returns=True)
    address_of("python.capture_code", "apply", returns=True)
    address_of("python.finder_code", "step", returns=True)
    address_of("python.follower_code", "follow", returns=True)
    address_of("ufunc.ufunc_loop", "trampoline")
    for name in ("gather", "scatter", "copy"):
        address_of("codegen.copy_loops", name)


def _provide(symbol: str, module: str, name: str) -> None:
    """Make a routine known to LLVM under a symbol, by which kernels call it."""
    llvm.add_symbol(symbol, address_of(module, name))


def _provide_vectors(symbol: str) -> None:
    llvm.add_symbol(symbol, vector_function(symbol))


_copies = {"gather": GATHER, "scatter": SCATTER, "copy": COPY}
_known = [(symbol, "codegen.copy_loops", name) for name, symbol in _copies.items()]
_known += [(MATMUL, "linalg.blas", "matmul"), (NUMPY_LOOP, "ufunc.numpy_loop_code", "call_loop")]
_known += [(symbol, "linalg.lapack", name) for name, symbol in LAPACK.items()]
_known += [(symbol, "linalg.tridiagonal", name) for name, symbol in TRIDIAGONAL.items()]
_known += [(symbol, "linalg.orthogonal", name) for name, symbol in ORTHOGONAL.items()]
for _item in _known:
    object_loader.add_symbol_provider(lambda _, item=_item: _provide(*item), _item[0].__eq__)
for _symbol in SYMBOLS:
    object_loader.add_symbol_provider(
        lambda _, name=_symbol: _provide_vectors(name), _symbol.__eq__
    )
