"""The built-in operators, by chapter: declarations only."""

from . import cast as cast
from . import comparison as comparison
from . import complex_parts as complex_parts
from . import cumulative as cumulative
from . import determinant as determinant
from . import elementwise as elementwise
from . import exponential as exponential
from . import factorization as factorization
from . import gathering as gathering
from . import indexing as indexing
from . import joining as joining
from . import matmul as matmul
from . import positions as positions
from . import powers as powers
from . import reduction as reduction
from . import rounding as rounding
from . import searching as searching
from . import selection as selection
from . import shape as shape
from . import sliding as sliding
from . import sorting as sorting
from . import special as special
from . import spherical as spherical
from . import trigonometric as trigonometric
