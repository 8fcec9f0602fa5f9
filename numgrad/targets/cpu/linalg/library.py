"""Kernels that call BLAS and LAPACK: their signatures and dtypes, and the routines they need.

The routines are SciPy's, called through their Fortran interface. LLVM knows each routine under a
name with a prefix of numgrad's, so that a kernel on disk refers to routines by name. The code of
the kernels is in `blas` and `lapack`, which import Numba: they are imported only if a kernel is not
in the cache. Kernels for many small matrices of one size (`lapack_unrolled`) call no routine.
"""

import importlib
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np
from llvmlite import binding as llvm

from ....ir.kernel_spec import Dtypes, LibrarySpec, RawSpec
from ..compile.compiler import Code, join_keys, obtain, symbol_of
from ..platform import object_loader
from ..platform.capsules import address_of, name_of
from . import gemm

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
SIGNATURES = {
    "matmul": "(m,k),(k,n)->(m,n)",
    "lu_factor": "(n,n)->(n,n),(n)",
    "lu_solve": "(n,n),(n),(n,k)->(n,k)",
    "solve_triangular": "(n,n),(n,k)->(n,k)",
    "cholesky": "(n,n)->(n,n)",
    "hermitian_reduced": "(n,n)->(n,n)",
    "eigvalsh": "(n,n),(n,n)->(n)",
    "hermitian_vectors": "(n,n),(n,n)->(n),(n,n)",
    "qr": "(m,n)->(m,n),(n,n)",
    "qr_square": "(m,n)->(m,m),(m,n)",
}
ROUTINES = {
    "matmul": ("gemm",),
    "lu_factor": ("getrf",),
    "lu_solve": ("trsm", "swap", "scal"),
    "solve_triangular": ("trsm", "scal"),
    "cholesky": ("potrf",),
    "hermitian_reduced": ("sytrd",),
    "eigvalsh": ("sytrd", "sterf"),
    "hermitian_vectors": ("sytrd", "stedc", "ormtr"),
    "qr": ("geqrf", "orgqr"),
    "qr_square": ("geqrf", "orgqr"),
}
"""The routines that the function of each kernel calls, by their names for real dtypes."""

IN_DOUBLE = ("hermitian_reduced", "eigvalsh", "hermitian_vectors", "qr", "qr_square")
"""The kernels that compute in double precision, whose functions allocate memory to work in."""
_REAL = {"s": "s", "d": "d", "c": "s", "z": "d"}
_BLAS = frozenset(("gemm", "trsm", "swap", "scal"))
_ON_REALS = frozenset(("scal", "sterf", "stedc"))
_OF_COMPLEX = {"sytrd": "hetrd", "ormtr": "unmtr", "orgqr": "ungqr"}
_MEMORY = tuple(object_loader.PYTHON + name for name in ("PyMem_RawMalloc", "PyMem_RawFree"))
_PREFIX = "numgrad_fortran_"
_INT32 = np.dtype(np.int32)


class LibraryKernel(NamedTuple):
    """The name, signature and dtypes of a kernel that calls a library, known without its code."""

    name: str
    signature: str
    in_dtypes: Dtypes
    out_dtypes: Dtypes


def describe(spec: LibrarySpec) -> LibraryKernel:
    """Return the signature and dtypes of the kernel of a spec.

    `lapack.lapack_spec` and `blas.matmul_spec` say what each kernel computes.
    """
    dtype = spec.dtype
    real, wide = np.finfo(dtype).dtype, double(dtype)
    outputs = {
        "lu_factor": (dtype, _INT32), "hermitian_reduced": (wide,), "eigvalsh": (real,),
        "hermitian_vectors": (real, dtype), "qr": (dtype, dtype), "qr_square": (dtype, dtype),
    }.get(spec.name, (dtype,))  # fmt: skip
    inputs = {
        "lu_factor": (dtype,), "cholesky": (dtype,), "lu_solve": (dtype, _INT32, dtype),
        "hermitian_reduced": (dtype,), "eigvalsh": (dtype, wide),
        "hermitian_vectors": (dtype, wide), "qr": (dtype,), "qr_square": (dtype,),
    }.get(spec.name, (dtype, dtype))  # fmt: skip
    return LibraryKernel(spec.name, SIGNATURES[spec.name], inputs, outputs)


def double(dtype: np.dtype) -> np.dtype:
    """Return the dtype of the same kind in double precision."""
    return np.result_type(dtype, np.float64)


def address(spec: LibrarySpec) -> int:
    """Return the address of the kernel of a spec, which is compiled if it is not in the cache."""
    identity = (*spec.identity[:2], spec.dtype.name, *spec.identity[3:])
    key = join_keys((), repr(identity))

    def unrolled() -> Code:
        from .lapack_unrolled import factorization  # it imports Numba

        options = spec.core or (), spec.lower, spec.adjoint
        return factorization(spec.name, gemm.geometry(spec.dtype), *options, symbol_of(key))

    def compiled() -> Code | int:
        from ..codegen.object_files import compile_object
        from ..compile.intrinsics import KERNEL_ARGS

        return compile_object(_raw(spec).function, KERNEL_ARGS, key)

    return obtain(key, compiled if spec.core is None else unrolled)


def _raw(spec: LibrarySpec) -> RawSpec:
    from . import blas, lapack

    if spec.name == "matmul":
        return blas.matmul_spec(spec.dtype)
    return lapack.lapack_spec(spec.name, spec.dtype, spec.lower, spec.adjoint)


# Routines


def symbol(dtype: np.dtype, routine: str) -> str:
    """Return the name under which LLVM knows a routine of BLAS or LAPACK for a dtype.

    A routine that kernels call with real numbers alone is that for the real dtype of the same
    precision.
    """
    letter = LETTERS[dtype.name]
    if routine in _ON_REALS:
        return _PREFIX + _REAL[letter] + routine
    return _PREFIX + letter + (_OF_COMPLEX.get(routine, routine) if letter in "cz" else routine)


def symbols(name: str, dtype: np.dtype) -> tuple[str, ...]:
    """Return the names of what the function of a kernel calls: routines, and for some memory."""
    if name in IN_DOUBLE:
        return (*[symbol(double(dtype), routine) for routine in ROUTINES[name]], *_MEMORY)
    return tuple(symbol(dtype, routine) for routine in ROUTINES[name])


def _provide(names: Iterable[str]) -> None:
    """Tell LLVM the addresses of SciPy's routines that have these names; skip other names.

    Raises
    ------
    ImportError
        If SciPy's library has 64-bit sizes, which kernels do not pass.
    """
    for alias in _ALIASES.intersection(names):
        name = alias.removeprefix(_PREFIX)
        module = "scipy.linalg.cython_" + ("blas" if name[1:] in _BLAS else "lapack")
        capsule = importlib.import_module(module).__pyx_capi__[name]
        if b"int *" not in name_of(capsule):
            raise ImportError(
                f"{module} was built with 64-bit integers, which numgrad does not support"
            )
        llvm.add_symbol(alias, address_of(capsule))


_ALIASES = {symbol(np.dtype(x), name) for x in LETTERS for name in chain(*ROUTINES.values())}
object_loader.add_symbol_provider(_provide, _ALIASES.__contains__)
