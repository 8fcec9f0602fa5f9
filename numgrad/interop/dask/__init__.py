"""Jacobians, gradients and ensembles on a cluster of Dask, or on the processes of one machine.

Tasks depend on their arguments alone, and are cut as ``chunk_size`` says, whatever the number of
workers. So a worker that is lost costs time and nothing else, and results have the bits of one
process (where BLAS or LAPACK is called, to rounding).
"""

from .blocks import map_blocks as map_blocks
from .blocks import value_and_grad as value_and_grad
from .jacobians import jacobian as jacobian

__all__ = ["jacobian", "map_blocks", "value_and_grad"]


def __dir__() -> list[str]:
    return __all__
