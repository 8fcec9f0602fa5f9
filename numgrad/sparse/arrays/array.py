"""`SparseArray`: a sparse matrix whose stored numbers are a tensor."""

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...containers import registered_classes
from ...functions.array.operands import as_tensor, as_tensors
from ...functions.products.sparse import is_sparse
from . import structure as places
from . import unavailable
from .containers import flatten, unflatten_as
from .parts import part
from .structure import Structure


class SparseArray:
    """A sparse matrix: a tensor ``data`` of the stored numbers, and where they are.

    Sparse arrays are made by `csr`, `coo`, `diags` and the like, and are never written. Python's
    operators mean what they mean for sparse arrays of SciPy, with gradients to the stored numbers:
    ``*`` and ``/`` are elementwise, ``@`` is the product of matrices. There is one format: numbers
    are sorted by rows, in each row by columns, and no place comes twice. Which elements are stored
    depends on the operations alone, never on values: a number that happens to be 0 stays.

    To transforms a sparse array is a container of ``data``. So the gradient by a sparse array is a
    sparse array, too. A result with other axes, such as a block of a Jacobian or what `vmap`
    stacks, is an array of numbers in the order of ``data``.

    Attributes
    ----------
    data : Tensor
        The stored numbers, sorted by rows and then by columns.
    indices, indptr : numpy.ndarray
        The columns of the numbers, and where each row begins, as in `scipy.sparse.csr_array`.
    coords, row, col
        Rows and columns of the stored numbers, as in `scipy.sparse.coo_array`.
    shape, dtype, nnz
        As in SciPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> k = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> A = ng.sparse.coo(k, ([0, 1], [1, 0]), shape=(2, 2))
    >>> (A + A.T).toarray().tolist()
    [[0.0, 3.0], [3.0, 0.0]]
    >>> ng.grad((A @ [1.0, 10.0]).sum(), k)[0]
    tensor([10.,  1.])
    """

    __slots__ = ("_data", "_structure")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]
    ndim = 2
    format = "csr"

    def __init__(self, data: Any, structure: Structure) -> None:
        self._data, self._structure = data, structure

    data = property(lambda self: self._data)
    structure = property(lambda self: self._structure)
    shape = property(lambda self: self._structure.shape)
    indices = property(lambda self: self._structure.indices)
    indptr = property(lambda self: self._structure.indptr)
    row = property(lambda self: self._structure.rows)
    col = indices
    coords = property(lambda self: (self.row, self.col))
    nnz = size = property(lambda self: self._structure.nnz)
    real = property(lambda self: self.with_data(as_tensor(self._data).real))
    imag = property(lambda self: self.with_data(as_tensor(self._data).imag))
    dtype = property(lambda self: self._data.dtype)

    def __repr__(self) -> str:
        return f"<SparseArray of shape {self.shape}, {self.dtype}, {self.nnz} stored numbers>"

    def __reduce__(self) -> Any:
        return type(self), (self._data, self._structure)

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        return unavailable.as_ndarray()

    def __getattr__(self, name: str) -> Any:
        unavailable.missing(name)

    __setitem__ = unavailable.refuse_writing

    def __eq__(self, other: object) -> bool:
        raise TypeError("sparse arrays are not compared: write A.toarray() == B.toarray()")

    def __bool__(self) -> bool:
        raise ValueError("the truth value of a sparse array is ambiguous: ask for A.nnz")

    def __len__(self) -> int:
        raise TypeError("the length of a sparse array is ambiguous: ask for A.shape[0] or A.nnz")

    def __iter__(self) -> Any:
        raise TypeError("one does not iterate over a sparse array: its rows are A[i:i+1], its "
                        "stored numbers, which have the gradients, A.data")

    # The same stored numbers ---------------------------------------------------------------------

    def _of(self, data: Any, structure: Structure) -> "SparseArray":
        """Return an array of this class with other numbers and another structure."""
        return type(self)(data, structure)

    def with_data(self, data: Any) -> "SparseArray":
        """Return the sparse array with other numbers at the same places."""
        data = as_tensor(data)
        if data.shape != (self.nnz,):
            raise ValueError(f"with_data: {self.nnz} numbers are stored, got shape {data.shape}")
        return self._of(data, self._structure)

    def tocsr(self, copy: bool = False) -> "SparseArray":
        """Return the array itself: there is one format, whatever a program for SciPy asks for."""
        return self

    def asformat(self, format: str | None, copy: bool = False) -> "SparseArray":  # noqa: A002
        """Return the array itself: there is one format, whatever a program for SciPy asks for."""
        return self

    tocsc = tocoo = tobsr = todia = copy = tocsr

    def sum_duplicates(self) -> None:
        """Do nothing: no place comes twice, and the columns of each row are sorted."""

    sort_indices = sum_duplicates

    def detach(self) -> "SparseArray":
        """Return the array with the same numbers, detached from the graph."""
        return self._of(as_tensor(self._data).detach(), self._structure)

    def to_scipy(self) -> Any:
        """Return a `scipy.sparse.csr_array` with copies of the numbers, which have no gradient."""
        from scipy.sparse import csr_array

        numbers = as_tensor(self._data).numpy(copy=True)
        return csr_array((numbers, self.indices.copy(), self.indptr.copy()), shape=self.shape)

    def astype(self, dtype: Any) -> "SparseArray":
        """Return the array with its numbers in another dtype."""
        return self._of(as_tensor(self._data).astype(dtype), self._structure)

    def conj(self) -> "SparseArray":
        """Return the array with the complex conjugates of its numbers."""
        return self._of(as_tensor(self._data).conj(), self._structure)

    conjugate = conj

    def transpose(self) -> "SparseArray":
        """Return the transposed matrix."""
        return self.moved("transpose", lambda numbered: numbered.T)

    T = property(transpose)

    def __getitem__(self, key: Any) -> Any:
        """Return a part of the matrix, or elements of it, as NumPy's indexing has it."""
        return part(self, key)

    def moved(self, key: Any, function: Callable[..., Any]) -> "SparseArray":
        """Return the sparse array whose numbers a function of SciPy has moved to other places.

        The function is called once for each key, to find where the numbers go.
        """
        structure, moves = self._structure.cached(key, lambda: self._structure.by_scipy(function))
        return self._of(moves(self._data), structure)

    # Dense results --------------------------------------------------------------------------------

    def toarray(self) -> Tensor:
        """Return the dense matrix."""
        size = self.shape[0] * self.shape[1]
        into = self._structure.cached("dense", lambda: places.summed(self._structure.flat(), size))
        return into(self._data).reshape(self.shape)

    todense = toarray

    def diagonal(self, k: int = 0) -> Tensor:
        """Return the diagonal, or the one ``k`` columns further to the right."""

        def make() -> Any:
            own = self._structure
            at = np.flatnonzero(own.indices - own.rows == k)
            first, size = max(-k, 0), min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0))
            if size <= 0:
                raise ValueError(f"diagonal: k={k} exceeds a matrix of shape {self.shape}")
            return places.picked(at), places.summed(own.rows[at] - first, size)

        source, into = self._structure.cached(("diagonal", int(k)), make)
        return into(source(self._data))

    def trace(self, offset: int = 0) -> Tensor:
        """Return the sum of a diagonal; ``offset`` is as in `diagonal`."""
        return self.diagonal(offset).sum()

    def sum(self, axis: int | None = None, dtype: Any = None, out: None = None) -> Tensor:
        """Return the sum of all elements, of each column (``axis=0``) or of each row."""
        if out is not None:
            raise TypeError("sum: out= of a sparse array")
        if dtype is not None:
            return self.astype(dtype).sum(axis)
        if axis is None:
            return as_tensor(self._data).sum()
        if axis not in (0, 1, -1, -2):
            raise ValueError(f"sum: axis {axis} of a matrix")
        own, along = self._structure, axis % 2
        size = self.shape[1 - along]
        numbers = own.rows if along else own.indices
        return own.cached(("sum", along), lambda: places.summed(numbers, size))(self._data)

    def mean(self, axis: int | None = None, dtype: Any = None, out: None = None) -> Tensor:
        """Return the mean of all elements, of each column (``axis=0``) or of each row."""
        count = self.shape[0] * self.shape[1] if axis is None else self.shape[axis]
        return self.sum(axis, dtype, out) / count

    # Python's operators ---------------------------------------------------------------------------

    def __neg__(self) -> "SparseArray":
        return self._of(-as_tensor(self._data), self._structure)

    def __pos__(self) -> "SparseArray":
        return self

    def __abs__(self) -> "SparseArray":
        return self._of(abs(as_tensor(self._data)), self._structure)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Number) and other == 0:  # `sum` of Python begins with it
            return self
        other = self._operand(other)
        if not isinstance(other, SparseArray):
            self._require_dense(other, "sum")
            return self.toarray() + other
        self._require_shape(other, "sum")
        if other._structure == self._structure:
            return self._of(as_tensor(self._data) + other._data, self._structure)
        structure, left, right = places.union(self._structure, other._structure)
        return self._of(left(self._data) + right(other._data), structure)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-self._operand(other))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> "SparseArray":
        """Return the elementwise product with a number, a dense array or a sparse array."""
        other = self._operand(other)
        if not isinstance(other, SparseArray):
            return self._of(as_tensor(self._data) * self._at_stored(other), self._structure)
        self._require_shape(other, "product of elements")
        structure, left, right = places.intersection(self._structure, other._structure)
        return self._of(left(self._data) * right(other._data), structure)

    __rmul__ = multiply = __mul__

    def __truediv__(self, other: Any) -> "SparseArray":
        other = self._operand(other)
        if isinstance(other, SparseArray):
            raise TypeError("a quotient of sparse arrays is NaN where 0 is divided by 0: write "
                            "A.toarray() / B.toarray()")  # fmt: skip
        return self._of(as_tensor(self._data) / self._at_stored(other), self._structure)

    def __pow__(self, n: Any) -> "SparseArray":
        """Return the array of the elements raised to a positive power."""
        if not isinstance(n, Number) or isinstance(n, complex) or not n > 0:  # type: ignore[operator]
            raise ValueError("a power of a sparse array has a positive number as exponent; others "
                             "make something of its zeros")  # fmt: skip
        return self._of(as_tensor(self._data) ** n, self._structure)

    power = __pow__

    def __matmul__(self, other: Any) -> Any:
        """Return the product of this matrix with a matrix, matrices or a vector."""
        other = self._operand(other)
        if isinstance(other, SparseArray):
            return self._terms(other, "@")
        return self.product_with(self._data, other, True)

    dot = __matmul__

    def __rmatmul__(self, other: Any) -> Any:
        other = self._operand(other)
        if isinstance(other, SparseArray):
            return other._terms(self, "@")
        return self.product_with(self._data, other, False)

    def product_with(self, data: Any, other: Any, is_left: bool) -> Tensor:
        """Return the product with a vector or matrices, with the numbers ``data`` as those stored.

        The numbers may have the axes of a batch in front. The sparse matrix is the left factor if
        ``is_left``, else the right one.
        """
        data, x = as_tensors(data, other)
        if data.shape[-1:] != (self.nnz,):
            raise ValueError(f"sparse product: data of shape {data.shape} for {self.nnz} numbers")
        axis = -2 if is_left and x.ndim > 1 else -1
        if not x.ndim or x.shape[axis] != self.shape[1 if is_left else 0]:
            shapes = (self.shape, x.shape) if is_left else (x.shape, self.shape)
            raise ValueError(f"sparse product: factors of shapes {shapes[0]} and {shapes[1]} do "
                             f"not fit")  # fmt: skip
        return self._structure.stored().multiplied(data, x, is_left)

    def _terms(self, other: "SparseArray", name: str) -> "SparseArray":
        """Return the product with a sparse matrix if ``name`` is ``@``, else the Kronecker product.
        """
        if name == "@" and self.shape[1] != other.shape[0]:
            raise ValueError(f"sparse product: factors of shapes {self.shape} and {other.shape} "
                             f"do not fit")  # fmt: skip
        find = places.product if name == "@" else places.kronecker
        terms = find(self._structure, other._structure)
        data = terms.left(self._data) * terms.right(other._data)
        return self._of(data if terms.into is None else terms.into(data), terms.structure)

    def _operand(self, other: Any) -> Any:
        """Return the other operand as a sparse array, a tensor, or a Python number."""
        if isinstance(other, SparseArray):
            return other
        return of_scipy(other) if is_sparse(other) else as_tensor(other) if not isinstance(
            other, (int, float, complex)
        ) else other  # fmt: skip

    def _at_stored(self, other: Any) -> Any:
        """Return the elements of a dense array at the stored places; a number is returned as is."""
        shape = np.shape(other) if not isinstance(other, Tensor) else other.shape
        if not shape:
            return other
        if len(shape) > 2 or any(
            n not in (1, m) for n, m in zip(shape[::-1], self.shape[::-1], strict=False)
        ):
            raise ValueError(f"product of elements: shapes {self.shape} and {shape} do not fit")
        own = self._structure
        at = (own.rows, own.indices.astype(np.int64))[2 - len(shape) :]
        return other[tuple(a * (n > 1) for a, n in zip(at, shape, strict=True))]

    def _require_shape(self, other: "SparseArray", what: str) -> None:
        if self.shape != other.shape:
            raise ValueError(f"{what} of sparse arrays: shapes {self.shape} and {other.shape}")

    def _require_dense(self, other: Any, what: str) -> None:
        if not np.ndim(other) if not isinstance(other, Tensor) else not other.ndim:
            raise NotImplementedError(
                f"{what} of a sparse array and a number that is not 0 has no zeros left: write "
                f"A.toarray() + c, or A + c * ng.sparse.eye(n)"
            )


def of_scipy(matrix: Any) -> SparseArray:
    """Return a sparse array of SciPy as a `SparseArray`; its numbers are constants."""
    matrix = matrix if matrix.format in ("coo", "csr") else matrix.tocsr()
    if matrix.format == "csr":
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(places.guarded(matrix.indptr)))
        columns = places.guarded(matrix.indices)
    else:
        rows, columns = (places.guarded(index) for index in matrix.coords)
    return at_places(matrix.data, rows, columns, matrix.shape)


def at_places(data: Any, rows: np.ndarray, columns: np.ndarray, shape: Any) -> SparseArray:
    """Return the sparse array with numbers at places in any order; those at one place are added."""
    structure, order = places.assembled(rows, columns, shape)
    return SparseArray(as_tensor(data) if order is None else order(data), structure)


registered_classes.register_own(SparseArray, flatten, unflatten_as(SparseArray))
