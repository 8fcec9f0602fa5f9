"""Kernels that call BLAS and LAPACK: their signatures and dtypes, and the routines they need.

The routines are SciPy's, called through their Fortran interface. LLVM knows each routine under a
name with a prefix of numgrad's, so that a kernel on disk refers to routines by name. The code of
the kernels is in `blas` and `lapack`, which import Numba: they are imported only if a kernel is not
in the cache. Kernels for many small matrices of one size (`lapack_unrolled`) call no routine.
"""

import importlib
from collections.abc import Iterable
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
}
ROUTINES = {
    "matmul": ("gemm",),
    "lu_factor": ("getrf",),
    "lu_solve": ("trsm", "swap", "scal"),
    "solve_triangular": ("trsm", "scal"),
    "cholesky": ("potrf",),
}
_REAL = {"s": "s", "d": "d", "c": "s", "z": "d"}
_BLAS = frozenset(("gemm", "trsm", "swap", "scal"))
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
    outputs = {"lu_factor": (dtype, _INT32)}.get(spec.name, (dtype,))
    inputs = {"lu_factor": (dtype,), "cholesky": (dtype,), "lu_solve": (dtype, _INT32, dtype)}
    given = inputs.get(spec.name, (dtype, dtype))
    return LibraryKernel(spec.name, SIGNATURES[spec.name], given, outputs)


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


def symbol(dtype: np.dtype, routine: str, real: bool = False) -> str:
    """Return the name under which LLVM knows a routine of BLAS or LAPACK for a dtype.

    With ``real`` the routine is that for the real dtype of the same precision.
    """
    letter = LETTERS[dtype.name]
    return _PREFIX + (_REAL[letter] if real else letter) + routine


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


_ALIASES = {_PREFIX + x + name for names in ROUTINES.values() for name in names for x in "sdcz"}
object_loader.add_symbol_provider(_provide, _ALIASES.__contains__)
