"""What the hand-written adjoints are compiled with: no aliasing, vector math, one BLAS thread.

They are the yardstick, so they may use what LLVM needs to vectorise a loop: arrays that are
promised not to overlap, unsigned indices (no wrap-around), libm calls that have a vector variant.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numba
import scipy.linalg.cython_blas  # noqa: F401  (the BLAS of Numba, to be there when BLAS is limited)
from llvmlite import ir
from numba import types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.extending import intrinsic
from threadpoolctl import ThreadpoolController


class NoAlias(CompilerBase):
    """Numba's pipeline with the promise that no two array arguments overlap."""

    def define_pipelines(self) -> list[Any]:
        self.state.flags.noalias = True
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a serial loop: no aliasing, multiply-add contracted, division as in NumPy."""
    options = {"error_model": "numpy", "fastmath": {"contract", "nsz"}}
    return numba.njit(pipeline_class=NoAlias, **options)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a piece of a loop's body, which must not remain a call or the loop stays scalar."""
    options = {"error_model": "numpy", "fastmath": {"contract", "nsz"}}
    return numba.njit(forceinline=True, **options)(function)


def parallel(function: Callable[..., Any]) -> Any:
    """Compile a function whose ``prange`` hands tiles to kernels."""
    return numba.njit(parallel=True, error_model="numpy")(function)


@cache
def _vector_library() -> str:
    """Prefix of the vector variants in glibc's libmvec for this host, empty where there is none."""
    try:
        ctypes.CDLL("libmvec.so.1")
    except OSError:
        return ""
    llvm.load_library_permanently("libmvec.so.1")
    features = llvm.get_host_cpu_features()
    # LLVM prefers 256-bit vectors on Intel's AVX-512 machines and 512-bit ones on Zen 4 and later.
    wide = features.get("avx512f") and llvm.get_host_cpu_name().startswith("znver")
    if wide:
        return "_ZGVeN8v_"
    return "_ZGVdN4v_" if features.get("avx2") else ""


def _declare(module: ir.Module, name: str, prefix: str) -> ir.Function:
    """Return the scalar libm function, with its vector variant made known to LLVM."""
    if name in module.globals:
        return module.globals[name]
    double = ir.DoubleType()
    scalar = ir.Function(module, ir.FunctionType(double, [double]), name)
    for attribute in ("nounwind", "readnone", "willreturn"):
        set.add(scalar.attributes, attribute)
    if prefix:
        lanes = 8 if "N8" in prefix else 4
        vector = ir.VectorType(double, lanes)
        variant = ir.Function(module, ir.FunctionType(vector, [vector]), prefix + name)
        mangled = f"_ZGV_LLVM_N{lanes}v_{name}({prefix}{name})"
        # llvmlite checks names of attributes against a list without this one.
        set.add(scalar.attributes, f'"vector-function-abi-variant"="{mangled}"')
        _keep(module, variant)
    return scalar


def _keep(module: ir.Module, function: ir.Function) -> None:
    """List a function in ``llvm.compiler.used``, or it is dropped before the vectoriser runs."""
    pointer = ir.IntType(8).as_pointer()
    name = "llvm.compiler.used"
    holder = module.globals.get(name)
    kept = [*holder.initializer.constant] if holder else []
    kept.append(function.bitcast(pointer))
    kind = ir.ArrayType(pointer, len(kept))
    if holder is None:
        holder = ir.GlobalVariable(module, kind, name)
        holder.linkage, holder.section = "appending", "llvm.metadata"
    holder.value_type, holder.type = kind, kind.as_pointer()  # an array longer by one
    holder.initializer = ir.Constant(kind, kept)


def _vectorised(name: str) -> Any:
    @intrinsic
    def function(typingctx: Any, x: Any) -> Any:
        if not isinstance(x, types.Float):
            return None

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = context.cast(builder, args[0], x, types.float64)
            return builder.call(_declare(builder.module, name, _vector_library()), [wide])

        return types.float64(x), codegen

    return function


exp = _vectorised("exp")
log = _vectorised("log")
erf = _vectorised("erf")


class OneBlasThread:
    """Keeps BLAS on one thread inside a parallel region of Numba; cheap to enter."""

    def __init__(self) -> None:
        self._controller = ThreadpoolController()

    def __enter__(self) -> None:
        self._limiter = self._controller.limit(limits=1, user_api="blas")
        self._limiter.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._limiter.__exit__(*error)


def vectorised(dispatcher: Any, needle: str) -> bool:
    """Whether the assembly of a compiled function contains an instruction or symbol."""
    return any(needle in text for text in dispatcher.inspect_asm().values())
