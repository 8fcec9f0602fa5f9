"""Structures of sparse arrays: the places of their elements, and the maps of these by operations,
computed once and kept."""

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
    """A linear map of stored numbers: the results are numbers at ``places``, or sums of numbers.

    Attributes
    ----------
    places : numpy.ndarray
        The place of the number of each result; or the result to which each number is added.
    size : int or None
        The number of results, if numbers are added; None if they are picked.
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
    """Return the map whose results are the numbers at ``places``."""
    return LinearMap(_constant(places, np.int64), None, has_distinct_places)


def summed(places: Any, size: int) -> LinearMap:
    """Return the map that adds each number to one of ``size`` results."""
    places = _constant(places, np.int64)
    return LinearMap(places, size, bool(np.bincount(places, minlength=1).max(initial=0) <= 1))


def _constant(values: Any, dtype: Any) -> np.ndarray:
    """Return a read-only copy."""
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array


# The cache of structures --------------------------------------------------------------------------


class SizedCache:
    """A cache of structures and index arrays, up to a total size; it is emptied when it would
    exceed it, as `Bounded` is."""

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._made: dict[Hashable, Any] = {}

    def get(self, key: Hashable, make: Callable[[], Any], size: int) -> Any:
        """Return the object of a key, made at first use; ``size`` is its number of elements."""
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
    """Return a short hash of the elements of index arrays."""
    digest = blake2b(digest_size=20)
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array, np.int64).data)
    return digest.digest()


# Structures ---------------------------------------------------------------------------------------


class Structure:
    """The places of the elements of a sparse array: row by row, in each row by columns, all
    different.

    Attributes
    ----------
    shape : tuple of int
    indices : numpy.ndarray
        The column of each element.
    indptr : numpy.ndarray
        The start of each row among the elements, and the end of the last row.
    is_exact : bool
        Equal structures are alike in all that they hold.
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
        """The number of elements."""
        return self.indices.size

    def cached(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return an object made from this structure and the rest of the key; it is made once."""
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = make()
        return found

    def flat(self) -> np.ndarray:
        """Return the places of the elements among all elements of the matrix, in C order."""
        return self.cached("flat", lambda: self.rows * self.shape[1] + self.indices)

    def stored(self) -> Stored:
        """Return the `Stored` elements that a product with a dense array reads."""
        starts, stops = self.indptr[:-1], self.indptr[1:]
        return Stored(self.indices, starts, stops, None, False, self.shape[1])

    def by_scipy(self, function: Callable[..., Any], *others: "Structure") -> Any:
        """Apply a function of SciPy that moves elements to sparse arrays of these structures.

        Return the structure of the result, and the map from the numbers of all arguments, one after
        the other. A result that is not a matrix is returned as it is.
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
    """Return the structure with elements at places in any order, and the map of the numbers, None
    if it is the identity.

    Numbers at one place are added.
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
    """Return the structure of sorted places: one object for all equal structures."""
    structure = Structure(shape, rows, columns)
    return _cache.get(structure, lambda: structure, 3 * structure.nnz)


def indices_of(values: Any, what: str) -> np.ndarray:
    """Return a vector of indices; a captured function is guarded by its values."""
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
    """Return the structure of a sum, and the maps of both operands into it."""

    def make() -> Any:
        flat, into = np.unique(np.concatenate([a.flat(), b.flat()]), return_inverse=True)
        structure = _with_places(a.shape, *np.divmod(flat, max(a.shape[1], 1)))
        parts = into[: a.nnz], into[a.nnz :]
        return structure, *(summed(part, flat.size) for part in parts)

    return a.cached(("union", b), make)


def intersection(a: Structure, b: Structure) -> tuple[Structure, LinearMap, LinearMap]:
    """Return the structure of an elementwise product, and the maps that pick the numbers of both
    operands."""

    def make() -> Any:
        flat, *sources = np.intersect1d(
            a.flat(), b.flat(), assume_unique=True, return_indices=True
        )
        structure = _with_places(a.shape, *np.divmod(flat, max(a.shape[1], 1)))
        return structure, *map(picked, sources)

    return a.cached(("intersection", b), make)


class ProductTerms(NamedTuple):
    """The terms of a product of matrices: the maps that pick their factors, and the map that adds
    them."""

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
