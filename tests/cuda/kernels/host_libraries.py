"""Libraries of CUDA, carried out by SciPy and NumPy in memory of a simulated or hosted device."""

import ctypes
import inspect

import numpy as np
import scipy.linalg

from numgrad.targets.cuda.libraries import solver

SCRATCH = 17  # the elements that a routine asks for


def numbers(address, dtype, *shape):
    """Return the elements at an address, by columns."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    bytes_ = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return np.frombuffer(bytes_, dtype).reshape(shape, order="F")


def resolved(pointers, stream):
    """Return the addresses of pointers, and the number of a stream."""
    blocks = [(getattr(block, "address", None), block, offset) for block, offset in pointers]
    addresses = [
        offset + (block.data.ctypes.data if address is None else address)
        for address, block, offset in blocks
    ]
    return addresses, 7


class Library:
    """The part of a library that is called, with the parameters of its bindings.

    A routine is a method ``of_name(dtype, handle, ...)``, with the name that the bindings have
    behind the letter of the dtype.
    """

    def __init__(self):
        self.calls, self.streams, self.made = [], [], 0

    def create(self):
        self.made += 1
        return 100 + self.made

    def set_stream(self, handle, stream_id):
        self.streams.append((handle, stream_id))

    def __getattr__(self, name):
        dtype = {letter: char for char, letter in solver.LETTERS.items()}[name[0]]
        routine = getattr(type(self), f"of_{name[1:]}")
        self.calls.append(name)
        return lambda *arguments: routine(self, np.dtype(dtype), *arguments)


def require_declared(bindings, library):
    """Compare the parameters of each routine with those of the bindings."""
    routines = {name[3:]: one for name, one in vars(library).items() if name.startswith("of_")}
    for name, routine in routines.items():
        for letter in solver.LETTERS.values():
            binding = getattr(bindings, letter + name, None)
            if binding is None:  # some are of real or of complex numbers alone
                assert hasattr(bindings, {"s": "c", "d": "z", "c": "s", "z": "d"}[letter] + name)
                continue
            text = binding.__doc__.partition(")")[0]
            found = [item.split()[-1] for item in text.partition("(")[2].split(",")]
            assert found == list(inspect.signature(routine).parameters)[2:]
    assert bindings.set_stream.__doc__.startswith("set_stream(intptr_t handle, intptr_t stream")
    assert callable(bindings.create)
    assert callable(bindings.destroy)


def routine(name, *arrays):
    return scipy.linalg.get_lapack_funcs(name, arrays)


class Factorizations(Library):
    """What cuSOLVER has for factorizations and systems."""

    def of_getrf_buffer_size(self, dtype, handle, m, n, a, lda):
        return SCRATCH

    def of_potrf_buffer_size(self, dtype, handle, uplo, n, a, lda):
        return SCRATCH

    def of_getrf(self, dtype, handle, m, n, a, lda, workspace, dev_ipiv, dev_info):
        assert m == n == lda
        numbers(workspace, dtype, SCRATCH)[...] = np.nan
        matrix = numbers(a, dtype, lda, n)
        getrf = routine("getrf", matrix)
        matrix[...], pivots, numbers(dev_info, "i4", 1)[...] = getrf(matrix)
        numbers(dev_ipiv, "i4", n)[...] = pivots + 1

    def of_getrs(self, dtype, handle, trans, n, nrhs, a, lda, dev_ipiv, b, ldb, dev_info):
        assert n == lda == ldb
        right, pivots = numbers(b, dtype, ldb, nrhs), numbers(dev_ipiv, "i4", n) - 1
        right[...] = scipy.linalg.lu_solve((numbers(a, dtype, lda, n), pivots), right, trans)
        numbers(dev_info, "i4", 1)[...] = 0

    def of_potrf(self, dtype, handle, uplo, n, a, lda, workspace, lwork, dev_info):
        assert (uplo, lwork) == (1, SCRATCH)
        numbers(workspace, dtype, SCRATCH)[...] = np.nan
        matrix = numbers(a, dtype, lda, n)
        potrf = routine("potrf", matrix)
        factor, numbers(dev_info, "i4", 1)[...] = potrf(matrix, lower=False)
        matrix[...] = np.triu(factor) + np.tril(np.full((n, n), np.nan), -1)


class Decompositions(Library):
    """What cuSOLVER has for decompositions. Jacobi's method is replaced by LAPACK's."""

    def create_syevj_info(self):
        return 41

    def create_gesvdj_info(self):
        return 42

    def of_geqrf_buffer_size(self, dtype, handle, m, n, a, lda):
        return SCRATCH

    def of_geqrf(self, dtype, handle, m, n, a, lda, tau, workspace, lwork, dev_info):
        assert (lda, lwork) == (m, SCRATCH)
        numbers(workspace, dtype, SCRATCH)[...] = np.nan
        matrix = numbers(a, dtype, lda, n)
        qr, found, _, info = routine("geqrf", matrix)(matrix)
        matrix[...], numbers(tau, dtype, min(m, n))[...] = qr, found
        numbers(dev_info, "i4", 1)[...] = info

    def of_orgqr_buffer_size(self, dtype, handle, m, n, k, a, lda, tau):
        assert m >= n >= k
        return SCRATCH

    def of_orgqr(self, dtype, handle, m, n, k, a, lda, tau, work, lwork, info):
        assert (lda, lwork) == (m, SCRATCH)
        name = "ungqr" if dtype.kind == "c" else "orgqr"
        matrix = numbers(a, dtype, lda, n)
        q, _, found = routine(name, matrix)(matrix, numbers(tau, dtype, k))
        matrix[...], numbers(info, "i4", 1)[...] = q, found

    of_ungqr_buffer_size, of_ungqr = of_orgqr_buffer_size, of_orgqr

    def of_syevd_buffer_size(self, dtype, handle, jobz, uplo, n, a, lda, w):
        return SCRATCH

    def of_syevd(self, dtype, handle, jobz, uplo, n, a, lda, w, work, lwork, info):
        assert (lda, lwork) == (n, SCRATCH)
        self._eigen(dtype, jobz, uplo, n, a, w, info)

    of_heevd_buffer_size, of_heevd = of_syevd_buffer_size, of_syevd

    def of_syevj_batched_buffer_size(
        self, dtype, handle, jobz, uplo, n, a, lda, w, params, batch_size
    ):
        assert params == 41
        return SCRATCH

    def of_syevj_batched(
        self, dtype, handle, jobz, uplo, n, a, lda, w, work, lwork, info, params, batch_size
    ):
        assert (params, lda, lwork) == (41, n, SCRATCH)
        each, real = n * dtype.itemsize, np.finfo(dtype).dtype.itemsize
        for k in range(batch_size):
            self._eigen(dtype, jobz, uplo, n, a + k * n * each, w + k * n * real, info + 4 * k)

    of_heevj_batched_buffer_size = of_syevj_batched_buffer_size
    of_heevj_batched = of_syevj_batched

    def _eigen(self, dtype, jobz, uplo, n, a, w, info):
        """Decompose by NumPy's LAPACK: the signs of vectors are those of the very library."""
        matrix, failed = numbers(a, dtype, n, n), 0
        triangle = "UL"[uplo == 0]
        values, vectors = np.full(n, np.nan), np.nan
        try:
            if jobz:
                values, vectors = np.linalg.eigh(matrix, triangle)
            else:
                values = np.linalg.eigvalsh(matrix, triangle)
        except np.linalg.LinAlgError:
            failed = n
        numbers(w, np.finfo(dtype).dtype, n)[...] = values
        matrix[...] = vectors
        numbers(info, "i4", 1)[...] = failed

    def of_gesvd_buffer_size(self, dtype, handle, m, n):
        assert m >= n
        return SCRATCH

    def of_gesvd(
        self, dtype, handle, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, rwork,
        info,
    ):  # fmt: skip
        assert (jobu, lda, lwork, rwork) == (jobvt, m, SCRATCH, 0)
        matrix = numbers(a, dtype, m, n)
        has_vectors, is_full = jobu != ord("N"), jobu == ord("A")
        gesvd = routine("gesvd", matrix)
        left, values, right, found = gesvd(matrix, has_vectors, is_full)
        numbers(s, np.finfo(dtype).dtype, n)[...] = values
        if has_vectors:
            assert (ldu, ldvt) == (m, n)
            numbers(u, dtype, m, left.shape[1])[...] = left
            numbers(vt, dtype, n, n)[...] = right
        matrix[...] = np.nan
        numbers(info, "i4", 1)[...] = found

    def of_gesvdj_batched_buffer_size(
        self, dtype, handle, jobz, m, n, a, lda, s, u, ldu, v, ldv, params, batch_size
    ):
        assert params == 42
        return SCRATCH

    def of_gesvdj_batched(
        self, dtype, handle, jobz, m, n, a, lda, s, u, ldu, v, ldv, work, lwork, info, params,
        batch_size,
    ):  # fmt: skip
        assert (params, lda, ldu, ldv, lwork) == (42, m, m, n, SCRATCH)
        size, real = dtype.itemsize, np.finfo(dtype).dtype.itemsize
        for k in range(batch_size):
            matrix = numbers(a + k * m * n * size, dtype, m, n)
            left, values, right, found = routine("gesvd", matrix)(matrix, 1, 1)
            numbers(s + k * min(m, n) * real, np.finfo(dtype).dtype, min(m, n))[...] = values
            if jobz:
                numbers(u + k * m * m * size, dtype, m, m)[...] = left
                numbers(v + k * n * n * size, dtype, n, n)[...] = right.conj().T
            numbers(info + 4 * k, "i4", 1)[...] = found


class Lapack(Factorizations, Decompositions):
    """What cuSOLVER has."""


class Triangles(Library):
    """What cuBLAS has for triangular systems."""

    def of_trsm(self, dtype, handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb):
        assert (side, diag, m, m) == (0, 0, lda, ldb)
        assert numbers(alpha, dtype, 1)[0] == 1
        matrix, right = numbers(a, dtype, lda, m), numbers(b, dtype, ldb, n)
        if np.diag(matrix).all():
            right[...] = scipy.linalg.solve_triangular(matrix, right, trans, lower=uplo == 0)


class Products(Library):
    """What cuBLAS has for products of matrices; ``sizes`` has those of each call."""

    def __init__(self):
        super().__init__()
        self.sizes = []

    def of_gemm_strided_batched_64(
        self, dtype, handle, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b,
        beta, c, ldc, stride_c, batch_count,
    ):  # fmt: skip
        self.sizes.append((transa, transb, m, n, k, lda, ldb, ldc, batch_count))
        first = (m, k) if not transa else (k, m)
        second = (k, n) if not transb else (n, k)
        one, zero = numbers(alpha, dtype, 1)[0], numbers(beta, dtype, 1)[0]
        for i in range(batch_count):
            left = within_columns(a, dtype, first, lda, i * stride_a)
            right = within_columns(b, dtype, second, ldb, i * stride_b)
            out = within_columns(c, dtype, (m, n), ldc, i * stride_c)
            assert zero == 0  # so that what was there is not read
            out[...] = one * (left.T if transa else left) @ (right.T if transb else right)


def within_columns(address, dtype, shape, leading, offset):
    """Return the matrix at the beginning of columns of ``leading`` elements each."""
    rows, cols = shape
    assert leading >= max(1, rows)
    address += offset * dtype.itemsize
    flat = numbers(address, dtype, (cols - 1) * leading + rows)
    strides = dtype.itemsize, leading * dtype.itemsize
    return np.lib.stride_tricks.as_strided(flat, shape, strides)
