# pyright: basic, reportAttributeAccessIssue=false, reportOptionalCall=false
# pyright: reportMissingImports=false, reportPrivateImportUsage=false
"""Compile kernels from text to PTX; only this module uses Numba's compiler for CUDA.

The module was checked with numba-cuda 0.30.4, whose types pyright does not know. The package
numba-cuda serves as a compiler alone: for given types, PTX is made of Python functions. Memory,
streams and launches are left to cuda.core.
"""

import importlib
import math
import operator
import re
import types as pytypes
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numba_cuda  # noqa: F401  which takes the place of numba.cuda
import numpy as np
from numba import cuda
from numba.cuda import compiler, dispatcher, libdevice, types, utils
from numba.cuda.core import ir, untyped_passes
from numba.cuda.core.callconv import CUDACallConv
from numba.cuda.core.compiler_lock import global_compiler_lock
from numba.cuda.core.compiler_machinery import FunctionPass, register_pass
from numba.cuda.descriptor import cuda_target
from numba.cuda.dispatcher import CUDADispatcher
from numba.cuda.extending import intrinsic, overload
from numba.cuda.flags import CUDAFlags
from numba.cuda.np import numpy_support

from ...binding import Names, bind
from ...cpu.compile import builtin_signatures
from ...cpu.math import complex_math
from ...literals import Language, Literals
from ..kernels.pairwise import core_names
from .kernel import Array, Function, Kernel, Number, Parameter, Pointer

Capability = tuple[int, int]
"""The compute capability of a GPU, such as (9, 0)."""


def _import_arrays() -> None:
    """Import what numba-cuda knows of NumPy's functions, which else the first kernel does.

    The module of numba-cuda names ``np.row_stack``, an alias of ``np.vstack`` that NumPy 2.5 has no
    more. There NumPy gets it while the module is imported, and not longer.
    """
    name = "row_stack"
    names: Any = vars(np)
    is_missing = name not in names
    if is_missing:
        names[name] = np.vstack
    try:
        importlib.import_module("numba.cuda.np.arrayobj")
    finally:
        if is_missing:
            del names[name]


_import_arrays()


class Code(NamedTuple):
    """The PTX of a kernel, and the symbol of the kernel's entry point there."""

    ptx: str
    entry: str


def compiled(kernel: Kernel, capability: Capability) -> Code:
    """Compile a kernel to PTX for GPUs of a compute capability; no GPU is needed."""
    return assembled(lowered(kernel, capability), capability)


def lowered(kernel: Kernel, capability: Capability) -> Any:
    """Compile a kernel to LLVM code, and return the code as a library of Numba.

    The code is the same for all compute capabilities.
    """
    scope = {name: _device(value, capability) for name, value in kernel.scope.items()}
    scope |= {"cuda": cuda, "np": np}
    exec(compile(kernel.text, f"<kernel {kernel.name}>", "exec"), scope)
    signature = types.void(*[_type(parameter) for parameter in kernel.parameters])
    with _targeting(capability), builtin_signatures.kept(cuda_target.typing_context):
        library, _ = compiler._compile_pyfunc_with_fixup(
            scope["kernel"], signature, device=False, cc=capability, abi="numba"
        )
    # A new dict, as the keys of Numba's compiled functions refer to the old one.
    library._nvvm_options = {**library._nvvm_options, "fma": kernel.multiply_adds}
    return library


def assembled(library: Any, capability: Capability) -> Code:
    """Return the PTX of a library that `lowered` has returned."""
    with global_compiler_lock:
        ptx = library.get_asm_str(cc=capability)
    entry = re.search(r"\.visible \.entry (\w+)", ptx)
    assert entry is not None
    return Code(ptx, entry.group(1))


@contextmanager
def _targeting(capability: Capability) -> Iterator[None]:
    """Let Numba compile the functions that it adds to a kernel for a compute capability.

    Otherwise Numba asks the GPU of this machine for one, and there may be none.
    """
    before = dispatcher.get_current_device
    with global_compiler_lock:
        dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
        try:
            yield
        finally:
            dispatcher.get_current_device = before


def _type(parameter: Parameter) -> Any:
    if isinstance(parameter, Pointer):
        is_byte = parameter.dtype.kind == "b"
        return types.CPointer(types.uint8 if is_byte else numpy_support.from_dtype(parameter.dtype))
    if isinstance(parameter, Array):
        return types.Array(numpy_support.from_dtype(parameter.dtype), parameter.ndim, "A")
    if isinstance(parameter, Number):
        return numpy_support.from_dtype(parameter.dtype)
    return types.uint32 if parameter.bits == 32 else types.int64


def _device(value: Any, capability: Capability) -> Any:
    """Return what a name in the text of a kernel stands for, given its value in ``Kernel.scope``.

    A `Function` becomes a device function; any other value is returned as is.
    """
    if not isinstance(value, Function):
        return value
    function = getattr(value.function, "py_func", value.function)
    real = None if value.real is None else value.real.type
    names = _scalar_names(real, capability)
    if value.dtype is not None:
        names = core_names(math, value.dtype)

    def wrap(copy: pytypes.FunctionType) -> Any:
        return _DeviceFunction(copy, real, capability)

    known = _device_functions(value.dtype, real, value.is_complex, capability)
    return bind(function, names, is_complex=value.is_complex, wrap=wrap, known=known)


@cache
def _device_functions(*_: Any) -> dict[Any, Any]:
    """Return the dict of the device functions made so far, for one set of meanings of names.

    The arguments say how names like ``math`` are understood. Kernels that agree on this share their
    device functions.
    """
    return {}


# The compiler -------------------------------------------------------------------------------------


class _DeviceFunction(CUDADispatcher):
    """A device function, in which float literals have a given type.

    Parameters
    ----------
    function : callable
    real : Numba type or None
        The type of float literals; None to compile the function as it stands.
    capability : tuple of int
    """

    def __init__(self, function: Any, real: Any, capability: Capability) -> None:
        super().__init__(function, {"device": True, "opt": True})
        self._real, self._capability = real, capability

    def compile_device(self, args: Any, return_type: Any = None) -> Any:
        """Compile the function for given types of its arguments, once for equal types."""
        if args not in self.overloads:
            made = _compiled(self.py_func, args, return_type, self._real, self._capability)
            self.overloads[args] = made
            made.target_context.insert_user_function(
                made.entry_point, made.fndesc, [made.library]
            )
        return self.overloads[args]


def _compiled(
    function: Any, args: Any, return_type: Any, real: Any, capability: Capability
) -> Any:
    flags = CUDAFlags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    flags.nvvm_options = {"opt": 3}
    flags.compute_capability = capability
    context = cuda_target.target_context
    with utils.numba_target_override():
        made = compiler.compile_extra(
            typingctx=cuda_target.typing_context, targetctx=context, func=function, args=args,
            return_type=return_type, flags=flags, locals={},
            pipeline_class=_pipeline(real, capability), call_conv=CUDACallConv(context),
            abi_info={},
        )  # fmt: skip
    made.library.finalize()
    return made


@cache
def _pipeline(real: Any, capability: Capability) -> Any:
    """Return the class of the compiler that gives float literals the type ``real``."""
    if real is None:
        return compiler.CUDACompiler

    class Compiler(compiler.CUDACompiler):
        def define_pipelines(self) -> list[Any]:
            (manager,) = super().define_pipelines()
            manager.add_pass_after(_WithLiterals, untyped_passes.FixupArgs)
            manager.finalize()
            return [manager]

    selections = _scalar_names(real, capability).selections
    Compiler.real = real
    Compiler.language = Language(
        ir, types, (math, _real_math), tuple(selections[name] for name in _SELECT)
    )
    return Compiler


@register_pass(mutates_CFG=False, analysis_only=False)
class _WithLiterals(FunctionPass):
    """A compiler pass before type inference: float literals get the kernel's real dtype."""

    _name = "numgrad_literals"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Give the float literals of ``state.func_ir`` their dtype; return True: it was changed."""
        compiler = type(state.pipeline)
        Literals(state.func_ir, state.args, compiler.real, compiler.language).run()
        return True


# Names --------------------------------------------------------------------------------------------


def _floor(x):
    return math.floor(x)


def _ceil(x):
    return math.ceil(x)


def _trunc(x):
    return math.trunc(x)


def _rint(x):
    return round(x)


def _overloaded(stub: Callable[..., Any], single: Any, double: Any) -> None:
    """Implement a rounding function on the device, by ``single`` for float32 and ``double`` else.

    Integers are returned as they are.
    """

    @overload(stub, target="cuda")
    def chosen(x):
        if isinstance(x, types.Integer | types.Boolean):
            return lambda x: x
        return (lambda x: single(x)) if x == types.float32 else (lambda x: double(x))


for _stub, _name in ((_floor, "floor"), (_ceil, "ceil"), (_trunc, "trunc"), (_rint, "rint")):
    _overloaded(_stub, getattr(libdevice, f"{_name}f"), getattr(libdevice, _name))
_overloaded(math.cbrt, libdevice.cbrtf, libdevice.cbrt)


def _namespace(name: str, given: Mapping[str, Any], **changed: Any) -> Any:
    module: Any = pytypes.ModuleType(name)
    vars(module).update({key: value for key, value in given.items() if key[0] != "_"})
    vars(module).update(changed)
    return module


_real_math = _namespace("device_math", vars(math), floor=_floor, ceil=_ceil, trunc=_trunc)


def _limit(number: Callable[[Any], float]) -> Any:
    """Return a function that kernels call to get a limit of the dtype of their argument.

    ``number`` computes the limit, such as the largest number, from ``np.finfo`` of a dtype.
    """

    def typing(typingctx, x):
        kind = x if isinstance(x, types.Float) else types.float64
        constant = float(number(np.finfo(str(kind))))
        return kind(x), lambda context, *_: context.get_constant(kind, constant)

    return intrinsic(typing)


_LIMITS = {one: _limit(number) for one, number in complex_math.LIMITS.items()}


def _where(condition, a, b):
    return a if condition else b


def _maximum(a, b):
    return a if a >= b or a != a else b


def _minimum(a, b):
    return a if a <= b or a != a else b


_SELECT = {"where": _where, "max": _maximum, "min": _minimum}


@cache
def _scalar_names(real: Any, capability: Capability) -> Names:
    """Return what names such as ``math`` mean in scalar functions with float literals of a type."""

    def wrap(function: Any) -> Any:
        return _DeviceFunction(function, real, capability)

    select = {name: wrap(function) for name, function in _SELECT.items()}
    inner = Names(_real_math, None, None, {}, _LIMITS)
    made = {
        key: bind(value, inner, wrap=wrap) if isinstance(value, pytypes.FunctionType) else value
        for key, value in vars(complex_math).items()
    }
    selections = {**select, "round": _rint, "pow": operator.pow, "abs": abs}
    return Names(_real_math, _namespace("device_cmath", made), select["where"], selections)
