"""Host operators for operands of certain dtypes and numbers of axes, given when one is made."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir.gufunc_signature import Signature
from ..ir.kernel_spec import HostSpec
from .host import HostOperator
from .operands import as_values


class TypedHostOperator(HostOperator):
    """A host operator for one kind of operands, which are not converted.

    Exceptions of the function are raised as they are.

    Parameters
    ----------
    name : str
    inputs, outputs : sequence of tuple of str
        The names of the core dimensions of each.
    dtypes, results : sequence of dtype
        Those of inputs and outputs.
    """

    lends = False  # whether the function hands its arguments to code compiled for writable arrays
    on_device: Any = None
    """Computes on arrays of a device where they are; see `HostSpec`."""
    into: Any = None
    """Computes the results where they are wanted; see `HostSpec`."""
    fuse: Any = None
    """Fuses the programs that the function runs; see `HostSpec`."""
    as_loop: Any = None
    """Returns the operator as a loop that one kernel has inside; see `HostSpec`."""
    of_rows: Any
    """Returns the results for arrays with equally many leading axes."""

    def __init__(
        self, name: str, inputs: Sequence[tuple[str, ...]], outputs: Sequence[tuple[str, ...]],
        dtypes: Sequence[np.dtype], results: Sequence[np.dtype],
    ) -> None:  # fmt: skip
        names = tuple(dict.fromkeys(name for core in (*inputs, *outputs) for name in core))
        self._signature = Signature(tuple(inputs), tuple(outputs), names)
        self.dtypes, self.out_dtypes = tuple(dtypes), tuple(results)
        super().__init__(
            self._of_all, str(self._signature), name=name, register=False, results=list(results)
        )
        self._spec: HostSpec | None = None

    def single(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Return the results for arrays without leading axes."""
        raise NotImplementedError

    def declare(self, pullback: Callable[..., Any], reads: Sequence[bool]) -> None:
        """Declare the derivative, which must be the same for all nodes of a kind.

        ``reads`` says for each input and output whether ``pullback`` reads it.
        """
        self.reads(lambda needs: tuple(reads))
        self.pullback(pullback)
        self.has_rule = True

    def native(self, other: int) -> int | None:
        """Return the address of a kernel that runs without Python, None where there is none; see
        `HostSpec`."""
        return None

    # What the engine asks

    def parse(self, signature: str) -> Signature:
        return self._signature

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        return self.align(as_values(args))

    def result_dtypes(self, dtypes: Sequence[np.dtype]) -> list[np.dtype]:
        return list(self.out_dtypes)

    def kernel(self, dtypes: tuple[np.dtype, ...], static: dict[str, Any]) -> tuple[Any, Sequence]:
        if self._spec is None:
            self._spec = HostSpec(
                self.name, self.function, str(self.signature), self.dtypes, self.out_dtypes,
                lends=self.lends, native=self.native, on_device=self.on_device,
                into=self.into, fuse=self.fuse, as_loop=self.as_loop,
            )  # fmt: skip
        return self._spec, ()

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        for array, ncore in zip(arrays, self.ncore, strict=False):
            if array.ndim != ncore:
                return super().run(target, arrays, static)
        return self.single(*arrays)

    def _of_all(self, *arrays: np.ndarray) -> Any:
        is_single = arrays[0].ndim == self.ncore[0]
        found = self.single(*arrays) if is_single else self.of_rows(*arrays)
        return tuple(found) if self.nout > 1 else found[0]

    # Failures: the error is the user's own

    def note(self, where: str) -> str:
        """Return the note for an exception that the function raised within a program."""
        return f"in {self.name}{where}"

    def _raised(
        self, target: Any, spec: Any, static: Any, cores: Sequence[np.ndarray], where: str
    ) -> BaseException:
        try:
            target.rerun(spec)(cores)
        except BaseException as cause:
            cause.add_note(self.note(where))
            return cause
        return super()._raised(target, spec, static, cores, where)
