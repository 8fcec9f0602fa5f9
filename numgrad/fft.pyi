"""Fourier transforms under the names of ``numpy.fft``, and those of cosines and sines under the
names of ``scipy.fft``.

Written by `docs/stubs.py`."""

import collections.abc
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload

import numpy

from numgrad._tensor import ArrayLike, Tensor

def dct(
    x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    overwrite_x: bool = False, workers: int | None = None, *, orthogonalize: bool | None = None
) -> Tensor:
    """Return the discrete cosine transform along an axis.

    Parameters
    ----------
    x : array_like
        Real and imaginary parts are transformed each on their own.
    type : {1, 2, 3, 4}
        Which of the transforms, as SciPy defines them.
    n : int, optional
        How many points are transformed. Of more the first ones are taken, fewer are followed by
        zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}, optional
        As for `fft`.
    overwrite_x, workers
        Accepted as SciPy does; ``x`` stays as it is.
    orthogonalize : bool, optional
        Whether elements at the ends are scaled so that the matrix of the transform is orthogonal,
        but for a factor. By default with ``norm="ortho"``.

    Raises
    ------
    ValueError
        For another type or norm, or if there are too few points.

    Notes
    -----
    The gradient is the transform of the cotangent of type 1, 3, 2 or 4, in this order, with the
    same factor, but for the scale of elements at the ends.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.dct([1.0, 2.0], type=3)
    tensor([ 3.82842712, -1.82842712])
    """

def dctn(
    x: ArrayLike, type: int = 2, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = None, norm: str | None = None,
    overwrite_x: bool = False, workers: int | None = None, *, orthogonalize: bool | None = None
) -> Tensor:
    """Return the discrete cosine transform along several axes.

    Parameters
    ----------
    x : array_like
        Real and imaginary parts are transformed each on their own.
    type : {1, 2, 3, 4}
        Which of the transforms, as SciPy defines them.
    s : int or sequence of int, optional
        The number of points along each axis; -1 is the size of the axis.
    axes : int or sequence of int, optional
        By default all, or the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As for `fft`.
    overwrite_x, workers
        Accepted as SciPy does; ``x`` stays as it is.
    orthogonalize : bool, optional
        Whether elements at the ends are scaled so that the matrix of the transform is orthogonal,
        but for a factor. By default with ``norm="ortho"``.

    Raises
    ------
    ValueError
        For another type or norm, or if there are too few points.

    Notes
    -----
    The gradient is the transform of the cotangent of type 1, 3, 2 or 4, in this order, with the
    same factor, but for the scale of elements at the ends.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.dctn([[1.0, 2.0], [3.0, 4.0]], type=3)
    tensor([[16.07106781, -5.58578644],
            [-8.41421356,  1.92893219]])
    """

def dst(
    x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    overwrite_x: bool = False, workers: int | None = None, *, orthogonalize: bool | None = None
) -> Tensor:
    """Return the discrete sine transform along an axis.

    Parameters
    ----------
    x : array_like
        Real and imaginary parts are transformed each on their own.
    type : {1, 2, 3, 4}
        Which of the transforms, as SciPy defines them.
    n : int, optional
        How many points are transformed. Of more the first ones are taken, fewer are followed by
        zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}, optional
        As for `fft`.
    overwrite_x, workers
        Accepted as SciPy does; ``x`` stays as it is.
    orthogonalize : bool, optional
        Whether elements at the ends are scaled so that the matrix of the transform is orthogonal,
        but for a factor. By default with ``norm="ortho"``.

    Raises
    ------
    ValueError
        For another type or norm, or if there are too few points.

    Notes
    -----
    The gradient is the transform of the cotangent of type 1, 3, 2 or 4, in this order, with the
    same factor, but for the scale of elements at the ends.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.dst([1.0, 2.0], type=3)
    tensor([ 3.41421356, -0.58578644])
    """

def dstn(
    x: ArrayLike, type: int = 2, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = None, norm: str | None = None,
    overwrite_x: bool = False, workers: int | None = None, *, orthogonalize: bool | None = None
) -> Tensor:
    """Return the discrete sine transform along several axes.

    Parameters
    ----------
    x : array_like
        Real and imaginary parts are transformed each on their own.
    type : {1, 2, 3, 4}
        Which of the transforms, as SciPy defines them.
    s : int or sequence of int, optional
        The number of points along each axis; -1 is the size of the axis.
    axes : int or sequence of int, optional
        By default all, or the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As for `fft`.
    overwrite_x, workers
        Accepted as SciPy does; ``x`` stays as it is.
    orthogonalize : bool, optional
        Whether elements at the ends are scaled so that the matrix of the transform is orthogonal,
        but for a factor. By default with ``norm="ortho"``.

    Raises
    ------
    ValueError
        For another type or norm, or if there are too few points.

    Notes
    -----
    The gradient is the transform of the cotangent of type 1, 3, 2 or 4, in this order, with the
    same factor, but for the scale of elements at the ends.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.dstn([[1.0, 2.0], [3.0, 4.0]], type=3)
    tensor([[13.07106781, -0.58578644],
            [-3.41421356, -1.07106781]])
    """

def fft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the discrete Fourier transform along an axis.

    Parameters
    ----------
    a : array_like
    n : int, optional
        How many points are transformed. Of more the first ones are taken, fewer are followed by zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is scaled by ``1/n``: the inverse one by default; with ``"ortho"`` each by
        the square root.
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If there are no points, or for another norm.

    Notes
    -----
    The gradient is the inverse transform of the cotangent, with the same factor, and real for real ``a``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.fft([1.0, 1.0j])
    tensor([1.+1.j, 1.-1.j])
    """

def fft2(
    a: ArrayLike, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = (-2, -1), norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the transform along two axes.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        The number of points along each axis, see `fft`; -1 is the size of the axis.
    axes : sequence of int, optional
        The last two by default. One that comes twice is transformed twice.
    norm : {"backward", "ortho", "forward"}, optional
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths.

    Notes
    -----
    The gradient is that of `fft` along each axis.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.fft2([[1.0, 1.0j], [2.0, 2.0j]])
    tensor([[ 3.+3.j,  3.-3.j],
            [-1.-1.j, -1.+1.j]])
    """
from numgrad.functions.signal.fourier import fftfreq as fftfreq

def fftn(
    a: ArrayLike, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = None, norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the transform along several axes.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        The number of points along each axis, see `fft`; -1 is the size of the axis.
    axes : sequence of int, optional
        By default all, or the last ones. One that comes twice is transformed twice.
    norm : {"backward", "ortho", "forward"}, optional
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths.

    Notes
    -----
    The gradient is that of `fft` along each axis.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.fftn([[1.0, 1.0j], [2.0, 2.0j]])
    tensor([[ 3.+3.j,  3.-3.j],
            [-1.-1.j, -1.+1.j]])
    """
from numgrad.functions.signal.fourier import fftshift as fftshift

def hfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the real transform of a signal of which the other half is the conjugate.

    Parameters
    ----------
    a : array_like
    n : int, optional
        How many numbers are returned: ``2 * (m - 1)`` by default, of ``m``. Of more the first ones are taken, fewer are followed by zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is scaled by ``1/n``: the inverse one by default; with ``"ortho"`` each by
        the square root.
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If there are no points, or for another norm.

    Notes
    -----
    The gradient is that of `irfft` of the conjugate.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.hfft([1.0, 2.0, 3.0])
    tensor([ 8., -2.,  0., -2.])
    """

def idct(
    x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    overwrite_x: bool = False, workers: int | None = None, *, orthogonalize: bool | None = None
) -> Tensor:
    """Return the inverse of the discrete cosine transform along an axis.

    Parameters
    ----------
    x : array_like
        Real and imaginary parts are transformed each on their own.
    type : {1, 2, 3, 4}
        Which of the transforms, as SciPy defines them.
    n : int, optional
        How many points are transformed. Of more the first ones are taken, fewer are followed by
        zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}, optional
        As for `fft`.
    overwrite_x, workers
        Accepted as SciPy does; ``x`` stays as it is.
    orthogonalize : bool, optional
        Whether elements at the ends are scaled so that the matrix of the transform is orthogonal,
        but for a factor. By default with ``norm="ortho"``.

    Raises
    ------
    ValueError
        For another type or norm, or if there are too few points.

    Notes
    -----
    The gradient is the transform of the cotangent of type 1, 3, 2 or 4, in this order, with the
    same factor, but for the scale of elements at the ends.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.idct([1.0, 2.0], type=3)
    tensor([ 1.5       , -0.35355339])
    """

def idctn(
    x: ArrayLike, type: int = 2, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = None, norm: str | None = None,
    overwrite_x: bool = False, workers: int | None = None, *, orthogonalize: bool | None = None
) -> Tensor:
    """Return the inverse of the discrete cosine transform along several axes.

    Parameters
    ----------
    x : array_like
        Real and imaginary parts are transformed each on their own.
    type : {1, 2, 3, 4}
        Which of the transforms, as SciPy defines them.
    s : int or sequence of int, optional
        The number of points along each axis; -1 is the size of the axis.
    axes : int or sequence of int, optional
        By default all, or the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As for `fft`.
    overwrite_x, workers
        Accepted as SciPy does; ``x`` stays as it is.
    orthogonalize : bool, optional
        Whether elements at the ends are scaled so that the matrix of the transform is orthogonal,
        but for a factor. By default with ``norm="ortho"``.

    Raises
    ------
    ValueError
        For another type or norm, or if there are too few points.

    Notes
    -----
    The gradient is the transform of the cotangent of type 1, 3, 2 or 4, in this order, with the
    same factor, but for the scale of elements at the ends.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.idctn([[1.0, 2.0], [3.0, 4.0]], type=3)
    tensor([[ 2.5       , -0.35355339],
            [-0.70710678,  0.        ]])
    """

def idst(
    x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    overwrite_x: bool = False, workers: int | None = None, *, orthogonalize: bool | None = None
) -> Tensor:
    """Return the inverse of the discrete sine transform along an axis.

    Parameters
    ----------
    x : array_like
        Real and imaginary parts are transformed each on their own.
    type : {1, 2, 3, 4}
        Which of the transforms, as SciPy defines them.
    n : int, optional
        How many points are transformed. Of more the first ones are taken, fewer are followed by
        zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}, optional
        As for `fft`.
    overwrite_x, workers
        Accepted as SciPy does; ``x`` stays as it is.
    orthogonalize : bool, optional
        Whether elements at the ends are scaled so that the matrix of the transform is orthogonal,
        but for a factor. By default with ``norm="ortho"``.

    Raises
    ------
    ValueError
        For another type or norm, or if there are too few points.

    Notes
    -----
    The gradient is the transform of the cotangent of type 1, 3, 2 or 4, in this order, with the
    same factor, but for the scale of elements at the ends.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.idst([1.0, 2.0], type=3)
    tensor([ 1.06066017, -0.5       ])
    """

def idstn(
    x: ArrayLike, type: int = 2, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = None, norm: str | None = None,
    overwrite_x: bool = False, workers: int | None = None, *, orthogonalize: bool | None = None
) -> Tensor:
    """Return the inverse of the discrete sine transform along several axes.

    Parameters
    ----------
    x : array_like
        Real and imaginary parts are transformed each on their own.
    type : {1, 2, 3, 4}
        Which of the transforms, as SciPy defines them.
    s : int or sequence of int, optional
        The number of points along each axis; -1 is the size of the axis.
    axes : int or sequence of int, optional
        By default all, or the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As for `fft`.
    overwrite_x, workers
        Accepted as SciPy does; ``x`` stays as it is.
    orthogonalize : bool, optional
        Whether elements at the ends are scaled so that the matrix of the transform is orthogonal,
        but for a factor. By default with ``norm="ortho"``.

    Raises
    ------
    ValueError
        For another type or norm, or if there are too few points.

    Notes
    -----
    The gradient is the transform of the cotangent of type 1, 3, 2 or 4, in this order, with the
    same factor, but for the scale of elements at the ends.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.idstn([[1.0, 2.0], [3.0, 4.0]], type=3)
    tensor([[ 1.25      , -0.35355339],
            [-0.70710678,  0.        ]])
    """

def ifft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the inverse of `fft`.

    Parameters
    ----------
    a : array_like
    n : int, optional
        How many points are transformed. Of more the first ones are taken, fewer are followed by zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is scaled by ``1/n``: the inverse one by default; with ``"ortho"`` each by
        the square root.
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If there are no points, or for another norm.

    Notes
    -----
    The gradient is the forward transform of the cotangent, with the same factor, and real for real ``a``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.ifft([2.0, 2.0j])
    tensor([1.+1.j, 1.-1.j])
    """

def ifft2(
    a: ArrayLike, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = (-2, -1), norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the inverse of `fft2`.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        The number of points along each axis, see `ifft`; -1 is the size of the axis.
    axes : sequence of int, optional
        The last two by default. One that comes twice is transformed twice.
    norm : {"backward", "ortho", "forward"}, optional
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths.

    Notes
    -----
    The gradient is that of `ifft` along each axis.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.ifft2([[1.0, 1.0j], [2.0, 2.0j]])
    tensor([[ 0.75+0.75j,  0.75-0.75j],
            [-0.25-0.25j, -0.25+0.25j]])
    """

def ifftn(
    a: ArrayLike, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = None, norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the inverse of `fftn`.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        The number of points along each axis, see `ifft`; -1 is the size of the axis.
    axes : sequence of int, optional
        By default all, or the last ones. One that comes twice is transformed twice.
    norm : {"backward", "ortho", "forward"}, optional
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths.

    Notes
    -----
    The gradient is that of `ifft` along each axis.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.ifftn([[1.0, 1.0j], [2.0, 2.0j]])
    tensor([[ 0.75+0.75j,  0.75-0.75j],
            [-0.25-0.25j, -0.25+0.25j]])
    """
from numgrad.functions.signal.fourier import ifftshift as ifftshift

def ihfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the inverse of `hfft`.

    Parameters
    ----------
    a : array_like
    n : int, optional
        How many points are transformed. Of more the first ones are taken, fewer are followed by zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is scaled by ``1/n``: the inverse one by default; with ``"ortho"`` each by
        the square root.
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If there are no points, or for another norm.
    DtypeError
        For complex numbers.

    Notes
    -----
    The gradient is that of the conjugate of `rfft`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.ihfft([8.0, -2.0, 0.0, -2.0])
    tensor([1.-0.j, 2.-0.j, 3.-0.j])
    """

def irfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the real numbers of which `rfft` makes ``a``.

    Parameters
    ----------
    a : array_like
    n : int, optional
        How many numbers are returned: ``2 * (m - 1)`` by default, of ``m``. Of more the first ones are taken, fewer are followed by zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is scaled by ``1/n``: the inverse one by default; with ``"ortho"`` each by
        the square root.
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If there are no points, or for another norm.

    Notes
    -----
    The gradient is `rfft` of the cotangent, doubled but for the first number and, for even
    ``n``, the last one, whose imaginary parts have no influence.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.irfft([10.0, -2.0 + 2.0j, -2.0])
    tensor([1., 2., 3., 4.])
    """

def irfft2(
    a: ArrayLike, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = (-2, -1), norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the inverse of `rfft2`.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        The number of points along each axis, see `irfft`; -1 is the size of the axis.
    axes : sequence of int, optional
        The last two by default. One that comes twice is transformed twice.
    norm : {"backward", "ortho", "forward"}, optional
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths.

    Notes
    -----
    The gradient is that of `irfft` along each axis.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.irfft2([[1.0, 2.0], [3.0, 4.0]])
    tensor([[ 2.5, -0.5],
            [-1. ,  0. ]])
    """

def irfftn(
    a: ArrayLike, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = None, norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the inverse of `rfftn`.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        The number of points along each axis, see `irfft`; -1 is the size of the axis.
    axes : sequence of int, optional
        By default all, or the last ones. One that comes twice is transformed twice.
    norm : {"backward", "ortho", "forward"}, optional
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths.

    Notes
    -----
    The gradient is that of `irfft` along each axis.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.irfftn([[1.0, 2.0], [3.0, 4.0]])
    tensor([[ 2.5, -0.5],
            [-1. ,  0. ]])
    """
from numgrad.functions.signal.fourier import next_fast_len as next_fast_len

def rfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the first ``n // 2 + 1`` numbers of the transform of real ones.

    Parameters
    ----------
    a : array_like
    n : int, optional
        How many points are transformed. Of more the first ones are taken, fewer are followed by zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is scaled by ``1/n``: the inverse one by default; with ``"ortho"`` each by
        the square root.
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If there are no points, or for another norm.
    DtypeError
        For complex numbers.

    Notes
    -----
    In the gradient each frequency counts once: it is `irfft` of the cotangent, of which the
    numbers that `irfft` counts twice are halved.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.rfft([1.0, 2.0, 3.0, 4.0])
    tensor([10.+0.j, -2.+2.j, -2.+0.j])
    """

def rfft2(
    a: ArrayLike, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = (-2, -1), norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the half along the last of two axes of the transform of real numbers.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        The number of points along each axis, see `rfft`; -1 is the size of the axis.
    axes : sequence of int, optional
        The last two by default. One that comes twice is transformed twice.
    norm : {"backward", "ortho", "forward"}, optional
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths.

    Notes
    -----
    The gradient is that of `rfft` along each axis.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.rfft2([[1.0, 2.0], [3.0, 4.0]])
    tensor([[10.+0.j, -2.+0.j],
            [-4.+0.j,  0.+0.j]])
    """
from numgrad.functions.signal.fourier import rfftfreq as rfftfreq

def rfftn(
    a: ArrayLike, s: collections.abc.Sequence[int] | None = None,
    axes: collections.abc.Sequence[int] | None = None, norm: str | None = None, *,
    overwrite_x: bool = False, workers: int | None = None
) -> Tensor:
    """Return the half along the last axis of the transform of real numbers.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        The number of points along each axis, see `rfft`; -1 is the size of the axis.
    axes : sequence of int, optional
        By default all, or the last ones. One that comes twice is transformed twice.
    norm : {"backward", "ortho", "forward"}, optional
    overwrite_x, workers
        Of `scipy.fft`; they ask for nothing here.

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths.

    Notes
    -----
    The gradient is that of `rfft` along each axis.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fft.rfftn([[1.0, 2.0], [3.0, 4.0]])
    tensor([[10.+0.j, -2.+0.j],
            [-4.+0.j,  0.+0.j]])
    """

def __getattr__(name: str) -> Any: ...  # NumPy's and SciPy's own
