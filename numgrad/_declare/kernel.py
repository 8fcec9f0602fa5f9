"""Kernel operators: a gufunc signature and a core function; any number of leading axes is the
system's business."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from .._errors import OperatorError
from .._signature import Signature, parse_signature
from .._specs import LoopSpec
from .operator import Operator, Specs, door


class KernelOperator(Operator):
    """An operator given by a gufunc signature and a core function in the convention of
    ``numba.guvectorize``.

    Parameters
    ----------
    function : callable
        Plain function or dispatcher: ``f(x..., out...)`` writes its outputs; with a signature of
        scalars only it returns them.
    signature : str
        Such as ``"(m,k),(k,n)->(m,n)"``.
    results : sequence of dtype or None
        The dtype of each output; ``None`` is that of the floating inputs.
    may_raise : bool
        Whether the kernel can fail.
    uses_blas : bool
        Whether it calls BLAS or LAPACK, whose bits depend on the number of rows and of threads.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: str,
        name: str | None = None,
        results: Sequence[Any] | None = None,
        differentiable: bool = True,
        register: bool = True,
        may_raise: bool = False,
        uses_blas: bool = False,
    ) -> None:
        super().__init__(name or function.__name__, differentiable, register=register)
        self.function = function
        self.signature: Signature = parse_signature(signature)
        self.nout = len(self.signature.outputs)
        self.results = tuple(results) if results is not None else (None,) * self.nout
        self.may_raise = may_raise
        self.uses_blas = uses_blas
        self.ncore = tuple(len(core) for core in (*self.signature.inputs, *self.signature.outputs))
        self._specs: dict[tuple[np.dtype, ...], Any] = {}
        self.__doc__ = function.__doc__

    # Inputs and specs
    # ---------------------------------------------------------------------------------

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        """Convert to values and promote floating inputs to one dtype; integer inputs stay as they
        are."""
        if len(args) != len(self.signature.inputs):
            raise TypeError(
                f"{self.name} takes {len(self.signature.inputs)} arrays ({self.signature}), got "
                f"{len(args)}"
            )
        values = [a if isinstance(a, door.value) else door.constant(a) for a in args]
        dtype = self.common_dtype(values)
        return self.align(
            [v.astype(dtype) if v.dtype.kind in "fc" and v.dtype != dtype else v for v in values]
        )

    def align(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Give all inputs the same number of leading axes, so that a batch axis may stand in front
        of them."""
        nloops = [len(v.shape) - n for v, n in zip(values, self.ncore, strict=False)]
        if min(nloops) == max(nloops) or min(nloops) < 0:
            return tuple(values)
        nloop = max(nloops)
        return tuple(
            v if own == nloop else door.align(v, nloop + n)
            for v, own, n in zip(values, nloops, self.ncore, strict=False)
        )

    def error(self, where: str) -> Exception:
        """Return the exception for a kernel that failed; ``where`` says at which row and index."""
        return OperatorError(f"the kernel of {self.name} raised{where}")

    def common_dtype(self, values: Sequence[Any]) -> np.dtype:
        """Return the dtype in which the floating inputs are computed; float64 without any."""
        floating = [v.dtype for v in values if v.dtype.kind in "fc"]
        if not floating:
            return np.dtype(np.float64)
        dtype = np.result_type(*floating)
        return np.dtype(np.float32) if dtype == np.float16 else dtype

    def spec(self, dtypes: tuple[np.dtype, ...]) -> Any:
        """Return the kernel spec for inputs of these dtypes."""
        if dtypes not in self._specs:
            outputs = tuple(d for _, d in self._output_specs([((), d) for d in dtypes]))
            self._specs[dtypes] = LoopSpec(
                self.name,
                self.function,
                str(self.signature),
                dtypes,
                outputs,
                may_raise=self.may_raise,
            )
        return self._specs[dtypes]

    def _output_specs(self, inputs: Sequence[Any]) -> list[tuple[Any, np.dtype]]:
        floating = [d for _, d in inputs if d.kind in "fc"]
        common = np.result_type(*floating) if floating else np.dtype(np.float64)
        return [((), np.dtype(r) if r is not None else common) for r in self.results]

    # Shapes
    # ---------------------------------------------------------------------------------------------

    def core_sizes(self, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
        """Return the size of each core dimension.

        Raises
        ------
        ValueError
            When an input has too few axes or sizes disagree; it names the dimension and the shapes.
        """
        sizes: dict[str, int] = {}
        for position, (shape, core) in enumerate(zip(shapes, self.signature.inputs, strict=True)):
            if len(shape) < len(core):
                raise ValueError(
                    f"{self.name}: input {position} of shape {shape} has fewer axes than its core "
                    f"dimensions "
                    f"({','.join(core)}) in {self.signature}"
                )
            for name, size in zip(core, shape[len(shape) - len(core) :], strict=True):
                if sizes.setdefault(name, size) != size:
                    raise ValueError(
                        f"{self.name}: dimension {name} of {self.signature} is {sizes[name]} and "
                        f"{size} in inputs "
                        f"of shapes {', '.join(map(str, shapes))}"
                    )
        return sizes

    def infer(self, specs: Specs, static: dict[str, Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
        shapes = [s.shape for s in specs]
        sizes = self.core_sizes(shapes)
        loops = [
            shape[: len(shape) - len(core)]
            for shape, core in zip(shapes, self.signature.inputs, strict=True)
        ]
        try:
            loop = np.broadcast_shapes(*loops)
        except ValueError:
            raise ValueError(
                f"{self.name}: leading axes of inputs of shapes {', '.join(map(str, shapes))} "
                f"cannot be broadcast"
            ) from None
        dtypes = [d for _, d in self._output_specs([((), s.dtype) for s in specs])]
        return [
            ((*loop, *(sizes[name] for name in core)), dtype)
            for core, dtype in zip(self.signature.outputs, dtypes, strict=True)
        ]

    # Values
    # ---------------------------------------------------------------------------------------------

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        self.core_sizes([a.shape for a in arrays])
        kernel = target.kernel(self.spec(tuple(a.dtype for a in arrays)))
        arrays = [_contiguous_core(a, n) for a, n in zip(arrays, self.ncore, strict=False)]
        results, status = kernel.call(*arrays)
        if status:
            raise failure_of(self, status)
        return [np.asarray(r) for r in (results if self.nout > 1 else (results,))]

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]
    ) -> list[Any]:
        sizes = self.core_sizes([o.shape for o in inputs])
        operands = [builder.contiguous(o, n) for o, n in zip(inputs, self.ncore, strict=False)]
        outputs = [builder.new(s.shape, s.dtype, s.rows) for s in specs]
        core = tuple(sizes[name] for name in self.signature.names)
        loop = outputs[0].shape[: len(outputs[0].shape) - self.ncore[len(inputs)]]
        if prod(loop):
            kernel_spec = self.spec(tuple(o.dtype for o in inputs))
            builder.emit(
                kernel_spec, operands, outputs, self.ncore, core, loop, self.name, self.error
            )
            builder.uses_blas = builder.uses_blas or self.uses_blas
        return outputs


def failure_of(operator: Any, status: int) -> Exception:
    """Return the exception for the status that an operator's kernel left."""
    if status < 0:  # an error of ours: operands are copied where they are not contiguous
        return OperatorError(
            f"the kernel of {operator.name} was given an operand that is not C-contiguous"
        )
    return operator.error(f" at loop index {status - 1}")


def _contiguous_core(array: np.ndarray, ncore: int) -> np.ndarray:
    """Return the array, or a copy whose last ``ncore`` axes are C-contiguous."""
    step = array.itemsize
    for size, stride in zip(array.shape[::-1][:ncore], array.strides[::-1][:ncore], strict=True):
        if size != 1 and stride != step:
            return np.ascontiguousarray(array)
        step *= size
    return array


def kernel_operator(
    signature: str, **options: Any
) -> Callable[[Callable[..., Any]], KernelOperator]:
    """Declare a built-in kernel operator from a core function; see `KernelOperator`."""
    return lambda function: KernelOperator(function, signature, **options)
