"""Structures of sparse arrays: the places of their stored elements, and where operations move them.

What an operation does to the stored numbers is a linear map, which depends on the structures of its
operands alone. So structures and maps are computed once and kept.
"""

from collections.abc import Callable, Hashable
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from ..._tensor import Tensor
from ...engine.record.guards import guarded
from ...functions.array.operands import as_tensors, values_of
from ...functions.creation.constants import zeros
from ...functions.products.sparse import Stored
from ...operators.shape.gathering import gather, scatter_add, summable
from ...process.bounded_dict import Bounded

# Maps of stored numbers ---------------------------------------------------------------------------


class LinearMap(NamedTuple):
    """A linear map of stored numbers, which either picks some of them or adds them up in groups.

    Attributes
    ----------
    places : numpy.ndarray
        A map that picks: for each result the index of its number. A map that adds: for each number
        the index of the result to which it is added.
    size : int or None
        The number of results of a map that adds; None for a map that picks.
    has_distinct_places : bool
        Whether all places are different.
    """

    places: np.ndarray
    size: int | None
    has_distinct_places: bool

    def __call__(self, data: Any) -> Tensor:
        data, places = as_tensors(data, self.places)
        once: dict[str, Any] = {"once": True} if self.has_distinct_places else {}
        if self.size is None:
            return gather(data, places, count=1, tail=0, shape=self.places.shape, **once)
        if not self.places.size:
            return zeros(self.size, dtype=data.dtype)
        given = data if self.has_distinct_places else summable(data)
        added = scatter_add(given, places, count=1, tail=0, sizes=(self.size,), **once)
        return added.astype(data.dtype, copy=False)


def picked(places: Any, has_distinct_places: bool = True) -> LinearMap:
    """Return the map that picks the numbers with the indices ``places``."""
    return LinearMap(_constant(places, np.int64), None, has_distinct_places)


def summed(places: Any, size: int) -> LinearMap:
    """Return the map that adds number ``n`` to result ``places[n]`` of ``size`` results."""
    places = _constant(places, np.int64)
    return LinearMap(places, size, bool(np.bincount(places, minlength=1).max(initial=0) <= 1))


def _constant(values: Any, dtype: Any) -> np.ndarray:
    """Return a read-only copy of values as an array of a dtype."""
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array


# The cache of structures --------------------------------------------------------------------------


class SizedCache:
    """A cache of structures and index arrays, which is emptied when they exceed a total size.

    Parameters
    ----------
    most : int
        The greatest total number of elements.
    """

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._made: dict[Hashable, Any] = {}

    def get(self, key: Hashable, make: Callable[[], Any], size: int) -> Any:
        """Return the object of a key, made by ``make()`` if there is none yet.

        ``size`` is the number of elements of the object.
        """
        if key not in self._made:
            made = make()
            if self._size + size > self._most:
                self._made, self._size = {}, 0
            self._made[key] = made
            self._size += size
            return made
        return self._made[key]


_cache = SizedCache(1 << 26)


def fingerprint(*arrays: np.ndarray) -> bytes:
    """Return a hash of the shapes and elements of index arrays, of 20 bytes."""
    digest = blake2b(digest_size=20)
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array, np.int64).data)
    return digest.digest()


# Structures ---------------------------------------------------------------------------------------


class Structure:
    """The places of the stored elements of a sparse array.

    The places are sorted by rows, in each row by columns, and all different.

    Attributes
    ----------
    shape : tuple of int
    indices : numpy.ndarray
        The column of each element.
    indptr : numpy.ndarray
        The start of each row among the elements, and the end of the last row.
    is_exact : bool
        True: structures that compare equal are alike in all that they hold.
    """

    is_exact = True

    def __init__(self, shape: tuple[int, int], rows: np.ndarray, columns: np.ndarray) -> None:
        self.shape = shape
        most = max(*shape, columns.size)
        dtype = np.int32 if most <= np.iinfo(np.int32).max else np.int64
        starts = np.append(0, np.cumsum(np.bincount(rows, minlength=shape[0])))
        self.indices, self.indptr = _constant(columns, dtype), _constant(starts, dtype)
        self.rows = _constant(rows, np.int64)
        self._key = (shape, fingerprint(self.indices, self.indptr))
        self._made: Bounded[Hashable, Any] = Bounded(32)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Structure) and self._key == other._key)

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> Any:
        return _with_places, (self.shape, self.rows, self.indices)

    @property
    def nnz(self) -> int:
        """The number of stored elements."""
        return self.indices.size

    def cached(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the object that is kept under a key, made by ``make()`` at first.

        The key names the operation and all that the object depends on beside this structure.
        """
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = make()
        return found

    def flat(self) -> np.ndarray:
        """Return for each stored element its index among all elements of the matrix in C order."""
        return self.cached("flat", lambda: self.rows * self.shape[1] + self.indices)

    def stored(self) -> Stored:
        """Return the places as a `Stored`, the form in which products with dense arrays read them.
        """
        starts, stops = self.indptr[:-1], self.indptr[1:]
        return Stored(self.indices, starts, stops, None, False, self.shape[1])

    def by_scipy(self, function: Callable[..., Any], *others: "Structure") -> Any:
        """Find out where a function of SciPy moves the elements of sparse arrays.

        The function is called on sparse arrays of SciPy with this structure and ``others``, in
        which the stored elements are numbered from 1. If the function returns a matrix, this method
        returns the structure of that matrix, and the map to its numbers from the numbers of all
        arguments, one after the other. Any other result of the function is returned as it is.
        """
        from scipy.sparse import csr_array

        numbered, first = [], 1  # SciPy drops zeros
        for one in (self, *others):
            numbers = np.arange(first, first + one.nnz)
            numbered.append(csr_array((numbers, one.indices, one.indptr), shape=one.shape))
            first += one.nnz
        moved = function(*numbered)
        if getattr(moved, "ndim", 0) != 2:
            return moved
        moved = moved.tocoo()
        structure, order = assembled(moved.row, moved.col, moved.shape)
        sources = moved.data - 1
        if order is not None:
            sources = sources[np.argsort(order.places, kind="stable")]
        return structure, picked(sources, np.unique(sources).size == sources.size)


def assembled(
    rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]
) -> tuple[Structure, LinearMap | None]:
    """Return the structure with elements at places that are given in any order, and a map.

    The map takes the numbers in the given order to the stored numbers, and adds those at one place.
    The map is None if the places are sorted and different, as it would change nothing.
    """
    key = "assembled", shape, fingerprint(rows, columns)
    return _cache.get(key, lambda: _assembled(rows, columns, shape), rows.size)


def _assembled(
    rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]
) -> tuple[Structure, LinearMap | None]:
    flat = rows.astype(np.int64) * shape[1] + columns
    if (flat[1:] > flat[:-1]).all():
        return _with_places(shape, rows, columns), None
    places, into = np.unique(flat, return_inverse=True)
    structure = _with_places(shape, *np.divmod(places, max(shape[1], 1)))
    return structure, summed(into, places.size)


def _with_places(shape: tuple[int, int], rows: np.ndarray, columns: np.ndarray) -> Structure:
    """Return the structure with sorted places; equal structures are one object."""
    structure = Structure(shape, rows, columns)
    return _cache.get(structure, lambda: structure, 3 * structure.nnz)


def indices_of(values: Any, what: str) -> np.ndarray:
    """Return a vector of indices as an array; ``what`` is the name of the function for errors.

    While a function is captured, the values of the indices become a guard of the capture.
    """
    array = np.asarray(values_of(guarded(values)))
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"{what}: indices are vectors of integers, got {array.dtype} of shape {array.shape}"
        )
    return array


# Structures of sums and products ------------------------------------------------------------------


def union(a: Structure, b: Structure) -> tuple[Structure, LinearMap, LinearMap]:
    """Return the structure of a sum, and the maps from the numbers of both operands to it."""

    def make() -> Any:
        flat, into = np.unique(np.concatenate([a.flat(), b.flat()]), return_inverse=True)
        structure = _with_places(a.shape, *np.divmod(flat, max(a.shape[1], 1)))
        parts = into[: a.nnz], into[a.nnz :]
        return structure, *(summed(part, flat.size) for part in parts)

    return a.cached(("union", b), make)


def intersection(a: Structure, b: Structure) -> tuple[Structure, LinearMap, LinearMap]:
    """Return the structure of an elementwise product, and the maps that pick its factors.

    The maps are one for each operand.
    """

    def make() -> Any:
        flat, *sources = np.intersect1d(
            a.flat(), b.flat(), assume_unique=True, return_indices=True
        )
        structure = _with_places(a.shape, *np.divmod(flat, max(a.shape[1], 1)))
        return structure, *map(picked, sources)

    return a.cached(("intersection", b), make)


class ProductTerms(NamedTuple):
    """The terms of a product of sparse matrices: each is a product of two stored numbers.

    Attributes
    ----------
    structure : Structure
        The structure of the result.
    left, right : LinearMap
        Pick the factors of each term from the numbers of either operand.
    into : LinearMap or None
        Adds the terms of each stored number of the result; None if each is one term in order.
    """

    structure: Structure
    left: LinearMap
    right: LinearMap
    into: LinearMap | None


def product(a: Structure, b: Structure) -> ProductTerms:
    """Return the terms of the product of two matrices."""

    def make() -> Any:
        counts = np.diff(b.indptr)[a.indices].astype(np.int64)
        left = np.repeat(np.arange(a.nnz), counts)
        ends = np.cumsum(counts)
        right = np.arange(left.size) + np.repeat(b.indptr[a.indices] - (ends - counts), counts)
        structure, into = assembled(
            a.rows[left], b.indices[right], (a.shape[0], b.shape[1])
        )
        return ProductTerms(structure, picked(left, False), picked(right, False), into)

    return a.cached(("product", b), make)


def kronecker(a: Structure, b: Structure) -> ProductTerms:
    """Return the terms of the Kronecker product of two matrices, one for each element."""

    def make() -> Any:
        left, right = np.divmod(np.arange(a.nnz * b.nnz), max(b.nnz, 1))
        (m, n), (height, width) = a.shape, b.shape
        structure, into = assembled(
            a.rows[left] * height + b.rows[right],
            a.indices[left].astype(np.int64) * width + b.indices[right],
            (m * height, n * width),
        )
        return ProductTerms(structure, picked(left, False), picked(right, False), into)

    return a.cached(("kron", b), make)
