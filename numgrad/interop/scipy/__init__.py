"""SciPy's solvers with exact derivatives, and derivatives through their solutions."""

from .functions import function as function
from .linearization import linear_operator as linear_operator
from .roots import fixed_point as fixed_point
from .roots import root as root

__all__ = ["fixed_point", "function", "linear_operator", "root"]
