"""numgrad: reverse-mode automatic differentiation on NumPy arrays, with kernels compiled by Numba."""

from . import compat as compat
from . import func as func
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
from numpy import bool as bool
from numpy import complex64 as complex64
from numpy import complex128 as complex128
from numpy import e as e
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import inf as inf
from numpy import int8 as int8
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import nan as nan
from numpy import newaxis as newaxis
from numpy import pi as pi
from numpy import uint8 as uint8
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64

_binding.bind()
