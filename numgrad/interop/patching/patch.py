"""SciPy's functions on all tensors, while a patch is in force."""

from .switch import count


class Patch:
    """SciPy as it is with `patch`, until `undo` or the end of the ``with`` statement."""

    def __init__(self) -> None:
        count(1)
        self._is_on = True

    def undo(self) -> None:
        """Let SciPy's functions do as before, unless another `patch` needs them."""
        if self._is_on:
            self._is_on = False
            count(-1)

    def __enter__(self) -> "Patch":
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()


def patch() -> Patch:
    """Let SciPy's own functions compute with all tensors, until that is undone.

    Returns
    -------
    Patch
        Its method ``undo`` puts everything back; so does the end of a ``with`` statement.

    Notes
    -----
    Without `patch`, functions of `scipy.special`, ``linalg``, ``fft``, ``signal``, ``integrate``,
    ``optimize``, ``interpolate``, ``sparse``, ``sparse.linalg``, ``spatial.distance``, ``ndimage``
    and distributions of ``stats`` that have a counterpart in numgrad answer where SciPy would
    refuse a tensor: one that requires grad, lies on a device, or is still to be computed in a
    captured or mapped function. A tensor without a gradient is an array for SciPy, and the result
    an array of NumPy. With `patch` the counterpart answers for such tensors, too, so that results
    are tensors; and solvers differentiate by what the user's function closes over before they have
    called SciPy once.

    ``ng.set_flags(scipy="never")``, or ``NUMGRAD_SCIPY=never`` in the environment, leaves SciPy as
    it is; then `patch` is the only way. SciPy's modules are not imported for this, but noticed when
    they are. A global name of the user's, as ``from scipy.special import logsumexp`` leaves it, is
    replaced where it was bound before numgrad was imported; names inside of functions, classes and
    containers are not looked for. SciPy's functions call each other as before.

    With ``SCIPY_ARRAY_API=1`` in the environment SciPy also takes tensors and arrays together, as
    tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> from scipy import special
    >>> x = ng.tensor([0.0, 0.0])
    >>> type(special.logsumexp(x)).__name__
    'float64'
    >>> with ng.interop.scipy.patch():
    ...     special.logsumexp(x)
    tensor(0.69314718)
    """
    return Patch()
