"""The transposed map of a derivative's kernel, for a kernel whose transposed one was not declared.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..operands import constant
from ..operator import registry
from ..partial import conjugate
from .derivative import TransposedKernel, as_tuple, core_zeros


class TransposedByUnitVectors(TransposedKernel):
    """The transposed map of a kernel, computed by the kernel itself from unit vectors.

    The kernel, applied to every unit vector of a linear input, gives the rows of its matrix: as
    many as a core has elements, one for a kernel of scalars. The matrix does not depend on
    cotangents, so all rows of a batch share it.
    """

    def _products(
        self, context: Any, cotangents: Sequence[Any], values: Sequence[Any]
    ) -> Sequence[Any]:
        specs = context.input_specs[: self.owner.linear]
        return [
            None if spec.dtype.kind not in "fc" else self._product(context, n, cotangents, values)
            for n, spec in enumerate(specs)
        ]

    def _product(
        self, context: Any, position: int, cotangents: Sequence[Any], values: Sequence[Any]
    ) -> Any:
        """Return the product of the transposed map with cotangents, for one linear input."""
        dtype = context.input_specs[position].dtype
        total = self._along(context, position, cotangents, values, 1)
        if dtype.kind != "c":
            return total
        turned = self._along(context, position, cotangents, values, 1j)
        real, unit = registry["real"], constant(np.asarray(1j, dtype))
        total, turned = real(total).astype(dtype), real(turned).astype(dtype)
        return registry["add"](total, registry["multiply"](turned, unit))

    def _along(
        self, context: Any, position: int, cotangents: Sequence[Any], values: Sequence[Any],
        unit: complex,
    ) -> Any:  # fmt: skip
        """Return the inner product of cotangents with each row of the matrix times ``unit``."""
        owner, specs = self.owner, context.input_specs
        loop = len(context.output_specs[0].shape) - owner.ncore[len(owner.inputs)]
        core = _core(specs[position], owner.ncore[position])
        count = math.prod(core)
        units = np.eye(count, dtype=specs[position].dtype).reshape(count, *(1,) * loop, *core)
        seeds = [core_zeros(spec, n) for spec, n in zip(specs, owner.ncore, strict=False)]
        seeds = seeds[: owner.linear]
        seeds[position] = constant(units * specs[position].dtype.type(unit))
        rows = as_tuple(self.kernel(*seeds, *values, **self.static(context)))
        total = None
        for n, (row, g) in enumerate(zip(rows, cotangents, strict=True)):
            if g is not None:
                product = _inner(row, g, loop, owner.ncore[len(owner.inputs) + n])
                total = product if total is None else registry["add"](total, product)
        return registry["reshape"](total, ncore=1, shape=core)


def _core(spec: Any, ncore: int) -> tuple[int, ...]:
    """Return the last ``ncore`` sizes of a shape."""
    return spec.shape[len(spec.shape) - ncore :]


def _inner(rows: Any, g: Any, loop: int, ncore: int) -> Any:
    """Return the inner product of ``g`` with each of ``rows``, which are along the first axis.

    The axis of the rows comes last in the result, after the loop axes.
    """
    shape = rows.shape
    size = math.prod(shape[len(shape) - ncore :])
    rows = registry["reshape"](rows, ncore=ncore, shape=(size,))
    g = registry["reshape"](g, ncore=ncore, shape=(size,))
    ndim = loop + 2
    axes = (*range(1 - ndim, -1), -ndim, -1)
    rows = conjugate(registry["permute_dims"](rows, axes=axes))
    column = registry["expand_dims"](g, axes=(-1,))
    return registry["squeeze"](registry["matmul"](rows, column), axes=(-1,))
