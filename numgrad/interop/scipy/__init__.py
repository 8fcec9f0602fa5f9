"""SciPy's solvers with exact derivatives, and derivatives through their solutions."""

from .bracketing import brentq as brentq
from .distances import cdist as cdist
from .distances import pdist as pdist
from .distances import squareform as squareform
from .eigen import eigh as eigh
from .eigen import eigsh as eigsh
from .functions import function as function
from .images import map_coordinates as map_coordinates
from .initial_value import solve_ivp as solve_ivp
from .integrals import quad as quad
from .interpolate.basis import BSpline as BSpline
from .interpolate.collocation import make_interp_spline as make_interp_spline
from .interpolate.cubic import CubicSpline as CubicSpline
from .interpolate.grids import RegularGridInterpolator as RegularGridInterpolator
from .interpolate.monotone import Akima1DInterpolator as Akima1DInterpolator
from .interpolate.monotone import PchipInterpolator as PchipInterpolator
from .interpolate.piecewise import CubicHermiteSpline as CubicHermiteSpline
from .interpolate.piecewise import PPoly as PPoly
from .linear import factorized as factorized
from .linear import splu as splu
from .linear import spsolve as spsolve
from .linearization import linear_operator as linear_operator
from .odepack import fsolve as fsolve
from .odepack import odeint as odeint
from .optima import least_squares as least_squares
from .optima import minimize as minimize
from .patching.patch import patch as patch
from .roots import fixed_point as fixed_point
from .roots import root as root
from .sampled import cumulative_trapezoid as cumulative_trapezoid
from .sampled import simpson as simpson

__all__ = [
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline", "PPoly",
    "PchipInterpolator", "RegularGridInterpolator", "brentq", "cdist", "cumulative_trapezoid",
    "eigh", "eigsh", "factorized", "fixed_point", "fsolve", "function", "least_squares",
    "linear_operator", "make_interp_spline", "map_coordinates", "minimize", "odeint", "patch",
    "pdist", "quad", "root", "simpson", "solve_ivp", "splu", "spsolve", "squareform",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
