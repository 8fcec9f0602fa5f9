"""Facts about GPUs: whether there are any, and why not."""

from .targets import cuda as _cuda


def is_available() -> bool:
    """Return whether tensors can be made on ``device="cuda"``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.cuda.is_available() == (ng.cuda.device_count() > 0)
    True
    """
    return _cuda.unavailable() is None


def unavailable_reason() -> str | None:
    """Return why there is no device, in one line; None if there is one.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.cuda.is_available() or "\\n" not in ng.cuda.unavailable_reason()
    True
    """
    return _cuda.unavailable()


def device_count() -> int:
    """Return how many devices there are; Numba's simulator has one.

    Examples
    --------
    >>> import numgrad as ng
    >>> len(ng.__array_namespace_info__().devices()) == 1 + ng.cuda.device_count()
    True
    """
    return _cuda.count()


__all__ = ["device_count", "is_available", "unavailable_reason"]
