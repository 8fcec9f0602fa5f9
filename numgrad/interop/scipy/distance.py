"""Distances of vectors and of collections of points, under the names of
``scipy.spatial.distance``."""

from .spatial.distances import cdist as cdist
from .spatial.distances import pdist as pdist
from .spatial.distances import squareform as squareform
from .spatial.vectors import braycurtis as braycurtis
from .spatial.vectors import canberra as canberra
from .spatial.vectors import chebyshev as chebyshev
from .spatial.vectors import cityblock as cityblock
from .spatial.vectors import correlation as correlation
from .spatial.vectors import cosine as cosine
from .spatial.vectors import euclidean as euclidean
from .spatial.vectors import hamming as hamming
from .spatial.vectors import jensenshannon as jensenshannon
from .spatial.vectors import mahalanobis as mahalanobis
from .spatial.vectors import minkowski as minkowski
from .spatial.vectors import seuclidean as seuclidean
from .spatial.vectors import sqeuclidean as sqeuclidean

__all__ = [
    "braycurtis", "canberra", "cdist", "chebyshev", "cityblock", "correlation", "cosine",
    "euclidean", "hamming", "jensenshannon", "mahalanobis", "minkowski", "pdist", "seuclidean",
    "sqeuclidean", "squareform",
]  # fmt: skip
