"""Host operators: functions of NumPy and SciPy on whole arrays, called instead of a kernel."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from .._errors import MatrixError, OperatorError
from ..engine.graph.runtime import runtime
from ..ir.broadcasting import broadcast_shapes
from ..ir.dtypes import WEAK
from ..ir.gufunc_signature import Signature, parse_signature
from ..ir.kernel_spec import HostSpec
from ..ir.memory_order import kept
from .kernel import KernelOperator, common_dtype, contiguous, elements, out_of_memory
from .operands import as_values, constant, kind_of
from .operator import Computation, Specs

Sizes = Callable[..., dict[str, int]]


class HostOperator(KernelOperator):
    """An operator computed by a function in Python, when it is applied and in programs.

    Parameters
    ----------
    function : callable
        ``function(*arrays, **static)`` returns a new array or a tuple of arrays. The function acts
        on the last axes, as the signature says, for any leading axes; inputs have one floating
        dtype.
    signature : str
        The core dimensions. With ``sizes``, outputs may have dimensions that no input has.
    results : sequence of None, dtype, "real" or "complex"
        The dtype of each output: the dtype of the inputs, a given one, or the real or complex dtype
        of the same precision.
    sizes : callable, optional
        ``sizes(known, **static)`` returns, by name, the sizes of dimensions that no input has;
        ``known`` has those of the inputs' dimensions.

    Notes
    -----
    A ``LinAlgError`` of the function is raised as `MatrixError`, a ``MemoryError`` as
    ``MemoryError``, any other exception as `OperatorError`. The error names the static parameter
    ``caller``, which the function does not get, or else the operator.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: str,
        results: Sequence[Any] | None = None,
        sizes: Sizes | None = None,
        **options: Any,
    ) -> None:
        super().__init__(function, signature, results=results, may_raise=True, **options)
        self._sizes = sizes

    def parse(self, signature: str) -> Signature:
        return parse_signature(signature, computed=True)

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        """Return the inputs as values of one floating dtype."""
        values = as_values(args)
        dtype = common_dtype([v.dtype for v in values])
        return self.align([v if v.dtype == dtype else v.astype(dtype) for v in values])

    def result_dtypes(self, dtypes: Sequence[np.dtype]) -> list[np.dtype]:
        common = common_dtype(dtypes)
        kinds = {
            None: common,
            "real": np.finfo(common).dtype,
            "complex": np.result_type(common, np.complex64),
        }
        return [kinds[r] if r in kinds else np.dtype(r) for r in self.results]

    def sizes(
        self, shapes: Sequence[tuple[int, ...]], static: dict[str, Any]
    ) -> dict[str, int]:
        known = self.core_sizes(shapes)
        return known | self._sizes(known, **_options(static)) if self._sizes else known

    def kernel(self, dtypes: tuple[np.dtype, ...], static: dict[str, Any]) -> tuple[Any, Sequence]:
        options = tuple(sorted(_options(static).items()))
        spec = self._specs.get((dtypes, options))
        if spec is None:
            results = tuple(self.result_dtypes(dtypes))
            spec = HostSpec(
                self.name, self.function, str(self.signature), dtypes, results, options
            )
            self._specs[dtypes, options] = spec
        return spec, ()

    def bound(self, target: Any, inputs: Specs, static: dict[str, Any]) -> Computation:
        """Return a function of arrays that calls the kernel, which is looked up once.

        Where the kernel fails, the function calls `run`, which raises the error; but not where
        memory was wanting, as a second call might find enough.
        """
        spec, numbers = self.kernel(tuple([x.dtype for x in inputs]), static)
        call, is_one = target.kernel(spec).call, self.nout == 1

        def compute(*arrays: np.ndarray) -> Any:
            try:
                result, status = call(*self.operands(contiguous, arrays), *numbers)
            except ValueError:
                result, status = None, 1
            except MemoryError as cause:
                raise self._out_of_memory(arrays, static, cause) from cause
            if status:
                found = self.run(target, arrays, static)
                return found[0] if is_one else found
            return np.asarray(result) if is_one else result

        return compute

    def computation(
        self, target: Any, inputs: Specs, static: dict[str, Any]
    ) -> Computation:
        own = type(self)
        if own.run is HostOperator.run and own.for_operands is KernelOperator.for_operands:
            return self.bound(target, inputs, static)
        return super().computation(target, inputs, static)

    # Failures ------------------------------------------------------------------------------------

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        try:
            return super().run(target, arrays, static)
        except MemoryError as cause:
            raise self._out_of_memory(arrays, static, cause) from cause

    def _out_of_memory(self, arrays: Any, static: dict[str, Any], cause: MemoryError) -> Any:
        return out_of_memory(static.get("caller", "") or self.name, arrays, "", cause)

    def failure(
        self, target: Any, spec: Any, inputs: Sequence[np.ndarray], status: int, static: Any
    ) -> Any:
        index, cores = next(islice(elements(inputs, self.ncore[: len(inputs)]), status - 1, None))
        where = f" at loop index {status - 1}" if index else ""
        return self._raised(target, spec, static, cores, where)

    def reports(self, spec: Any, static: dict[str, Any]) -> dict[str, Any]:
        def replay(target: Any, cores: Sequence[np.ndarray], where: str) -> Any:
            return self._raised(target, spec, static, cores, where)

        return {"replay": replay}

    def error_of(self, cause: Exception) -> type[Exception]:
        """Return the class of the error to raise for an exception of the function."""
        return MatrixError if isinstance(cause, np.linalg.LinAlgError) else OperatorError

    def _raised(
        self, target: Any, spec: Any, static: Any, cores: Sequence[np.ndarray], where: str
    ) -> BaseException:
        """Call the function again for one element of the loop; return the exception to raise."""
        name = static.get("caller", "") or self.name
        try:
            target.rerun(spec)(cores)
        except MemoryError as cause:
            return out_of_memory(name, cores, where, cause)
        except Exception as cause:
            error = self.error_of(cause)(f"{name}: {cause}{where}")
            error.__cause__ = cause
            return error
        except BaseException as interrupt:  # Ctrl-C arrived in the function
            return interrupt
        return OperatorError(f"{name} raised{where}, but not when it was called again")


class NumPyFunction(HostOperator):
    """A function of NumPy's whose results have shapes that do not depend on the elements.

    Operands keep their dtypes, but Python's numbers take the dtype of the other operands. Errors
    are NumPy's.

    Parameters
    ----------
    function : callable
        A universal function, which decides the dtypes of results, or a function that is called for
        each element of the loop.
    """

    gives_scalars = True

    def __init__(self, function: Any, signature: str, **options: Any) -> None:
        self._ufunc = function if isinstance(function, np.ufunc) else None
        super().__init__(function, signature, **{"differentiable": False, **options})
        if self._ufunc is not None:
            self.memory_order = lambda operands, static: [kept(operands)] * self.nout
        else:
            self.function = partial(_of_each, function, self.ncore[: len(self.signature.inputs)])

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        """Return operands as values with equally many leading axes.

        Python's numbers get the dtype of the other operands.
        """
        weak = [isinstance(a, WEAK) or getattr(a, "weak", None) is not None for a in args]
        if any(weak):
            dtype = np.result_type(*map(kind_of, args))
            args = [_in_dtype(a, dtype) if w else a for a, w in zip(args, weak, strict=True)]
        return self.align(as_values(args))

    def result_dtypes(self, dtypes: Sequence[np.dtype]) -> list[np.dtype]:
        if self._ufunc is None:
            return [np.dtype(r) if r is not None else dtypes[0] for r in self.results]
        return list(self._ufunc.resolve_dtypes((*dtypes, *(None,) * self.nout))[-self.nout :])

    def error_of(self, cause: Exception) -> type[Exception]:
        return type(cause)

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        expected = self.infer(arrays, static)
        if all(0 in shape for shape, _ in expected):  # the function may need an element
            return [np.empty(*each) for each in expected]
        return super().run(target, arrays, static)

    def computation(self, target: Any, inputs: Specs, static: dict[str, Any]) -> Computation:
        if any([0 in x.shape for x in inputs]):  # noqa: C419  a list is faster
            return super().computation(target, inputs, static)
        return self.bound(target, inputs, static)


def _in_dtype(number: Any, dtype: np.dtype) -> Any:
    """Return a number, or a value that stands for one, as a value of a dtype."""
    if isinstance(number, runtime.value):
        return number.astype(dtype, copy=False)
    return constant(np.asarray(number, dtype))


def _of_each(
    function: Callable[..., Any], ncore: Sequence[int], *arrays: np.ndarray, **options: Any
) -> np.ndarray:
    """Call a function for each element of the loop over operands; return all results as one array.
    """
    loop = broadcast_shapes(
        *(a.shape[: a.ndim - n] for a, n in zip(arrays, ncore, strict=True))
    )
    found = np.asarray([function(*cores, **options) for _, cores in elements(arrays, ncore)])
    return found.reshape(*loop, *found.shape[1:])


def _options(static: dict[str, Any]) -> dict[str, Any]:
    """Return the static parameters that the function gets."""
    return {name: value for name, value in static.items() if name != "caller"}


def host_operator(signature: str, **options: Any) -> Callable[[Callable[..., Any]], HostOperator]:
    """Declare a built-in operator from a function of whole arrays; see `HostOperator`."""
    return lambda function: HostOperator(function, signature, **options)
