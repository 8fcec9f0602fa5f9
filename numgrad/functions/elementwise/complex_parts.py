"""Parts of complex numbers.

The gradient of a real loss L with respect to a complex number is ``dL/dRe + i dL/dIm``.
"""

from typing import Any, Unpack

from ..._tensor import ArrayLike, Tensor
from ...engine.record.apply import make_alias
from ...engine.record.guards import guarded
from ...operators.elementwise import complex_parts as _complex_parts
from ...operators.elementwise import trigonometric as _trigonometric
from ..array.operands import as_tensor
from ..shape.reshaping import reshape
from .documentation import of_elements
from .trigonometric import rad2deg
from .universal import Options, universal, with_options


@universal("The cotangent is conjugated.", at=("[1.0 + 2.0j]",), value="tensor([1.-2.j])")
def conj(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the complex conjugate; real numbers stay what they are."""
    return with_options(conj, options, x, *into) if into or options else _complex_parts.conj(x)


conjugate = conj


@of_elements(
    "The cotangent becomes the real part of the gradient.",
    at=("[1.0 + 2.0j]",), gradient="[1.+0.j]",
)
def real(val: ArrayLike) -> Tensor:
    """Return the real part: a view, as in NumPy, which can be written in place."""
    val = as_tensor(val)
    if val.dtype.kind != "c":
        return val if val.is_scalar else reshape(val, val.shape)
    return (_complex_parts.real if val.is_scalar else _complex_parts.real_part)(val)


@of_elements(
    "The cotangent becomes the imaginary part of the gradient.",
    at=("[1.0 + 2.0j]",), gradient="[0.+1.j]",
)
def imag(val: ArrayLike) -> Tensor:
    """Return the imaginary part: of complex numbers a view, as in NumPy, which can be written in
    place, of real numbers 0."""
    val = as_tensor(val)
    if val.dtype.kind == "c" and not val.is_scalar:
        return _complex_parts.imag_part(val)
    zeros = _complex_parts.imag(val)
    if zeros.is_scalar:
        return zeros
    if zeros.array is None:
        make_alias(zeros, val, "real numbers have no imaginary part", strict=True)
    else:
        zeros.array.flags.writeable = False
    return zeros


def angle(z: ArrayLike, deg: bool = False) -> Tensor:
    """Return the angle of ``z`` in the complex plane, in ``[-pi, pi]``.

    Parameters
    ----------
    z : array_like
        Any shape.
    deg : bool
        In degrees instead of radians.

    Notes
    -----
    It is ``atan2(imag(z), real(z))``; the derivative at 0 is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0 + 2.0j], requires_grad=True)
    >>> ng.grad(ng.angle(x), x)[0]
    tensor([-0.4+0.2j])
    """
    y = _trigonometric.atan2(_complex_parts.imag(z), _complex_parts.real(z))
    return rad2deg(y) if guarded(deg) else y
