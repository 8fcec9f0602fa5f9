"""numgrad: reverse-mode automatic differentiation on NumPy arrays, with kernels compiled by Numba."""

from . import compat as compat
from . import graph as graph
from ._autograd import backward as backward
from ._autograd import enable_grad as enable_grad
from ._autograd import grad as grad
from ._autograd import is_grad_enabled as is_grad_enabled
from ._autograd import no_grad as no_grad
from ._autograd import set_grad_enabled as set_grad_enabled
from ._declare import elementwise as elementwise
from ._settings import get_flags as get_flags
from ._settings import set_flags as set_flags
from ._tensor import Tensor as Tensor
from ._tensor import tensor as tensor
from ._version import __version__ as __version__
from .functions import binding as _binding

# elementwise

# reduction

# sorting

# shape

# indexing

# linalg

# special

# creation

_binding.bind()
