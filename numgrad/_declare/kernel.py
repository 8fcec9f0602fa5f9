"""Kernel operators: a gufunc signature and a core function, looped over any leading axes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._errors import OperatorError
from ..ir.broadcasting import broadcast_shapes
from ..ir.gufunc_signature import Signature, parse_signature
from ..ir.kernel_spec import LoopSpec
from ..ir.memory_order import laid_like, standing_in
from ..process.bounded_dict import Bounded
from .operands import align, as_values
from .operator import Computation, Operator, Specs

MOST_SPECS = 1024
"""The most kernel specs that an operator keeps: Fourier transforms have one for each length."""


class KernelOperator(Operator):
    """An operator given by a gufunc signature and a core function like those of Numba's gufuncs.

    Parameters
    ----------
    function : callable
        A plain function or dispatcher: ``f(x..., out...)`` writes its outputs; with a signature of
        scalars only it returns them.
    signature : str
        The core dimensions, such as ``"(m,k),(k,n)->(m,n)"``.
    results : sequence of dtype or None
        The dtype of each output; ``None`` for the common dtype of the floating inputs.
    may_raise : bool
        Whether the kernel can fail.
    uses_blas : bool
        Whether the kernel calls BLAS or LAPACK, whose bits depend on the numbers of rows and
        threads.
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
        self.signature: Signature = self.parse(signature)
        self.nout = len(self.signature.outputs)
        self.results = tuple(results) if results is not None else (None,) * self.nout
        self.may_raise = may_raise
        self.uses_blas = uses_blas
        self.ncore = tuple(len(core) for core in (*self.signature.inputs, *self.signature.outputs))
        self._specs: dict[Any, Any] = Bounded(MOST_SPECS)
        self.__doc__ = function.__doc__

    def parse(self, signature: str) -> Signature:
        """Return the parsed signature."""
        return parse_signature(signature)

    # Inputs and specs
    # ---------------------------------------------------------------------------------

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        """Return the inputs as values with equally many leading axes.

        Floating values are converted to one dtype; integers keep their dtypes.
        """
        if len(args) != len(self.signature.inputs):
            raise TypeError(
                f"{self.name} takes {len(self.signature.inputs)} arrays ({self.signature}), got "
                f"{len(args)}"
            )
        values = as_values(args)
        dtype = common_dtype([v.dtype for v in values])
        return self.align(
            [v.astype(dtype) if v.dtype.kind in "fc" and v.dtype != dtype else v for v in values]
        )

    def align(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Give all inputs equally many leading axes, so that a batch axis can come before them."""
        nloops = [len(v.shape) - n for v, n in zip(values, self.ncore, strict=False)]
        if min(nloops) == max(nloops) or min(nloops) < 0:
            return tuple(values)
        nloop = max(nloops)
        return tuple(
            v if own == nloop else align(v, nloop + n)
            for v, own, n in zip(values, nloops, self.ncore, strict=False)
        )

    def spec(self, dtypes: tuple[np.dtype, ...]) -> Any:
        """Return the kernel spec for inputs of these dtypes."""
        found = self._specs.get(dtypes)
        if found is None:
            found = self._specs[dtypes] = LoopSpec(
                self.name,
                self.function,
                str(self.signature),
                dtypes,
                tuple(self.result_dtypes(dtypes)),
                may_raise=self.may_raise,
            )
        return found

    def result_dtypes(self, dtypes: Sequence[np.dtype]) -> list[np.dtype]:
        """Return the dtype of each output for inputs of these dtypes."""
        common = common_dtype(dtypes)
        return [common if r is None else np.dtype(r) for r in self.results]

    # Shapes
    # ---------------------------------------------------------------------------------------------

    def core_sizes(self, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
        """Return the size of each core dimension.

        Raises
        ------
        ValueError
            If an input has too few axes or sizes disagree.
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

    def sizes(
        self, shapes: Sequence[tuple[int, ...]], static: dict[str, Any]
    ) -> dict[str, int]:
        """Return the size of each dimension of the signature; raises as `core_sizes` does."""
        return self.core_sizes(shapes)

    def infer(self, specs: Specs, static: dict[str, Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
        shapes = [s.shape for s in specs]
        sizes = self.sizes(shapes, static)
        loops = [
            shape[: len(shape) - len(core)]
            for shape, core in zip(shapes, self.signature.inputs, strict=True)
        ]
        try:
            loop = broadcast_shapes(*loops)
        except ValueError:
            raise ValueError(
                f"{self.name}: leading axes of inputs of shapes {', '.join(map(str, shapes))} "
                f"cannot be broadcast"
            ) from None
        dtypes = self.result_dtypes([s.dtype for s in specs])
        return [
            ((*loop, *(sizes[name] for name in core)), dtype)
            for core, dtype in zip(self.signature.outputs, dtypes, strict=True)
        ]

    # Values
    # ---------------------------------------------------------------------------------------------

    def kernel(
        self, dtypes: tuple[np.dtype, ...], static: dict[str, Any]
    ) -> tuple[Any, Sequence[np.ndarray]]:
        """Return the kernel spec for inputs of these dtypes, and arrays of static parameters.

        The kernel takes these arrays as operands after the inputs.
        """
        return self.spec(dtypes), ()

    def operands(self, contiguous: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
        """Return the inputs that the kernel reads, with contiguous cores.

        A kernel that does not read all inputs reads the last ones. ``contiguous(x, n)`` copies an
        input if its last ``n`` axes are not contiguous.
        """
        return [contiguous(x, n) for x, n in zip(inputs, self.ncore, strict=False)]

    def for_operands(self, spec: Any, operands: Sequence[Any]) -> Any:
        """Return the kernel spec for the operands that the kernel reads: ``spec``, or a faster one.
        """
        return spec

    def failure(
        self, target: Any, spec: Any, inputs: Sequence[np.ndarray], status: int, static: Any
    ) -> Exception:
        """Return the exception for the status of a kernel that was called outside of a program."""
        return failure_of(self, status)

    def reports(self, spec: Any, static: dict[str, Any]) -> dict[str, Any]:
        """Return the option of an instruction that says how a failed kernel's exception is made.

        The option is ``error``, a function of the place, or ``replay``, which calls the kernel's
        function again.
        """
        return {"error": self.error}

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        spec, numbers = self.kernel(tuple([a.dtype for a in arrays]), static)
        try:
            operands = self.operands(contiguous, arrays)
            spec = self.for_operands(spec, operands)
            results, status = target.kernel(spec).call(*operands, *numbers)
        except ValueError:
            self.infer(arrays, static)  # raises a clearer error for shapes that do not match
            raise
        if status:
            raise self.failure(target, spec, [*arrays, *numbers], status, static)
        return [np.asarray(r) for r in (results if self.nout > 1 else (results,))]

    def computation(
        self, target: Any, inputs: Specs, static: dict[str, Any]
    ) -> Computation:
        general = super().computation(target, inputs, static)
        if type(self).run is not KernelOperator.run:
            return general
        spec, numbers = self.kernel(tuple([x.dtype for x in inputs]), static)
        shapes = [standing_in(x.shape, x.dtype) for x in inputs]  # in C order, as all operands are
        spec = self.for_operands(spec, self.operands(contiguous, shapes))
        kernel = target.kernel(spec)

        def compute(*arrays: np.ndarray) -> Any:
            operands = self.operands(contiguous, arrays)
            found, status = kernel.call(*operands, *numbers)
            if status:
                raise self.failure(target, spec, [*arrays, *numbers], status, static)
            return found

        return compute

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]
    ) -> list[Any]:
        spec, numbers = self.kernel(tuple([o.dtype for o in inputs]), static)
        sizes = self.sizes([o.shape for o in inputs], static)
        operands = self.operands(builder.contiguous, inputs)
        spec = self.for_operands(spec, operands)
        outputs = self.new_outputs(builder, operands, specs)
        count = len(inputs)
        read = self.ncore[count - len(operands) : count]
        ncore = (*read, *(0,) * len(numbers), *self.ncore[count:])
        core = tuple(sizes[name] for name in self.signature.names)
        operands += [builder.constant(number) for number in numbers]
        reports = self.reports(spec, static)
        builder.emit(spec, operands, outputs, ncore, core, name=self.name, **reports)
        builder.uses_blas = builder.uses_blas or self.uses_blas
        return outputs

    def new_outputs(self, builder: Any, operands: Sequence[Any], specs: Specs) -> list[Any]:
        """Return new operands for the kernel's results; by default they are in C order."""
        return [builder.new(s.shape, s.dtype, s.rows) for s in specs]


class KeepsOrder:
    """A mixin of operators along the last axis: results have the memory order of the first input.

    NumPy does the same.
    """

    def memory_order(self, operands: Sequence[np.ndarray], static: Any) -> list[np.ndarray]:
        return [operands[0]] * self.nout  # type: ignore[attr-defined]

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        made = super().run(target, arrays, static)  # type: ignore[misc]
        return [laid_like(result, arrays[0]) for result in made]


def common_dtype(dtypes: Sequence[np.dtype]) -> np.dtype:
    """Return the dtype in which a kernel computes with floating inputs, float64 without any."""
    floating = [d for d in dtypes if d.kind in "fc"]
    if not floating:
        return np.dtype(np.float64)
    dtype = np.result_type(*floating)
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def failure_of(operator: Any, status: int) -> Exception:
    """Return the exception for the status that a kernel has returned."""
    if status < 0:  # a bug of numgrad: operands that are not contiguous should have been copied
        return OperatorError(
            f"the kernel of {operator.name} was given an operand that is not C-contiguous"
        )
    return operator.error(f" at loop index {status - 1}")


def called_again(
    target: Any,
    spec: Any,
    inputs: Sequence[np.ndarray],
    ncore: Sequence[int],
    what: str,
    where: str,
    outputs: Sequence[str] = (),
) -> Exception:
    """Call a kernel's function for each element of its loop until a call fails; return the error.

    Parameters
    ----------
    inputs : sequence of ndarray
        Whole operands, leading axes first; the last ``ncore[k]`` axes of each are its core.
    what, where : str
        The operator and the place, for the message.
    outputs : sequence of str
        The names of the arrays that the function writes.

    Returns
    -------
    OperatorError or MemoryError
        The error; its cause is the exception of the function.
    """
    again = None
    for index, cores in elements(inputs, ncore):
        place = where + (f" at loop index {index}" if index else "")
        try:
            again = again or target.rerun(spec)
            unwritten = again(cores)
        except MemoryError as error:
            return out_of_memory(what, cores, place, error)
        except Exception as error:
            failure = OperatorError(
                f"{what}: the kernel raised{place}: {type(error).__name__}: {error}"
            )
            failure.__cause__ = error
            return failure
        if unwritten:
            return OperatorError(f"{what}: {_describe(unwritten, outputs)}{place}")
    return OperatorError(f"{what}: the kernel raised{where}, but not when it was called again")


def out_of_memory(
    what: str, operands: Sequence[np.ndarray], where: str, cause: MemoryError
) -> MemoryError:
    """Return the error for an operator whose function ran out of memory."""
    shapes = ", ".join([str(a.shape) for a in operands])
    said = f": {cause}" if str(cause) else ""
    error = MemoryError(f"{what}: no memory is left for operands of shapes {shapes}{where}{said}")
    error.__cause__ = cause
    return error


def elements(
    inputs: Sequence[np.ndarray], ncore: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], list[np.ndarray]]]:
    """Yield each index of the loop over operands, and the cores of the operands at that index."""
    pairs = list(zip(inputs, ncore, strict=True))
    loop = broadcast_shapes(*(a.shape[: a.ndim - n] for a, n in pairs))
    whole = [np.broadcast_to(a, (*loop, *a.shape[a.ndim - n :])) for a, n in pairs]
    for index in np.ndindex(loop):
        yield index, [a[index] for a in whole]


def _describe(unwritten: dict[int, list[tuple[int, ...]]], outputs: Sequence[str]) -> str:
    """Return in words which elements of its outputs a kernel has not written."""
    parts = []
    for output, indices in unwritten.items():
        elements = ", ".join(str(i[0] if len(i) == 1 else i) for i in indices[:5])
        more = f" and {len(indices) - 5} more" if len(indices) > 5 else ""
        parts.append(f"{outputs[output]}[{elements}]{more}")
    names = ", ".join(parts)
    return f"the kernel did not write {names} (or computed it from elements it had not written)"


def is_contiguous(array: np.ndarray, ncore: int) -> bool:
    """Whether the last ``ncore`` axes of an array are C-contiguous."""
    if array.flags.c_contiguous:
        return True
    step = array.itemsize
    for size, stride in zip(array.shape[::-1][:ncore], array.strides[::-1][:ncore], strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def contiguous(array: np.ndarray, ncore: int | None = None) -> np.ndarray:
    """Return an array, or a copy of it, whose last ``ncore`` axes, or all, are C-contiguous."""
    if ncore is not None and is_contiguous(array, ncore):
        return array
    return np.ascontiguousarray(array)


def kernel_operator(
    signature: str, **options: Any
) -> Callable[[Callable[..., Any]], KernelOperator]:
    """Declare a built-in kernel operator from a core function; see `KernelOperator`."""
    return lambda function: KernelOperator(function, signature, **options)
