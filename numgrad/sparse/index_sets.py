"""Index sets, one for each element of an array: the elements of the inputs that it depends on.

The sets are stored like a sparse matrix by rows: the sorted members of all sets one after the
other, and the start of each set. All sets together are the pattern of a Jacobian: a set is a row,
and its members are the columns with entries.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from typing import Any

import numpy as np

from .._errors import SparsityError
from .compiled import compiled


def _most() -> int:
    """Return the greatest number of entries that a pattern may have on this machine.

    SciPy counts entries in 32 bits. To compute a pattern takes a few times the memory that its
    entries take, and all of that has to fit.
    """
    most = int(np.iinfo(np.int32).max)
    with suppress(AttributeError, ValueError, OSError):  # the system may not know
        nbytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return min(most, nbytes // (4 * np.dtype(np.int64).itemsize))
    return most


FEW = 8  # so many members or fewer are sorted by insertion


class IndexSets:
    """Index sets, one for each element of an array in C order.

    Attributes
    ----------
    starts : ndarray of int64
        Where each set begins in ``members``, and where the last one ends.
    members : ndarray of int64
        The members of all sets, sorted in each set.
    width : int
        The number of elements of all inputs: members are less.
    """

    __slots__ = ("members", "starts", "width")

    def __init__(self, starts: np.ndarray, members: np.ndarray, width: int) -> None:
        self.starts, self.members, self.width = starts, members, width

    @classmethod
    def of_inputs(cls, size: int, first: int, width: int) -> "IndexSets":
        """Return the sets of ``size`` elements of inputs, each of which depends on itself alone.

        ``first`` is the number of the first of these elements.
        """
        return cls(np.arange(size + 1), np.arange(first, first + size), width)

    @classmethod
    def empty(cls, size: int, width: int) -> "IndexSets":
        return cls(np.zeros(size + 1, np.int64), np.empty(0, np.int64), width)

    def __len__(self) -> int:
        return self.starts.size - 1

    @property
    def counts(self) -> np.ndarray:
        """The number of members of each set."""
        return np.diff(self.starts)

    @property
    def rows(self) -> np.ndarray:
        """For each member the number of its set."""
        return np.repeat(np.arange(len(self)), self.counts)

    def transposed(self) -> "IndexSets":
        """Return the transposed pattern: for each column the numbers of the sets with that column.
        """
        starts = starts_of(np.bincount(self.members, minlength=self.width))
        members = np.empty_like(self.members)
        _transpose(self.starts, self.members, starts[:-1], out=[members])
        return IndexSets(starts, members, len(self))

    def equals(self, other: "IndexSets") -> bool:
        """Whether two patterns have the same sets."""
        pairs = (self.starts, other.starts), (self.members, other.members)
        return self.width == other.width and all(np.array_equal(*pair) for pair in pairs)

    def as_matrix(self) -> Any:
        """Return the sets as the rows of a csr_array of booleans."""
        from scipy.sparse import csr_array

        narrow = self.members.astype(np.int32), self.starts.astype(np.int32)
        ones = np.ones(self.members.size, np.bool_)
        return csr_array((ones, *narrow), shape=(len(self), self.width))

    def take(self, positions: np.ndarray) -> "IndexSets":
        """Return the sets at positions, and an empty set for each position -1."""
        at = np.ascontiguousarray(positions, np.int64).reshape(-1)
        if not len(self):
            return IndexSets.empty(at.size, self.width)
        starts = starts_of(np.where(at < 0, 0, self.starts[at + 1] - self.starts[at]))
        members = np.empty(starts[-1], np.int64)
        _take(self.starts, self.members, at, starts, out=[members])
        return IndexSets(starts, members, self.width)

    def union(self, other: "IndexSets") -> "IndexSets":
        """Return the unions of the sets of two arrays of one size, taken element by element."""
        if other is self or not other.members.size:
            return self
        if not self.members.size:
            return other
        members = np.empty(_allowed(self.members.size + other.members.size), np.int64)
        starts = np.empty_like(self.starts)
        _union(self.starts, self.members, other.starts, other.members, out=[starts, members])
        return IndexSets(starts, members[: starts[-1]], self.width)

    def union_over_groups(self, starts: np.ndarray, positions: np.ndarray) -> "IndexSets":
        """Return for each group of positions the union of the sets there.

        Group ``n`` consists of ``positions[starts[n]:starts[n + 1]]``.
        """
        starts = np.ascontiguousarray(starts, np.int64)
        at = np.ascontiguousarray(positions, np.int64).reshape(-1)
        stamps, counts = np.empty(self.width, np.int64), np.empty(starts.size - 1, np.int64)
        given = (starts, at, self.starts, self.members)
        _group(*given, starts, False, out=[stamps, counts, np.empty(0, np.int64)])
        result = starts_of(counts)
        members = np.empty(result[-1], np.int64)
        _group(*given, result, True, out=[stamps, counts, members])
        return IndexSets(result, members, self.width)

    def union_over_rows(self, blocks: np.ndarray) -> "IndexSets":
        """Return for each row of a matrix of positions the union of the sets there."""
        rows, size = blocks.shape
        return self.union_over_groups(np.arange(rows + 1) * size, blocks)

    def running_unions(self, blocks: np.ndarray) -> "IndexSets":
        """Return for each entry of a matrix of positions the union up to there along its row.

        Unions over one position are joined to unions over two, these to unions over four, and so
        on.
        """
        found, at, length = self.take(blocks), np.arange(blocks.size).reshape(blocks.shape), 1
        while length < blocks.shape[1]:
            before = np.full_like(at, -1)
            before[:, length:] = at[:, :-length]
            found, length = found.union(found.take(before)), 2 * length
        return found


def stacked(sets: Sequence[IndexSets]) -> IndexSets:
    """Return the sets of all elements of several arrays, one array after the other."""
    if len(sets) == 1:
        return sets[0]
    starts = starts_of(np.concatenate([s.counts for s in sets]))
    return IndexSets(starts, np.concatenate([s.members for s in sets]), sets[0].width)


def union_of_all(sets: Sequence[IndexSets]) -> IndexSets:
    """Return the unions of the sets of several arrays of one size, taken element by element."""
    return reduce(IndexSets.union, sets)


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Return where each of several consecutive parts begins, and where the last one ends.

    ``counts`` has the lengths of the parts.
    """
    starts = np.zeros(counts.size + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    _allowed(int(starts[-1]))
    return starts


def _allowed(count: int) -> int:
    if count > _most():
        raise SparsityError(
            f"the pattern of a Jacobian, or of a value on the way to it, has {count:.3g} entries, "
            f"more than a sparse matrix can have here. The function is not sparse: use "
            f"ng.func.jacrev, jacfwd or hvp, or give pattern= where you know it better."
        )
    return count


@compiled("(a),(p),(n)->(p)")
def _transpose(starts, members, first, out):
    """Transpose a pattern: add the number of each set to the rows of its members.

    The rows of the transposed pattern start at ``first`` in ``out``.
    """
    at = first.copy()
    for row in range(starts.size - 1):
        for k in range(starts[row], starts[row + 1]):
            out[at[members[k]]] = row
            at[members[k]] += 1


@compiled("(a),(b),(n),(c)->(d)")
def _take(starts, members, at, into, out):
    """Copy the sets at the positions ``at`` to ``out``, where they start at ``into``."""
    for i in range(at.size):
        k = into[i]
        if at[i] >= 0:
            for j in range(starts[at[i]], starts[at[i] + 1]):
                out[k] = members[j]
                k += 1


@compiled("(a),(b),(a),(c)->(a),(d)")
def _union(starts, members, starts2, members2, into, out):
    """Write the union of each set of one pattern with the set of the same number of another."""
    k = into[0] = 0
    for row in range(starts.size - 1):
        i, j = starts[row], starts2[row]
        last, last2 = starts[row + 1], starts2[row + 1]
        while i < last or j < last2:
            if j == last2 or (i < last and members[i] < members2[j]):
                out[k] = members[i]
                i += 1
            else:
                out[k] = members2[j]
                if i < last and members[i] == members2[j]:
                    i += 1
                j += 1
            k += 1
        into[row + 1] = k


@compiled("(a),(p),(b),(c),(a),()->(w),(n),(d)")
def _group(groups, at, starts, members, into, write, stamps, counts, out):
    """Count the members of the union over each group of positions, and write them if ``write``.

    A union is written sorted, to ``out`` from ``into`` on. ``stamps`` has for each column the last
    group in which it was met. The members of a large union are sorted by a scan of all columns.
    """
    stamps[:] = -1
    for group in range(groups.size - 1):
        first = k = into[group]
        for p in range(groups[group], groups[group + 1]):
            for i in range(starts[at[p]], starts[at[p] + 1]):
                if stamps[members[i]] != group:
                    stamps[members[i]] = group
                    if write:
                        out[k] = members[i]
                    k += 1
        counts[group] = k - first
        if not write:
            continue
        if (k - first) * FEW > stamps.size:
            k = first
            for column in range(stamps.size):
                if stamps[column] == group:
                    out[k] = column
                    k += 1
        elif k - first > FEW:
            out[first:k].sort()
        else:
            sort_few(out, first, k)


def sort_few(out, first, end):
    """Sort the few numbers ``out[first:end]`` in place, by insertion."""
    for k in range(first + 1, end):
        value, j = out[k], k
        while j > first and out[j - 1] > value:
            out[j] = out[j - 1]
            j -= 1
        out[j] = value
