"""Replace SciPy's functions by functions that take tensors, and put them back."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any

from ...._tensor import Tensor
from . import counterparts, dispatch

_lock = RLock()


class Patch:
    """SciPy as it is with `patch`, until `undo` or the end of the ``with`` statement."""

    _made: list[tuple[Any, str, Any, Any]] = []  # noqa: RUF012  shared by all instances
    _holders = 0

    def __init__(self) -> None:
        self._is_on = True
        with _lock:
            if not Patch._holders:
                try:
                    _apply()
                except BaseException:
                    _put_back()
                    raise
            Patch._holders += 1

    def undo(self) -> None:
        """Put SciPy's functions back, unless another `patch` needs them."""
        with _lock:
            if self._is_on:
                self._is_on = False
                Patch._holders -= 1
                if not Patch._holders:
                    _put_back()

    def __enter__(self) -> "Patch":
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()


def patch() -> Patch:
    """Let SciPy's own functions take tensors, until that is undone.

    Returns
    -------
    Patch
        Its method ``undo`` puts everything back; so does the end of a ``with`` statement.

    Notes
    -----
    Functions of `scipy.special`, ``linalg``, ``fft``, ``signal``, ``integrate``, ``optimize``,
    ``interpolate``, ``sparse``, ``sparse.linalg``, ``spatial.distance`` and ``ndimage`` that have a
    counterpart in numgrad are replaced, in the modules of SciPy and where a loaded module has one
    of them under a global name, as ``from scipy.special import logsumexp`` leaves it. The
    replacement looks for a tensor among its arguments, also in lists, tuples and dictionaries, and
    for solvers in what the user's function closes over: with one it calls the counterpart, else
    SciPy's function, which is not changed; but what ``splu`` and ``factorized`` make of a constant
    matrix solves for right hand sides of tensors, too.
    Distributions of `scipy.stats`, and splines that exist already, answer tensors, too. Names
    inside of functions, classes and containers are not looked for: import at the top of a module.
    SciPy's functions call each other as before.

    With ``SCIPY_ARRAY_API=1`` in the environment SciPy also takes tensors and arrays together, as
    tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> from scipy import special
    >>> x = ng.tensor([0.0, 0.0], requires_grad=True)
    >>> with ng.interop.scipy.patch():
    ...     y = special.logsumexp(x)
    >>> ng.grad(y, x)[0]
    tensor([0.5, 0.5])
    """
    return Patch()


def _apply() -> None:
    of_classes = list(counterparts.methods())  # before the classes are replaced
    replaced: dict[int, tuple[Any, Any]] = {}
    for module, name, own in counterparts.functions():
        original = getattr(module, name)
        new = dispatch.function(original, own, f"{module.__name__}.{name}")
        replaced[id(original)] = original, new
    for module, name, own in counterparts.classes():
        original = getattr(module, name)
        replaced[id(original)] = original, dispatch.class_(original, own)
    for module in _modules():
        for name, value in list(vars(module).items()):
            if id(value) in replaced and replaced[id(value)][0] is value:
                _replace(module, name, replaced[id(value)][1])
    for kind, name, counterpart in of_classes:
        _replace(kind, name, dispatch.method(vars(kind)[name], counterpart, name))
    _mix_namespaces()
    dispatch.Switch.is_on = True


def _modules() -> Iterator[ModuleType]:
    """Yield the modules in which names are replaced: SciPy's public ones, and those of users."""
    for name, module in list(sys.modules.items()):
        parts = name.split(".")
        is_inner = parts[0] == "scipy" and any(part[0] == "_" for part in parts)
        if isinstance(module, ModuleType) and parts[0] != "numgrad" and not is_inner:
            yield module


def _replace(owner: Any, name: str, new: Any) -> None:
    Patch._made.append((owner, name, vars(owner)[name], new))
    setattr(owner, name, new)


def _put_back() -> None:
    dispatch.Switch.is_on = False
    while Patch._made:
        owner, name, old, new = Patch._made.pop()
        if vars(owner).get(name) is new:
            setattr(owner, name, old)


def _mix_namespaces() -> None:
    """Let SciPy take tensors and arrays together, as tensors, where it looks up the library of its
    arguments."""
    try:
        compat = import_module("scipy._lib.array_api_compat")
        namespace: Callable[..., Any] = compat.array_namespace
    except (ImportError, AttributeError):  # a version of SciPy without this function
        return

    def mixed(*arrays: Any, **options: Any) -> Any:
        tensors = [x for x in arrays if isinstance(x, Tensor)]
        return namespace(*(tensors or arrays), **options)

    _replace(compat, "array_namespace", mixed)
