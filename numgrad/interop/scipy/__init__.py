"""SciPy's solvers with exact derivatives, and derivatives through their solutions."""

from ..patching.patch import patch as patch
from . import distance as distance
from . import ndimage as ndimage
from .implicit.functions import function as function
from .implicit.linearization import linear_operator as linear_operator
from .integration.initial_value import solve_ivp as solve_ivp
from .integration.integrals import quad as quad
from .integration.nested import dblquad as dblquad
from .integration.nested import nquad as nquad
from .integration.nested import tplquad as tplquad
from .integration.odepack import fsolve as fsolve
from .integration.odepack import odeint as odeint
from .integration.sampled import cumulative_trapezoid as cumulative_trapezoid
from .integration.sampled import romb as romb
from .integration.sampled import simpson as simpson
from .integration.vector_integrals import fixed_quad as fixed_quad
from .integration.vector_integrals import quad_vec as quad_vec
from .interpolate.basis import BSpline as BSpline
from .interpolate.collocation import make_interp_spline as make_interp_spline
from .interpolate.cubic import CubicSpline as CubicSpline
from .interpolate.fitpack import InterpolatedUnivariateSpline as InterpolatedUnivariateSpline
from .interpolate.fitpack import UnivariateSpline as UnivariateSpline
from .interpolate.fitpack import splev as splev
from .interpolate.fitpack import splint as splint
from .interpolate.fitpack import splrep as splrep
from .interpolate.grids import RegularGridInterpolator as RegularGridInterpolator
from .interpolate.monotone import Akima1DInterpolator as Akima1DInterpolator
from .interpolate.monotone import PchipInterpolator as PchipInterpolator
from .interpolate.one_dimensional import interp1d as interp1d
from .interpolate.one_dimensional import interpn as interpn
from .interpolate.piecewise import CubicHermiteSpline as CubicHermiteSpline
from .interpolate.piecewise import PPoly as PPoly
from .interpolate.radial import RBFInterpolator as RBFInterpolator
from .interpolate.scattered import LinearNDInterpolator as LinearNDInterpolator
from .interpolate.scattered import NearestNDInterpolator as NearestNDInterpolator
from .interpolate.scattered import griddata as griddata
from .interpolate.surfaces import RectBivariateSpline as RectBivariateSpline
from .optimization.bracketing import bisect as bisect
from .optimization.bracketing import brenth as brenth
from .optimization.bracketing import brentq as brentq
from .optimization.bracketing import ridder as ridder
from .optimization.bracketing import toms748 as toms748
from .optimization.fits import curve_fit as curve_fit
from .optimization.fits import leastsq as leastsq
from .optimization.fits import nnls as nnls
from .optimization.newton import newton as newton
from .optimization.optima import least_squares as least_squares
from .optimization.optima import minimize as minimize
from .optimization.roots import fixed_point as fixed_point
from .optimization.roots import root as root
from .optimization.scalar_minima import brent as brent
from .optimization.scalar_minima import fminbound as fminbound
from .optimization.scalar_minima import golden as golden
from .optimization.scalar_minima import minimize_scalar as minimize_scalar
from .optimization.scalar_roots import root_scalar as root_scalar
from .rotations.rotation import Rotation as Rotation
from .rotations.slerp import Slerp as Slerp
from .spatial.distances import cdist as cdist
from .spatial.distances import pdist as pdist
from .spatial.distances import squareform as squareform
from .spatial.images import map_coordinates as map_coordinates
from .systems.eigen import eigh as eigh
from .systems.eigen import eigsh as eigsh
from .systems.linear import factorized as factorized
from .systems.linear import splu as splu
from .systems.linear import spsolve as spsolve

__all__ = [
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline",
    "InterpolatedUnivariateSpline", "LinearNDInterpolator", "NearestNDInterpolator", "PPoly",
    "PchipInterpolator", "RBFInterpolator", "RectBivariateSpline", "RegularGridInterpolator",
    "Rotation", "Slerp", "UnivariateSpline", "bisect", "brent", "brenth", "brentq", "cdist",
    "cumulative_trapezoid",
    "curve_fit", "dblquad", "eigh", "eigsh", "factorized", "fixed_point", "fixed_quad",
    "fminbound", "fsolve", "function", "golden", "griddata", "interp1d", "interpn",
    "least_squares", "leastsq", "linear_operator", "make_interp_spline", "map_coordinates",
    "minimize", "minimize_scalar", "newton", "nnls", "nquad", "odeint", "patch", "pdist", "quad",
    "quad_vec", "ridder", "romb", "root", "root_scalar", "simpson", "solve_ivp", "splev",
    "splint", "splrep", "splu", "spsolve", "squareform", "toms748", "tplquad",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
