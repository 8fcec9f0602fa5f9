"""Kernel specs: the functions of kernels, with their dtypes and options.

Operators make kernel specs and targets compile them, so that declaring operators does not import
Numba.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .recurrence import Loop

Dtypes = tuple[np.dtype, ...]


@dataclass(frozen=True)
class Strided:
    """The shape and the strides, in bytes, of an argument that is not in C order."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def extent(self) -> int:
        """Return the distance in bytes from the first element to the last.

        The strides must not be negative.
        """
        return sum([(n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)])


@dataclass(frozen=True)
class Same:
    """An argument of a captured function that must be a certain object at each call."""

    value: Any


@dataclass(frozen=True, eq=False)
class ElementwiseSpec:
    """An operator without core dimensions, given by a plain scalar function.

    Attributes
    ----------
    name : str
        The name of the operator, for error messages and profiles.
    function : callable
        Takes scalars and returns a scalar or a tuple of scalars; made of ``math``, arithmetic,
        ``where`` and callees.
    in_dtypes, out_dtypes : tuple of dtypes
    """

    name: str
    function: Callable
    in_dtypes: Dtypes
    out_dtypes: Dtypes

    @property
    def identity(self) -> tuple:
        """The key of the kernel: specs with equal identities share one kernel."""
        return ("elementwise", self.function, self.in_dtypes, self.out_dtypes)


class Table(NamedTuple):
    """Operands of a kernel that are columns of one array whose rows have few elements.

    Attributes
    ----------
    width : int
        The number of elements of a row.
    columns : tuple of (int, int)
        The number of an operand, and its place in a row.
    """

    width: int
    columns: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class FusedSpec:
    """Elementwise operators joined in one kernel; only the values in `outputs` are stored.

    Values are numbered: the kernel's inputs come first, then the result of each step.

    Attributes
    ----------
    name : str
        The name in profiles.
    steps : tuple of (ElementwiseSpec, tuple of int)
        An operator with one output, and the numbers of its operands: inputs or earlier steps.
    in_dtypes, out_dtypes : tuple of dtypes
    outputs : tuple of int
        The values that are stored.
    scalars : tuple of bool
        For each input, whether it has one element, which is read once whatever its stride.
    repeated : tuple of bool
        For each input, whether it has one element for each row, the last axis of the loop, which a
        target may read once for the row. The empty tuple stands for no such input.
    tables : tuple of Table
        The operands, inputs before outputs, that are expected to be columns of tables, along the
        last axis of the loop. A table has inputs alone or outputs alone.
    """

    name: str
    steps: tuple[tuple[ElementwiseSpec, tuple[int, ...]], ...]
    in_dtypes: Dtypes
    out_dtypes: Dtypes
    outputs: tuple[int, ...]
    scalars: tuple[bool, ...]
    repeated: tuple[bool, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def identity(self) -> tuple:
        """The key of the kernel: specs with equal identities share one kernel."""
        steps = tuple((step.identity, args) for step, args in self.steps)
        layout = self.scalars, self.repeated, self.tables
        return ("fused", steps, self.in_dtypes, self.outputs, *layout)


@dataclass(frozen=True, eq=False)
class RolledSpec:
    """A loop in one kernel, each turn of which applies the same scalar functions.

    A turn computes from inputs and from values that the turn before has handed on (carried). Values
    are numbered: inputs come first, then the carried values, then the result of each step.

    Attributes
    ----------
    name : str
        The name in profiles.
    steps : tuple of (ElementwiseSpec or ProductSpec, tuple of int)
        A function and the numbers of the values that it takes; for a product of matrices two
        factors and, if there is one, the sum so far.
    inputs : tuple of (int, int, dtype, str)
        An operand, an offset in bytes there, the dtype, and how the operand is read: ``"fixed"``,
        at the same address at all turns; ``"moving"``, a fixed distance further at each turn;
        ``"table"``, at an address that the operand has for each turn.
    carries : tuple of (int, int, dtype, int)
        An operand, an offset and the dtype of the value that the first turn gets, and the number of
        the value that a turn hands on to the next one in its place.
    outputs, finals : tuple of (int, int, dtype, int)
        An operand, an offset, the dtype, and the value that is stored there: at each turn, or after
        the last one.
    in_dtypes, out_dtypes : tuple of dtypes
        Those of the operands, which are bytes.
    """

    name: str
    steps: tuple[tuple[Any, tuple[int, ...]], ...]
    inputs: tuple[tuple[int, int, np.dtype, str], ...]
    carries: tuple[tuple[int, int, np.dtype, int], ...]
    outputs: tuple[tuple[int, int, np.dtype, int], ...]
    finals: tuple[tuple[int, int, np.dtype, int], ...]
    in_dtypes: Dtypes
    out_dtypes: Dtypes

    @property
    def identity(self) -> tuple:
        """The key of the kernel: specs with equal identities share one kernel."""
        steps = tuple((step.identity, args) for step, args in self.steps)
        ends = (self.inputs, self.carries, self.outputs, self.finals)
        return ("rolled", steps, *ends, len(self.in_dtypes), len(self.out_dtypes))


@dataclass(frozen=True)
class Constant:
    """A static parameter whose value is compiled into the kernel.

    Attributes
    ----------
    value : hashable
    text : str
        The value as text: ``(1,)`` and ``(1.0,)`` are equal, but different constants.
    """

    value: Any
    text: str


@dataclass(frozen=True)
class CUDAKernel:
    """A kernel for CUDA that a user wrote, which works on whole arrays.

    Attributes
    ----------
    function : callable
        A plain function with the parameters of a core function; scalars are arrays too.
    label : str
        The name in errors.
    threads : int or None
        The number of threads in a block, if the kernel depends on it: then each element of the loop
        has a block.
    """

    function: Callable
    label: str
    threads: int | None


@dataclass(frozen=True, eq=False)
class LoopSpec:
    """An operator with a gufunc signature, given by a core function as for `numba.guvectorize`.

    Attributes
    ----------
    name, in_dtypes, out_dtypes
        As for `ElementwiseSpec`.
    function : callable
        A plain function or a dispatcher. With core dimensions it writes its outputs, which are its
        last parameters (a scalar one as ``out[0] = s``); without any it returns them.
    signature : str
        Such as ``"(m,k),(k,n)->(m,n)"``. Core dimensions must be C-contiguous, unless the spec is
        ``strided``.
    scalars : bool
        Whether inputs without core dimensions arrive by value rather than as arrays of one element.
    may_raise : bool
        Whether the function is declared to raise. A kernel reports any exception anyway.
    trailing : tuple of (Constant or None)
        Static parameters, the last ones of the function. ``None`` stands for a number that the
        kernel gets as one of its last inputs, so that another number needs no other kernel.
    checked : bool
        Whether indices are checked, and elements that are not written are reported like an error.
    strided : bool
        Whether the core dimensions of inputs may have any strides.
    block : int
        If not 0, the kernel loops over the first core dimension of its only input in blocks of this
        size, of which the last may be shorter. The function reduces each block to one output. A
        kernel may be given a part of the blocks: one more operand, behind the output, has as
        address the position of the first element, which decides where the outputs are written.
    on_cuda : CUDAKernel or None
        A kernel that the user wrote for CUDA, used there in place of the function.
    in_numpy : callable or None
        A function of whole arrays, as that of a `HostSpec`, with the same results. A processor
        calls the function in place of a compiled kernel.
    reusable : tuple of int
        The inputs whose memory the output may take, where the layouts are the same.
    each : LoopSpec or None
        For a function of matrices that does the same to each column: the spec for one column.
    """

    name: str
    function: Callable
    signature: str
    in_dtypes: Dtypes
    out_dtypes: Dtypes
    scalars: bool = True
    may_raise: bool = False
    trailing: tuple[Constant | None, ...] = ()
    checked: bool = False
    block: int = 0
    on_cuda: CUDAKernel | None = None
    in_numpy: Callable | None = None
    strided: bool = False
    reusable: tuple[int, ...] = ()
    each: "LoopSpec | None" = None

    @property
    def identity(self) -> tuple:
        """The key of the kernel: specs with equal identities share one kernel."""
        dtypes = (self.in_dtypes, self.out_dtypes)
        options = (self.signature, self.scalars, self.trailing, self.checked, self.block)
        return ("loop", self.function, *dtypes, *options, self.in_numpy, self.strided)


@dataclass(frozen=True, eq=False)
class RawSpec:
    """A kernel that is itself written to the kernel ABI, with `targets.cpu.compile.intrinsics`.

    Attributes
    ----------
    name : str
        The name of the operator.
    function : callable
        ``function(ptrs, n, core_dims, steps, status)``.
    key : tuple
        The parameters, beyond its source, on which the function's code depends.
    signature, in_dtypes, out_dtypes
        Needed only for `Kernel.ufunc`.
    """

    name: str
    function: Callable
    key: tuple
    signature: str = ""
    in_dtypes: Dtypes = ()
    out_dtypes: Dtypes = ()

    @property
    def identity(self) -> tuple:
        """The key of the kernel: specs with equal identities share one kernel."""
        return ("raw", self.function, self.key)


@dataclass(frozen=True)
class LibrarySpec:
    """A kernel that calls a library of numerical routines; each target has its own library.

    Attributes
    ----------
    name : str
        ``matmul``, ``lu_factor``, ``lu_solve``, ``solve_triangular``, ``cholesky``,
        ``hermitian_reduced``, ``eigvalsh``, ``hermitian_vectors``, ``qr`` or ``qr_square``.
    dtype : dtype
        float32, float64, complex64 or complex128.
    lower, adjoint : bool
        Whether the lower triangle is used; whether the system of the adjoint matrix is solved.
    core : tuple of int, optional
        The sizes of core dimensions for which the kernel is made, real matrices with a few rows; by
        default it is made for any sizes.
    """

    name: str
    dtype: np.dtype
    lower: bool = True
    adjoint: bool = False
    core: tuple[int, ...] | None = None

    @property
    def identity(self) -> tuple:
        """The key of the kernel: specs with equal identities share one kernel."""
        return ("library", self.name, self.dtype, self.lower, self.adjoint, self.core)


@dataclass(frozen=True)
class ProductSpec:
    """The product of two matrices, ``(m,k),(k,n)->(m,n)``, of any strides.

    The kernel uses one thread. The bits of an element depend on its row and its column alone, not
    on the number of rows or threads.

    Attributes
    ----------
    dtype : dtype
        float32 or float64.
    core : tuple of int, optional
        The sizes ``m, k, n`` for which the kernel is made; by default it is made for any sizes. A
        kernel for a small size is faster where a loop goes over many pairs.
    """

    dtype: np.dtype
    core: tuple[int, int, int] | None = None
    name = "matmul"
    signature = "(m,k),(k,n)->(m,n)"

    @property
    def in_dtypes(self) -> Dtypes:
        """Dtypes of the factors."""
        return (self.dtype, self.dtype)

    @property
    def out_dtypes(self) -> Dtypes:
        """Dtype of the product."""
        return (self.dtype,)

    @property
    def identity(self) -> tuple:
        """The key of the kernel: specs with equal identities share one kernel."""
        return ("product", self.dtype, self.core)


@dataclass(frozen=True)
class UfuncLoop:
    """A universal function of NumPy that computes what the function of a `HostSpec` does.

    Its operands are one array and a number.

    Attributes
    ----------
    module, name : str
        The module of NumPy, and the name of the universal function there.
    size : int
        The length of the last axis of the results.
    """

    module: str
    name: str
    size: int


@dataclass(frozen=True, eq=False)
class HostSpec:
    """A kernel that calls a function of whole arrays in Python, such as one of NumPy or SciPy.

    Attributes
    ----------
    name : str
        The name of the operator.
    function : callable
        ``function(*arrays, **options)`` returns an array, or a tuple of arrays. It acts on the core
        axes of the signature, for any leading axes, and keeps no reference to its arguments.
    signature : str
    in_dtypes, out_dtypes : tuple of dtypes
    options : tuple of (str, hashable)
        The keyword arguments of the function.
    loop : UfuncLoop or None
        A universal function that may be called in place of the function.
    lends : bool
        Whether the function gets its inputs as writable arrays. It must not write them, but may
        hand them to code that is compiled for writable arrays.
    native : callable or None
        ``native(address)`` returns the address of a kernel that runs without Python, and leaves
        unusual calls to the kernel at ``address``; None where there is no such kernel.
    on_device : callable or None
        ``on_device(inputs, results, stream)`` computes the results where the arrays of a device
        are, by work of a stream; None for a function that the host runs on copies.
    into : callable or None
        ``into(places, *arrays)`` returns the results of the function, and may write results to
        the arrays in ``places``: such a result is that array, and is copied nowhere.
    fuse : callable or None
        Fuses the programs that the function runs; called for a program that is fused at once.
    as_loop : callable or None
        Returns the function as a `Loop`, or None, if the function applies the same scalar functions
        again and again: a kernel with the loop inside may take its place.
    """

    name: str
    function: Callable
    signature: str
    in_dtypes: Dtypes
    out_dtypes: Dtypes
    options: tuple[tuple[str, Any], ...] = ()
    loop: UfuncLoop | None = None
    lends: bool = False
    native: Callable[[int], int | None] | None = None
    on_device: Callable[[Sequence[Any], Sequence[Any], Any], None] | None = None
    into: Callable[..., Any] | None = None
    fuse: Callable[[], None] | None = None
    as_loop: Callable[[], Loop | None] | None = None

    @property
    def identity(self) -> tuple:
        """The key of the kernel: specs with equal identities share one kernel."""
        options = tuple((name, type(value), value) for name, value in self.options)
        return ("host", self.function, self.in_dtypes, options)


CompiledSpec = ElementwiseSpec | FusedSpec | LoopSpec | ProductSpec | RawSpec | RolledSpec
Spec = CompiledSpec | HostSpec | LibrarySpec


# The parameters of functions ----------------------------------------------------------------------


def core_dimensions(signature: str) -> list[tuple[str, ...]]:
    """Return the names of the core dimensions of each operand, inputs first.

    >>> core_dimensions("(m,k),(k)->(m)")
    [('m', 'k'), ('k',), ('m',)]
    """
    groups = re.findall(r"\(([^)]*)\)", signature)
    return [tuple(name.strip() for name in group.split(",") if name.strip()) for group in groups]


def parameter_order(
    nin: int, nops: int, trailing: Sequence[Constant | None]
) -> list[int | Constant]:
    """Return for each parameter of a kernel's function the number of an operand, or a constant.

    The parameters are the inputs, the outputs, and the static parameters, which ``trailing`` lists
    as in `LoopSpec`. A static parameter that is ``None`` there is one of the last inputs of the
    kernel.
    """
    first = nin - sum(item is None for item in trailing)
    numbers = iter(range(first, nin))
    main = [*range(first), *range(nin, nops)]
    return [*main, *(next(numbers) if item is None else item for item in trailing)]


def real_dtype(in_dtypes: Sequence[np.dtype], out_dtypes: Sequence[np.dtype]) -> np.dtype:
    """Return the real dtype of the literals in a kernel's function.

    The dtype is the widest of the inputs, or of the outputs if no input is real or complex.
    """
    for dtypes in (in_dtypes, out_dtypes):
        inexact = [np.finfo(dtype).dtype for dtype in dtypes if dtype.kind in "fc"]
        if inexact:
            return np.result_type(*inexact)
    return np.dtype(np.float64)
