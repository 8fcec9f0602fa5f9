"""NumPy's functions on tensors: ``np.sin(t)`` is ``ng.sin(t)``, by ``functions.tables``."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache, partial, update_wrapper
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from ..._errors import ArgTypeError
from ..._tensor import Tensor
from ...engine.capture import escapes
from ..array.argument_checks import NO_VALUE
from ..array.pandas_operands import PRODUCT_OF_PANDAS, is_product_of_pandas, unframed
from ..array.results import delivered, way_out
from ..elementwise.universal import with_options
from ..products.sparse import combined, is_operator_of_scipy
from .augmented import computed_in_place
from .buffers import written
from .numpy_table import CONVERSIONS, METHODS, RENAMED, UFUNCS, functions, scipy_function
from .python_operators import is_memory, is_operand
from .written_arguments import WRITING, with_tensor

_ABSENT = inspect.Parameter.empty
_UNNAMED = inspect.Parameter.POSITIONAL_ONLY

# Arrays -------------------------------------------------------------------------------------------


def array(tensor: Any, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """Return the array, for NumPy; for an operator of SciPy's sparse arrays, which is then left to
    the tensor, an object that is no array of numbers."""
    if is_operator_of_scipy(sys._getframe(1)):
        return np.empty((), object)
    elements = written(tensor, sys._getframe(1), False)
    if elements is not None:
        return elements.astype(tensor.dtype if dtype is None else dtype)
    tensor._computed()
    what, instead = _way_out(dtype)
    has_slope = instead is escapes.ARRAY
    if is_product_of_pandas(sys._getframe(1)):
        what, instead = PRODUCT_OF_PANDAS
    escapes.refuse_escape(tensor, what, instead, has_slope=has_slope)
    found = tensor.numpy(copy=bool(copy))
    return found if dtype is None or found.dtype == dtype else found.astype(dtype)


def float_of(tensor: Any) -> float:
    """Return the only element of a tensor as a number, which NumPy may be about to write."""
    elements = written(tensor, sys._getframe(1), True)
    return float(tensor._number("float") if elements is None else elements.flat[0])


def complex_of(tensor: Any) -> complex:
    """Return the only element as a complex number, as `float_of` does."""
    elements = written(tensor, sys._getframe(1), True)
    return complex(tensor._number("complex") if elements is None else elements.flat[0])


def _way_out(dtype: Any) -> tuple[str, str]:
    """Return what asks for an array, and what to write instead."""
    kind = None if dtype is None else np.dtype(dtype)
    if kind is None or kind.kind not in "biu":
        return "np.asarray", escapes.ARRAY
    return f"np.asarray to {kind}", escapes.WHOLE.format(dtype=str(kind))


def numba_type(tensor: Any) -> Any:
    """Return what compiled code of Numba takes for the type of a tensor, and cannot use.

    Compiled code asks first whether there is a type at all: an error that is raised then is not the
    error of the call, and Python 3.13 prints that it ignores it. Code in Python asks once.
    """
    if sys._getframe(1).f_globals.get("__name__", "").startswith("numba."):
        _refuse_numba()
    return _NUMBA_TYPE


class _NumbaType:
    """A type for which no function is compiled: to compiled code it is any object of Python, so
    that a dispatcher looks at the argument in Python; whoever asks for more is refused."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # of Python's own protocols
            raise AttributeError(name)
        if name == "_code":
            return sys.modules["numba.core.types"].pyobject._code
        _refuse_numba()


_NUMBA_TYPE = _NumbaType()


def _refuse_numba() -> NoReturn:
    """Refuse: a function that Numba has compiled asks for the type of an argument.

    Raises
    ------
    ArgTypeError
        It says how such a function becomes an operator with a derivative.
    """
    from ...engine.capture.user_call import user_calls  # not needed before there is an error

    call = next(user_calls(), None)
    where = "" if call is None else f", at {call.site}"
    raise ArgTypeError(
        f"a function compiled by Numba was called with a tensor{where}; it takes arrays, and Numba "
        f"has no derivatives. Write `from numgrad import njit` in place of Numba's njit, or "
        f"ng.njit(f)(...): its derivative is derived from its loops, in ng.jit "
        f"and vmap too. If no gradient is to flow through it, hand it t.detach().numpy()"
    )


# Universal functions ------------------------------------------------------------------------------


def array_ufunc(tensor: Tensor, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    """Answer a universal function, SciPy's included; NotImplemented where another container shall.

    Raises
    ------
    TypeError
        For a function or a method without counterpart, and for options that would write into an
        array.
    """
    if method == "at" and type(inputs[0]) is np.ndarray:
        inputs = with_tensor("at", inputs, sys._getframe(1))
    operands = (inputs[0], *inputs[2:]) if method in ("at", "reduceat") else inputs
    if not all(map(is_operand, operands)):  # an index may be anything
        inputs, operands = tuple(map(unframed, inputs)), tuple(map(unframed, operands))
        if not all([is_operand(x) or is_memory(x) for x in operands]):  # noqa: C419
            is_plain = method == "__call__" and not options and len(inputs) == 2
            return combined(ufunc, *inputs) if is_plain else NotImplemented
    if ufunc in METHODS and method == "__call__":
        return METHODS[ufunc](*inputs, **options)
    function = UFUNCS.get(ufunc) or _scipy_function(ufunc)
    if ufunc is np.isnan and _is_for_a_root(sys._getframe(1)):
        escapes.refuse_escape(tensor, "float()", escapes.NUMBERS["float"])
    if function is not None and method == "__call__" and not options:
        return function(*inputs)
    name = _ufunc_name(ufunc)
    if function is None and ufunc.types == [f"{'O' * ufunc.nin}->{'O' * ufunc.nout}"]:
        raise TypeError(
            f"{ufunc.__name__}, made by np.frompyfunc, computes with Python objects: write "
            f"ng.vectorize(f), or hand it t.detach().numpy() for values without gradients"
        )
    if function is None and name == ufunc.__name__:
        raise TypeError(
            f"{name}, a universal function of a user, has no derivative that numgrad knows: write "
            f"ng.operator(signature)(f) with its loop f, or for values without gradients "
            f"{name}(t.detach().numpy(), ...)"
        )
    if function is None:
        raise TypeError(f"{name} has no counterpart in numgrad; {way_out(name)}")
    if ufunc is np.matmul and options.get("axes") in _MATRICES:
        del options["axes"]
    if method != "__call__":
        return _of_method(name, function, method)(*inputs, **options)
    found = computed_in_place(function, sys._getframe(1), inputs, options)
    if found is not None:
        return found
    own = {key: value for key, value in options.items() if key in _parameters(function)}
    others = {key: value for key, value in options.items() if key not in own}
    function = update_wrapper(partial(function, **own), function) if own else function
    return with_options(function, others, *inputs, called=name)


def _is_for_a_root(caller: FrameType) -> bool:
    """Return whether a root finder of SciPy looks at a value of the user's function, before its
    compiled code takes the value for a number, and goes on if that fails."""
    module = caller.f_globals.get("__name__", "")
    return caller.f_code.co_name == "f_raise" and module.startswith("scipy.optimize.")


def _ufunc_name(ufunc: np.ufunc) -> str:
    """Return the name of a universal function: NumPy and SciPy have it in a module."""
    name = ufunc.__name__
    for module, alias in (("numpy", "np"), ("scipy.special", "scipy.special")):
        if getattr(sys.modules.get(module), name, None) is ufunc:
            return f"{alias}.{name}"
    return name


_MATRICES = ([(-2, -1)] * 3, [(-1,), (-2, -1), (-1,)])
"""The axes that ``array @= tensor`` names: those that there are."""


def _of_method(name: str, function: Callable[..., Any], method: str) -> Callable[..., Any]:
    """Return what answers a method such as ``np.add.reduce``."""
    found = getattr(function, method, None)
    if found is None:
        called = f"{name}.{method}"
        raise TypeError(f"{called} has no counterpart in numgrad; {way_out(called)}")
    return found


def _scipy_function(ufunc: np.ufunc) -> Callable[..., Any] | None:
    """Return the counterpart of a function that is not NumPy's."""
    own = getattr(np, ufunc.__name__, None) is not ufunc
    return scipy_function(ufunc.__name__) if own else None


# Other functions ----------------------------------------------------------------------------------


def array_function(
    tensor: Tensor,
    function: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Answer a NumPy function by its counterpart.

    Raises
    ------
    TypeError
        For a function without counterpart, or a parameter that the counterpart does not have.
    """
    for kind in types:
        if kind is not Tensor and not issubclass(kind, (Tensor, np.ndarray)):
            return NotImplemented
    own = functions().get(function)
    if own is None:
        name = _called(function)
        raise TypeError(f"{name} has no counterpart in numgrad; {way_out(name)}")
    if function in WRITING and args and type(args[0]) is np.ndarray:
        args = with_tensor("function", args, sys._getframe(1))
    if function in CONVERSIONS and _computes_in_numpy(sys._getframe(1)):
        return function(*[x.numpy(copy=True) if isinstance(x, Tensor) else x for x in args])
    alike = _alike(function, own)
    if kwargs or len(args) > alike:
        plain = _plain_names(function, own, len(args), tuple(kwargs))
        if plain is not None:
            values = (*args[alike:], *kwargs.values())
            return own(*args[:alike], **{ours: values[n] for ours, n in plain})
        name = _called(function)
        args, kwargs = _translate(name, function, own, args, kwargs, alike)
        ours = _parameters(own)
        if _hands_on(ours) and "out" in ours:  # options such as where= and casting= are about `out`
            return own(*args, **kwargs)
        out = kwargs.pop("out", None)
        return delivered(own(*args, **kwargs), out, name)
    return own(*args, **kwargs)


def _called(function: Callable[..., Any]) -> str:
    """Return what users call a function of NumPy."""
    return f"{function.__module__.replace('numpy', 'np', 1)}.{function.__name__}"


@lru_cache(4096)
def _plain_names(
    function: Callable[..., Any], own: Callable[..., Any], count: int, given: tuple[str, ...]
) -> tuple[tuple[str, int], ...] | None:
    """Return the counterpart's names of the arguments beyond those that are alike, each with its
    number among these.

    The function got ``count`` arguments by position, and those in ``given`` by name. The result is
    None where `_translate` has to look at an argument: it may be one that the counterpart lacks.
    """
    theirs, ours, alike = list(_parameters(function)), _parameters(own), _alike(function, own)
    names, places = _names(function, own), [*theirs[alike:count], *given]
    found = [names.get(place) for place in places]
    is_known = None not in found and "out" not in places and count <= len(theirs)
    if not is_known or len({*found}) < len(found) or len({*places}) < len(places):
        return None
    if any([ours[name].kind is _UNNAMED for name in found if name is not None]):  # noqa: C419
        return None
    order = sorted(range(len(places)), key=lambda n: _place_in(theirs, places[n]))
    return tuple([(str(found[n]), n) for n in order])


def _place_in(names: list[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def _computes_in_numpy(caller: FrameType) -> bool:
    """Return whether the caller wants an array of NumPy from a conversion of NumPy's: SciPy's
    optimizers hand what a user's function returns to compiled code, and write to it."""
    return caller.f_globals.get("__name__", "").startswith("scipy.optimize")


def _translate(
    called: str,
    function: Callable[..., Any],
    own: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    alike: int,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call of ``function`` as its counterpart takes them.

    The two differ in some names, and the counterpart lacks some parameters, like ``out``: beyond
    the first ``alike`` arguments go by name.
    """
    theirs, ours = _parameters(function), _parameters(own)
    given = {**dict(zip(list(theirs)[alike:], args[alike:], strict=False)), **kwargs}
    args, names, order = args[:alike], _names(function, own), list(theirs)
    result = {}
    for parameter in sorted(given, key=lambda p: _place_in(order, p)):
        value, name = given[parameter], names.get(parameter)
        if name is None and (parameter == "out" or _hands_on(ours)):
            result[parameter] = value  # what the result is written to, or a function of users takes
        elif name is None:
            if not _is_default(value, theirs.get(parameter)):
                raise TypeError(
                    f"{called} of tensors does not take {parameter}=; {way_out(called)}"
                )
        elif name in result:
            raise TypeError(f"{called} got {parameter}= twice, under two names")
        elif ours[name].kind is _UNNAMED:
            args = (*args, value)
        else:
            result[name] = value
    return args, result


@cache
def _names(function: Callable[..., Any], own: Callable[..., Any]) -> dict[str, str]:
    """Return the counterpart's name of each parameter that it has.

    It is the same name, or one of `RENAMED`; an operand, which has no default or no name to call it
    by, is the one in the same place. Two options in the same place have nothing to do with each
    other.
    """
    theirs, ours = _parameters(function), _parameters(own)
    names = {name: RENAMED[name] for name in theirs if RENAMED.get(name) in ours}
    names.update({name: name for name in (*theirs, *ours) if name in ours})
    for name, place in zip(theirs, ours, strict=False):
        is_operand = ours[place].default is _ABSENT or ours[place].kind is _UNNAMED
        if name not in names and place not in theirs and is_operand:
            names[name] = place
    return names


@cache
def _alike(function: Callable[..., Any], own: Callable[..., Any]) -> int:
    """Return how many arguments may be given to the counterpart as they come, by position."""
    theirs, ours = _parameters(function), list(_parameters(own).values())
    if _is_variadic(theirs):
        return sys.maxsize
    names = _names(function, own)
    for count, (name, parameter) in enumerate(zip(theirs, ours, strict=False)):
        is_named = parameter.kind is parameter.KEYWORD_ONLY or name == "out"
        if names.get(name) != parameter.name or is_named:
            return count
    return min(len(theirs), len(ours))


@cache
def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except ValueError:  # some of NumPy's compiled functions have none
        return {}


def _is_variadic(parameters: Mapping[str, inspect.Parameter]) -> bool:
    return not parameters or any(p.kind is p.VAR_POSITIONAL for p in parameters.values())


def _hands_on(parameters: Mapping[str, inspect.Parameter]) -> bool:
    """Return whether a function takes options of any name."""
    return any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _is_default(value: Any, parameter: inspect.Parameter | None) -> bool:
    """Return whether ``value`` asks for nothing: it is absent, or the default."""
    if value is NO_VALUE or (value is None and (parameter is None or parameter.name != "where")):
        return True
    if parameter is None or not isinstance(value, (str, bool, int, float)):
        return False
    default = True if parameter.name == "where" else parameter.default
    return type(value) is type(default) and value == default


def answered(
    called: str,
    function: Callable[..., Any],
    own: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Return what the counterpart of a function gives for arguments as the function takes them."""
    args, kwargs = _translate(called, function, own, args, kwargs, _alike(function, own))
    return own(*args, **kwargs)
