"""Ways out of the graph: the elements of a value become numbers or arrays of NumPy.

No cotangent flows back through a number or array, so a conversion that would lose a gradient
silently is *refused*: it raises an error.
"""

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ..._errors import DetachedError, DeviceError
from ..graph.callsite import PACKAGE
from ..graph.value import Value
from ..record.apply import mode, other_modes


class _Refusals(threading.local):
    """The counts of refused conversions, for each thread.

    Attributes
    ----------
    count : int
        How many conversions were refused.
    attempts : int
        How many calls of `attempt` are running. Their callers catch the error and compute in
        another way, so the error needs no long text.
    """

    count = 0
    attempts = 0


refusals = _Refusals()
_WITHIN = (PACKAGE, os.path.dirname(np.__file__) + os.sep)
"""The folders of numgrad and of NumPy, whose functions call one another."""

attempting: dict[CodeType, Callable[[FrameType], bool]] = {}
"""The functions of numgrad that call NumPy and compute another way if a value was about to leave
the graph. The key is the code of a function; the entry says of a frame whether its call will do so.
Then nobody will read the text of the error."""


class TransformCall:
    """One call of the function that a transform (`grad`, `jvp`, `jacobian`, ...) differentiates.

    Attributes
    ----------
    first : int
        The creation number before the call: nodes and leaves made during the call have greater
        ones.
    refused : DetachedError or None
        The error of the last conversion that was refused during the call.
    """

    __slots__ = ("first", "refused")

    def __init__(self, first: int) -> None:
        self.first = first
        self.refused: DetachedError | None = None

    @property
    def is_running(self) -> bool:
        """Whether the differentiated function is running, in this thread."""
        return any(call is self for call in mode.transform_calls)


def differentiated(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], first: int
) -> Any:
    """Return the result of the function of a transform, which runs with gradients recorded.

    ``first`` is the present creation number: nodes with greater numbers are those of this call.
    """
    fields, grad, calls = vars(mode), mode.grad, mode.transform_calls
    during = {"grad": True, "transform_calls": (*calls, TransformCall(first))}
    before = {"grad": grad, "transform_calls": calls}
    change = fields.update
    # Ctrl-C is heard at the end of a call, and `change` is written in C: the change is undone.
    try:
        change(during)
        return function(*args, **kwargs)
    except (ValueError, SystemError) as error:
        raise_hidden(error)
        raise
    finally:
        change(before)
        if other_modes or not grad:
            mode.settle()


def transform_call_of(value: Value) -> TransformCall | None:
    """Return the innermost running call of a transform during which a value was made; None if there
    is none, or if the value does not require grad."""
    if not mode.transform_calls or not value.requires_grad:
        return None
    number = value.leaf.number if value.node is None else value.node.number
    return next((c for c in reversed(mode.transform_calls) if c.first < number), None)


def graph_cut_error(
    what: str, instead: str, constant: str = "x.detach()", place: str = ""
) -> DetachedError:
    """Return the error for an operation that would cut the graph.

    Parameters
    ----------
    what : str
        The operation, as users call it.
    instead : str
        A sentence with the code that keeps the gradients.
    constant : str
        Code that gives the same elements without gradients.
    place : str, optional
        The user's code that asks for the operation, and its line.
    """
    return DetachedError(
        f"{what} would cut the graph{place}. {instead} If no gradient is to flow through it, "
        f"write {constant}."
    )


def refuse_escape(
    value: Value, what: str, instead: str, constant: str = "x.detach()", *, has_slope: bool = True
) -> None:
    """Raise an error if a value requires grad and the operation ``what`` would take its elements
    out of the graph.

    If a call of NumPy or SciPy in the user's code has asked for the elements, the error names that
    call and its counterpart in numgrad. Without ``has_slope`` the error names no counterpart, whose
    result would have no derivative either. ``instead`` and ``constant`` are those of
    `graph_cut_error`.
    """
    if value.requires_grad and mode.grad and not _is_compared() and not _is_wanted(what):
        error = _refusal(what, instead, constant, has_slope)
        refusals.count += 1
        if mode.transform_calls:
            mode.transform_calls[-1].refused = error
        raise error


def _is_compared() -> bool:
    """Whether an assertion of `numpy.testing` asks for the elements; it compares them and loses no
    gradient."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("numpy.testing")


def _is_wanted(what: str) -> bool:
    """Whether the operation ``what`` is a conversion to a number that the user's own code asks for,
    as by ``float(x)`` or by formatting a text.

    In the function of a transform the result is False: the number would lose its gradient silently.
    """
    from .advice import is_wanted_as_number  # not needed before there is an error

    is_number = what in ("float()", "int()", "complex()")
    return is_number and not mode.transform_calls and is_wanted_as_number()


def _refusal(what: str, instead: str, constant: str, has_slope: bool) -> DetachedError:
    if refusals.attempts or _is_attempt():
        return graph_cut_error(f"{what} of a tensor that requires grad", instead, constant)
    from .advice import advice  # not needed before there is an error

    found = advice() if has_slope else None
    if found is not None:
        return DetachedError(
            f"{found.typed} would cut the graph, at {found.site}: write {found.write}."
            f"{found.also} It asks for {what} of a tensor that requires grad; if no gradient "
            f"is to flow through it, write {constant}."
        )
    what = f"{what} of a tensor that requires grad"
    if mode.transform_calls:
        what += ", in a function that is being differentiated,"
    elif constant.endswith(".numpy()"):  # an array is what was asked for
        return DetachedError(
            f"{what} would cut the graph{_place()}. Write {constant} for its values, which have no "
            f"gradient. Where one is to flow: {instead[0].lower()}{instead[1:]}"
        )
    elif instead is NUMBERS["float"]:
        instead += " Write x.item() for a number to keep or to print."
    return graph_cut_error(what, instead, constant, _place())


def _is_attempt() -> bool:
    """Whether a function in `attempting` has called NumPy here: that function computes in another
    way once the conversion is refused."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_WITHIN):
        if frame.f_code in attempting:
            return attempting[frame.f_code](frame)
        frame = frame.f_back
    return False


def forget_refusal() -> None:
    """Forget the last refused conversion of the innermost call of a transform, as the result was
    computed in another way."""
    if mode.transform_calls:
        mode.transform_calls[-1].refused = None


def _place() -> str:
    """Return the user's running code and its line, as text to append to a sentence.

    The text is empty where both are unknown.
    """
    from .advice import typed

    code, site = typed()
    return f", in {code}, {site}" if code else f", {site}" if site else ""


def raise_hidden(error: Exception) -> None:
    """Raise the `DetachedError` that NumPy or compiled code has hidden behind ``error``.

    NumPy chains an error of its own when a conversion fails while it writes elements of an array;
    compiled code may replace the error, or go on after it and fail later.
    """
    found = error.__cause__
    is_in_front = str(error).startswith(_ELEMENT) or isinstance(error, SystemError)
    while is_in_front and found is not None:
        if isinstance(found, DetachedError):
            raise found.with_traceback(error.__traceback__) from None
        found = found.__cause__
    lost = mode.transform_calls[-1].refused if mode.transform_calls else None
    if lost is not None and (str(error) == _FLAT_ELEMENT or _is_of_library(error)):
        raise lost.with_traceback(error.__traceback__) from None


def attempt(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function whose caller computes in another way if a conversion is refused meanwhile.

    The text of the error is short during the call, as nobody will read it.
    """
    refusals.attempts += 1
    try:
        return function(*args, **kwargs)
    finally:
        refusals.attempts -= 1


def is_escape(error: Exception, before: int) -> bool:
    """Whether a call has failed because a conversion was refused, so that its caller has to compute
    in another way.

    That is so if ``error`` or one of its causes says so, or if ``refusals.count`` is greater than
    ``before``, the count before the call. The refusal is forgotten then.
    """
    found: BaseException | None = error
    while not isinstance(found, (DetachedError, DeviceError)) and found is not None:
        found = found.__cause__ or found.__context__
    if found is None and refusals.count == before:
        return False
    forget_refusal()
    return True


def _is_of_library(error: Exception) -> bool:
    """Whether a library has raised an error of its own, and not because of another error."""
    from .user_call import is_users  # not needed before there is an error

    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    is_first = error.__cause__ is None and error.__context__ is None
    return is_first and trace is not None and not is_users(trace.tb_frame)


_ELEMENT = "setting an array element with a sequence"
_FLAT_ELEMENT = "Error setting single item of array."  # of ``array.flat[i] = x``, without a cause


def refuse_escape_in_transform(
    value: Value, what: str, instead: str, constant: str = "x.detach()"
) -> None:
    """Raise as `refuse_escape` does if the function of a transform is running; else do nothing.

    Only there would the loss go unnoticed: the transform would return zeros as the gradient.
    """
    if mode.transform_calls:
        refuse_escape(value, what, instead, constant)


NUMBERS = {
    "float": "Write the tensor itself, which computes as a number does, and a tensor, made with "
    "ng.zeros, for an array that is written.",
    "complex": "Write x.astype(complex), and a tensor, made with ng.zeros, for an array that is "
    "written.",
    "int": "Write math.trunc(x) for a number, or ng.trunc(x) or x.astype(int) for tensors: their "
    "derivative is 0.",
    "index": "An index has no gradient: write x.astype(int).",
}
"""Code to write where Python asks for a number, by the kind of number."""

ARRAY = (
    "Write ng.asarray, or ng.stack for a list of tensors; functions of NumPy and SciPy that take "
    "tensors are in ng, ng.linalg, ng.special, ng.stats, ng.random, ng.fft, ng.signal and "
    "ng.interop.scipy."
)
WHOLE = "Write x.astype({dtype!r}): the derivative of that is 0."
VALUES = "Compute with the tensor itself; it can be compared and printed."
"""Code to write instead of asking for all elements: `ARRAY`, `WHOLE`, `VALUES`."""

__all__ = [
    "ARRAY",
    "NUMBERS",
    "VALUES",
    "WHOLE",
    "TransformCall",
    "attempt",
    "attempting",
    "differentiated",
    "forget_refusal",
    "graph_cut_error",
    "is_escape",
    "raise_hidden",
    "refusals",
    "refuse_escape",
    "refuse_escape_in_transform",
    "transform_call_of",
]  # fmt: skip
