"""Kernels: functions of operators, compiled for given dtypes and called by address.

Every kernel is ``void(intp* ptrs, intp n, intp* core_dims, intp* steps, intp* status)``, which is
NumPy's inner loop of a generalized ufunc but for the status. ``ptrs`` has the addresses of the
operands, inputs then outputs; ``n`` is the length of the loop; ``core_dims`` has the sizes of the
core dimensions; ``steps`` has the byte strides of the operands along the loop, then those of their
core dimensions. ``status[0]`` stays 0, or becomes 1 plus the index at which the operator's function
raised.
"""

import threading
from typing import Any, TypeAlias

import numpy as np

from ...._settings import CHOICES, settings
from ....ir.kernel_spec import (
    CompiledSpec,
    ElementwiseSpec,
    FusedSpec,
    HostSpec,
    LibrarySpec,
    LoopSpec,
    ProductSpec,
    RawSpec,
    RolledSpec,
    Spec,
    core_dimensions,
)
from ..codegen import scalar_graph
from ..compile import cache_keys
from ..compile import disk_cache as disk
from ..compile.compiler import Code, load_or_compile, obtain, symbol_of
from ..linalg import gemm, library
from ..linalg.library import LibraryKernel
from ..math import scipy_special as scipy_special  # makes functions of SciPy known
from ..ufunc import numpy_loops
from ..ufunc.ufunc import KernelUfunc
from . import rolled
from .python_kernel import HostKernel

__all__ = ["ElementwiseSpec", "FusedSpec", "Kernel", "LoopSpec", "ProductSpec", "RawSpec", "kernel"]


class Kernel:
    """Compiled code of a kernel spec.

    Attributes
    ----------
    address : int
        The address of the machine code, valid for the life of the process.
    rows_address : int
        The address of a second entry, ``void(ptrs, n, rows, steps, status, row_steps)``, which does
        the work of ``rows`` calls; 0 if there is none. The entry leaves in ``ptrs`` the addresses
        of the last row.
    name, spec, nin, nout
        The operator's name, the kernel spec, and the numbers of inputs and outputs.
    """

    __slots__ = ("_kernel_ufunc", "_own", "address", "name", "nin", "nout", "rows_address", "spec")

    def __init__(
        self, spec: CompiledSpec | LibraryKernel, address: int, rows_address: int = 0
    ) -> None:
        self.spec = spec
        self.address = address
        self.rows_address = rows_address
        self.name = spec.name
        self.nin = len(spec.in_dtypes)
        self.nout = len(spec.out_dtypes)
        self._kernel_ufunc: KernelUfunc | None = None
        self._own = threading.local()

    def __repr__(self) -> str:
        dtypes = ",".join(map(str, self.spec.in_dtypes)), ",".join(map(str, self.spec.out_dtypes))
        return f"<kernel {self.name} {dtypes[0]}->{dtypes[1]}>"

    @property
    def ufunc(self) -> np.ufunc:
        """The kernel as a NumPy ufunc (a gufunc where the signature has core dimensions)."""
        return self._get_kernel_ufunc().ufunc

    def call(self, *arrays: np.ndarray) -> tuple[Any, int]:
        """Call the kernel as a ufunc; return its results, and its status, which is 0 without error.

        The status is that of this call, whatever other threads do with the kernel.
        """
        kernel_ufunc: KernelUfunc | None = getattr(self._own, "kernel_ufunc", None)
        if kernel_ufunc is None:
            kernel_ufunc = self._own.kernel_ufunc = self._make_kernel_ufunc()
        return kernel_ufunc.ufunc(*arrays), kernel_ufunc.take_status()

    def _get_kernel_ufunc(self) -> KernelUfunc:
        kernel_ufunc = self._kernel_ufunc
        if kernel_ufunc is None:
            kernel_ufunc = self._kernel_ufunc = self._make_kernel_ufunc()
            _given_out.append(kernel_ufunc)
        return kernel_ufunc

    def _make_kernel_ufunc(self) -> KernelUfunc:
        signature = getattr(self.spec, "signature", "")
        core = signature if any(core_dimensions(signature)) else None
        return KernelUfunc(self.name, self.address, self.spec.in_dtypes, self.spec.out_dtypes, core)


# Users may keep a ufunc, which points to memory of its `KernelUfunc`. So each `KernelUfunc` of a
# ufunc that users got is kept, even both of two that threads made at once.
_given_out: list[KernelUfunc] = []

AnyKernel: TypeAlias = Kernel | HostKernel | numpy_loops.NumPyLoop

_kernels: dict[str, dict[tuple, AnyKernel]] = {name: {} for name in CHOICES["math"]}


def kernel(spec: Spec) -> AnyKernel:
    """Return the kernel of a spec, compiled or loaded from the cache at first use.

    Raises
    ------
    KernelError
        If Numba cannot compile the function for the dtypes.
    """
    identity, known = spec.identity, _kernels[settings.math]
    found = known.get(identity)
    if found is None:
        if isinstance(spec, HostSpec):
            made = numpy_loops.find(spec) or HostKernel(spec)
        elif isinstance(spec, LoopSpec) and spec.in_numpy is not None:
            dtypes = spec.in_dtypes, spec.out_dtypes
            made = HostKernel(HostSpec(spec.name, spec.in_numpy, spec.signature, *dtypes))
        elif isinstance(spec, LibrarySpec):
            made = Kernel(library.describe(spec), library.address(spec))
        else:
            made = Kernel(spec, *_addresses(spec))
        found = known.setdefault(identity, made)
    return found


def is_ready(spec: FusedSpec | RolledSpec) -> bool:
    """Whether the kernel of a spec of several steps is in memory or on disk."""
    if spec.identity in _kernels[settings.math]:
        return True
    is_loop = isinstance(spec, RolledSpec)
    return disk.has(rolled.key_of(spec) if is_loop else scalar_graph.graph(spec).key)


def specs() -> list[CompiledSpec | HostSpec | LibraryKernel]:
    """Return the specs of all kernels that were made so far with the current setting ``math``."""
    return [found.spec for found in list(_kernels[settings.math].values())]


def _addresses(spec: CompiledSpec) -> tuple[int, int]:
    if isinstance(spec, ProductSpec):
        return gemm.address(spec.dtype, spec.core), 0
    if isinstance(spec, RawSpec):
        from ..compile.intrinsics import KERNEL_ARGS

        return load_or_compile(spec.function, KERNEL_ARGS, spec.key), 0
    if isinstance(spec, RolledSpec):
        return rolled.address(spec), 0
    if isinstance(spec, LoopSpec) and any(core_dimensions(spec.signature)):
        key = cache_keys.loop(spec)
        return obtain(key, lambda: _compiled_loop(spec, symbol_of(key))), 0
    return scalar_graph.addresses(spec)


def _compiled_loop(spec: LoopSpec, symbol: str) -> Code:
    from . import generate  # it imports Numba

    return generate.loop(spec, symbol)
