"""Filters and geometry of images under the names of ``scipy.ndimage``."""

from ..spatial.images import map_coordinates as map_coordinates
from .filters import convolve as convolve
from .filters import convolve1d as convolve1d
from .filters import correlate as correlate
from .filters import correlate1d as correlate1d
from .filters import laplace as laplace
from .filters import prewitt as prewitt
from .filters import sobel as sobel
from .filters import uniform_filter as uniform_filter
from .filters import uniform_filter1d as uniform_filter1d
from .gaussian import gaussian_filter as gaussian_filter
from .gaussian import gaussian_filter1d as gaussian_filter1d
from .gaussian import gaussian_gradient_magnitude as gaussian_gradient_magnitude
from .gaussian import gaussian_laplace as gaussian_laplace
from .geometry import affine_transform as affine_transform
from .geometry import rotate as rotate
from .geometry import shift as shift
from .geometry import zoom as zoom
from .ranks import maximum_filter as maximum_filter
from .ranks import maximum_filter1d as maximum_filter1d
from .ranks import median_filter as median_filter
from .ranks import minimum_filter as minimum_filter
from .ranks import minimum_filter1d as minimum_filter1d
from .ranks import percentile_filter as percentile_filter
from .ranks import rank_filter as rank_filter
from .spline_filters import spline_filter as spline_filter
from .spline_filters import spline_filter1d as spline_filter1d

__all__ = [
    "affine_transform", "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter",
    "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace", "laplace",
    "map_coordinates", "maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter",
    "minimum_filter1d", "percentile_filter", "prewitt", "rank_filter", "rotate", "shift",
    "sobel", "spline_filter", "spline_filter1d", "uniform_filter", "uniform_filter1d", "zoom",
]  # fmt: skip
