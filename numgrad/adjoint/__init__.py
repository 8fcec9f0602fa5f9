"""Derived adjoints of kernels that are written in loops: the reverse mode of their source.

The way of a kernel: ``source`` reads the text, ``jumps`` removes ``break``, ``continue`` and
``return``, ``statements`` and the modules next to it make structured SSA (``ir``), ``simplify``
removes repetitions, ``activity``, ``dependence`` and ``keep`` find out what has to be
differentiated and kept, ``forward``, ``reverse`` and ``tape`` write the adjoint, ``derived`` is
what others call. Nothing here knows tensors.
"""

from .derived import Derived as Derived
from .derived import Options as Options
from .derived import derive as derive
from .derived import type_of as type_of
from .kernel import adjoint as adjoint
from .kernel import adjoint_source as adjoint_source
from .refusal import AdjointError as AdjointError
