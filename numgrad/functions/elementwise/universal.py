"""What NumPy's universal functions take beside their operands: ``out=``, ``where=``, ``dtype=``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypedDict, TypeVar, Unpack

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise import arithmetic as _elementwise
from ..array.operands import as_tensor, kind_of_operand
from ..array.results import delivered, mask_of, no_target, target_of, way_out
from ..shape.repeating import broadcast_to
from .documentation import of_elements, renamed

F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """Parameters of universal functions, which mean what they mean in NumPy.

    ``out`` is a tensor that the result is written to, with its gradient, or an array, if there is
    none; ``where`` says which elements are computed, the others stay what they are in ``out``;
    ``dtype`` and ``casting`` say in which dtype. ``order`` and ``subok`` ask for nothing here.
    """

    out: Any
    where: ArrayLike
    dtype: Any
    casting: Any
    order: str
    subok: bool


def universal(notes: str = "", **shown: Any) -> Callable[[F], F]:
    """Complete the docstring of a function, see `of_elements`, to which ``functions.binding`` gives
    methods: type checkers see them in ``described.pyi``."""
    return of_elements(notes, **shown)


class Unary(Protocol):
    """A universal function of one operand."""

    def __call__(self, x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor: ...


class Binary(Protocol):
    """A universal function of two operands."""

    def __call__(
        self, x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]
    ) -> Tensor: ...


class UniversalFunctions:
    """Makes the universal functions of a module that apply one operator each, a row for each.

    In the docstring ``about`` stands behind "Return", ``derivative`` behind "The derivative is",
    and ``gradient`` is the result of the example; `of_elements` says what else a row may have.

    Parameters
    ----------
    module : str
        The name of the module.
    """

    def __init__(self, module: str) -> None:
        self.module = module

    def unary(
        self, operator: Any, about: str, derivative: str = "", gradient: str = "", **shown: Any
    ) -> Unary:
        """Return the function of an operator of one operand."""

        def function(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
            return with_options(function, options, x, *into) if into or options else operator(x)

        notes = derivative and f"The derivative is {derivative}."
        return self._public(function, operator, about, notes, gradient=gradient, **shown)

    def binary(
        self, operator: Any, about: str, derivatives: str = "", gradient: Sequence[str] = (),
        **shown: Any,
    ) -> Binary:  # fmt: skip
        """Return the function of an operator of two operands."""

        def function(
            x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]
        ) -> Tensor:
            if into or options:
                return with_options(function, options, x1, x2, *into)
            return operator(x1, x2)

        notes = derivatives and f"The derivatives are {derivatives}."
        return self._public(function, operator, about, notes, gradient=gradient, **shown)

    def _public(self, function: F, operator: Any, about: str, notes: str, **shown: Any) -> F:
        """Give a function the name of its operator, and its documentation."""
        function.__module__, function.__doc__ = self.module, f"Return {about}."
        return of_elements(notes, **shown)(renamed(function, operator.name))


def with_options(
    function: Any, options: Mapping[str, Any], *inputs: ArrayLike, called: str = ""
) -> Any:
    """Apply a function of elements with `Options`; ``called`` is its name in errors. What follows
    the operands is ``out``.

    Raises
    ------
    TypeError
        For other options, ``where`` without ``out``, whose other elements NumPy leaves unset, and
        an ``out`` that is no tensor where gradients would be lost.
    """
    called = called or function.__name__
    _require_known(options, called)
    inputs, outs = _targets(function, options.get("out"), inputs, called)
    given, casting = options.get("where", True), options.get("casting") or "same_kind"
    mask = None if given is True else mask_of(given, called)
    if mask is not None and (not outs or any(out is None for out in outs)):
        raise TypeError(
            f"{called} with where= and without out= leaves elements unset: give a tensor as out=, "
            f"or write np.where(mask, {called}(...), other)"
        )
    inputs, dtypes = _in_dtypes(function, inputs, options.get("dtype"), casting, called)
    if mask is not None:
        inputs = tuple([_safe(function, x, mask) for x in inputs])
    results = function(*inputs)
    found = list(results) if type(results) is tuple else [results]
    for n, dtype in enumerate(dtypes):
        found[n] = found[n].astype(dtype, copy=False)
    if len(outs) not in (0, len(found)):
        raise ValueError(f"{called} has {len(found)} results, and out= {len(outs)} tensors")
    for n, out in enumerate(outs):
        found[n] = _written(function, found[n], out, mask, called, casting)
    return tuple(found) if type(results) is tuple else found[0]


def _targets(
    function: Any, out: Any, inputs: tuple[Any, ...], called: str
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the operands, and where the results go: what follows them, or ``out``."""
    code = getattr(function, "__code__", None)
    count = len(inputs) if code is None else code.co_argcount
    inputs, behind = inputs[:count], inputs[count:]
    if behind and out is not None:
        raise TypeError(f"{called} got out= twice, by its place and by its name")
    outs = behind or (out if isinstance(out, tuple) else () if out is None else (out,))
    outs = () if all(o is None for o in outs) else outs
    for o in outs:
        if o is not None and target_of(o, inputs) is None:
            raise no_target(called, inputs, o)
    return inputs, outs


def _written(
    function: Any, result: Tensor, out: Any, mask: Tensor | None, called: str, casting: Any
) -> Tensor:
    """Write a result where the mask holds, and return what it was written to."""
    target = target_of(out, ())
    if target is None:
        return result
    if result.shape != target.shape and function.__name__ != "matmul":
        result = broadcast_to(result, target.shape)
    result = result if mask is None else _elementwise.where(mask, result, target)
    delivered(result, target, called, casting)
    return out


def _require_known(options: Mapping[str, Any], called: str) -> None:
    for option in options.keys() - Options.__annotations__.keys():
        raise TypeError(f"{called} of tensors does not take {option}=; {way_out(called)}")
    order = options.get("order") or "K"
    if order not in ("K", "A", "C"):
        raise TypeError(
            f"{called} of tensors does not take order={order!r}: the order in memory is "
            f"numgrad's own; {way_out(called)}"
        )


def _in_dtypes(
    function: Any, inputs: tuple[Any, ...], dtype: Any, casting: Any, called: str
) -> tuple[tuple[Any, ...], Sequence[Any]]:
    """Return the operands in the dtypes that NumPy computes in, and those of the results where they
    have others."""
    if dtype is None and casting == "same_kind":
        return inputs, ()
    kinds = [_kind(x) for x in inputs]
    ufunc = getattr(np, function.__name__, None)
    if ufunc is None:
        raise TypeError(f"{called} does not take dtype= or casting=; {way_out(called)}")
    signature = (*(None,) * ufunc.nin, *(np.dtype(dtype),) * ufunc.nout)
    loop = {} if dtype is None else {"signature": signature}
    # The same errors as NumPy's, where there is no such loop or an operand would lose too much.
    found = ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout), casting=casting, **loop)
    wanted, results = found[: ufunc.nin], found[ufunc.nin :]
    return tuple(
        x if isinstance(kind, type) else as_tensor(x).astype(dtype, copy=False)
        for x, kind, dtype in zip(inputs, kinds, wanted, strict=True)
    ), results


def _kind(x: Any) -> Any:
    """Return the dtype of an operand, or the type of a Python number, as NumPy resolves them."""
    kind = kind_of_operand(x)
    if isinstance(kind, (np.dtype, np.generic)):  # np.float64 is a float, but not a weak one
        return np.result_type(kind)
    return np.dtype(bool) if isinstance(kind, bool) else type(kind)


def _safe(function: Any, x: Any, mask: Tensor) -> Any:
    """Return an operand with a number at which nothing happens where it is not to be read: a zero
    times the infinite derivative there would be NaN."""
    if isinstance(x, (int, float, complex)):
        return x
    x = as_tensor(x)
    number = _INSIDE.get(function.__name__, 0.5) if x.dtype.kind in "fc" else 1
    return _elementwise.where(mask, x, np.asarray(number).astype(x.dtype))


_INSIDE = {"acosh": 1.5}
"""Where functions and derivatives are finite, if it is not at 0.5."""
