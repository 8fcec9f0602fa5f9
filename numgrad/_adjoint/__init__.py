"""Derived adjoints of kernels that are written in loops: the reverse mode of their source.

The way of a kernel: ``frontend`` reads the text, removes ``break``, ``continue`` and ``return``,
and has ``builder`` make structured SSA of it (``ssa``). ``analyses`` remove repetitions and find
out what has to be differentiated and kept. ``generation`` writes the adjoint, and ``respelling``
rewrites that for Numba. ``derived`` is what others call. Nothing here knows tensors.
"""

from .derived import Derived as Derived
from .derived import Options as Options
from .derived import derive as derive
from .derived import surroundings as surroundings
from .derived import type_of as type_of
from .kernel import adjoint as adjoint
from .kernel import adjoint_source as adjoint_source
from .ssa.refusal import AdjointError as AdjointError
