"""Host operators: functions of NumPy and SciPy of whole arrays, for which there is no kernel."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .._errors import MatrixError, OperatorError
from .._signature import Signature, parse_signature
from .._specs import HostSpec
from .kernel import KernelOperator, common_dtype, elements
from .operator import as_values

Sizes = Callable[..., dict[str, int]]


class HostOperator(KernelOperator):
    """An operator whose values a function in Python computes, now and in programs.

    Parameters
    ----------
    function : callable
        ``function(*arrays, **static)`` returns a new array or a tuple of them. It acts on the last
        axes, as the signature says, for any leading ones; inputs have one floating dtype.
    signature : str
        Outputs may have dimensions that no input has, if there is ``sizes``.
    results : sequence of None, dtype, "real" or "complex"
        The dtype of each output: that of the inputs, a certain one, or the real or complex dtype
        of the same precision.
    sizes : callable, optional
        ``sizes(known, **static)`` returns the sizes of these dimensions by name, from those of the
        inputs.

    Notes
    -----
    A ``LinAlgError`` of the function comes out as `MatrixError`, any other exception as
    `OperatorError`; they name the static parameter ``caller``, which the function does not get, or
    else the operator.
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
        """Convert all inputs to one floating dtype."""
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

    # Failures ------------------------------------------------------------------------------------

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

    def _raised(
        self, target: Any, spec: Any, static: Any, cores: Sequence[np.ndarray], where: str
    ) -> BaseException:
        """Return the exception for one element of the loop, for which the function is called again.
        """
        name = static.get("caller", "") or self.name
        try:
            target.replay(spec, cores)
        except Exception as cause:
            kind = MatrixError if isinstance(cause, np.linalg.LinAlgError) else OperatorError
            error = kind(f"{name}: {cause}{where}")
            error.__cause__ = cause
            return error
        except BaseException as interrupt:  # the user's, which arrived in the function
            return interrupt
        return OperatorError(f"{name} raised{where}, but not when it was called again")


def _options(static: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in static.items() if name != "caller"}


def host_operator(signature: str, **options: Any) -> Callable[[Callable[..., Any]], HostOperator]:
    """Declare a built-in operator from a function of whole arrays; see `HostOperator`."""
    return lambda function: HostOperator(function, signature, **options)
