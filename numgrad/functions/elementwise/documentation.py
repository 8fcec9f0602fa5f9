"""Docstrings of functions that differ in a formula only, written from what each of them says."""

from collections.abc import Callable, Sequence
from inspect import CO_VARKEYWORDS, cleandoc
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def docstring(
    summary: str, parameters: str, *, raises: str = "", notes: str = "", example: str = ""
) -> str:
    """Return a docstring as numpydoc reads it: a sentence, and the sections that are given.

    Parameters
    ----------
    summary, parameters, raises, notes : str
        What the sections say.
    example : str
        Lines of input and output; ``ng`` is imported before.
    """
    shown = f">>> import numgrad as ng\n{example}"
    sections = {"Parameters": parameters, "Raises": raises, "Notes": notes, "Examples": shown}
    texts = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items() if text]
    return "\n\n".join([summary, *texts]) + "\n"


def renamed(function: F, name: str, template: str = "", /, **words: str) -> F:
    """Give a function that code makes its public name, which errors and tracebacks show, and put
    ``words`` into the fields of its docstring: ``{name}`` and others in braces.

    The docstring loses its indentation, which Python keeps before version 3.13.

    Parameters
    ----------
    template : str
        The docstring; by default it stands in the function, which is a function in another one.
    """
    made: Any = function
    made.__name__ = made.__qualname__ = name
    made.__code__ = made.__code__.replace(co_name=name)
    text = template or made.__doc__
    if words and text:
        made.__doc__ = cleandoc(text).format(name=name, **words)
    return function


def of_elements(
    notes: str = "",
    *,
    at: Sequence[str] = (),
    gradient: str | Sequence[str] = "",
    value: str = "",
    refuses: str = "",
    namespace: str = "ng",
) -> Callable[[F], F]:
    """Complete the docstring of a function of one or two tensors, which says what it returns.

    Parameters
    ----------
    notes : str
        What the derivatives are.
    at : sequence of str
        The elements of each argument in the example.
    gradient, value : str
        What the example shows: the elements of the gradient, or of each of two, or the value.
    refuses : str
        What no argument may be.
    namespace : str
        Where the function is.
    """

    def complete(function: F) -> F:
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        called = f"{namespace}.{function.__name__}"
        alone = len(names) == 1
        which = f"``{names[0]}``" if alone else "an argument"
        shape = "Any shape." if alone else "Broadcast together."
        options = _OPTIONS if code.co_flags & CO_VARKEYWORDS else ""
        function.__doc__ = docstring(
            cleandoc(function.__doc__ or ""),
            f"{', '.join(names)} : array_like\n    {shape}{options}",
            raises=f"DtypeError\n    If {which} is {refuses}." if refuses else "",
            notes=notes,
            example=_value(called, at, value) if value else _gradient(called, names, at, gradient),
        )
        return function

    return complete


_OPTIONS = "\n*into, **options\n    ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy."
_USUAL = (("[0.25, 0.5]",), ("[1.0, 4.0]", "[2.0, 2.0]"))
"""Where gradients are shown, of functions of one argument and of two."""


def _value(called: str, at: Sequence[str], value: str) -> str:
    arguments = ", ".join(f"ng.tensor({elements})" for elements in at)
    return f">>> {called}({arguments})\n{value}"


def _gradient(called: str, names: Sequence[str], at: Sequence[str], gradient: Any) -> str:
    at = at or _USUAL[len(names) - 1]
    given = [
        f">>> {name} = ng.tensor({elements}, requires_grad=True)"
        for name, elements in zip(names, at, strict=True)
    ]
    call = f"{called}({', '.join(names)})"
    if len(names) == 1:
        shown = [f">>> ng.grad({call}, {names[0]})[0]", f"tensor({gradient})"]
    else:
        both = ", ".join(f"tensor({elements})" for elements in gradient)
        shown = [f">>> ng.grad({call}, [{', '.join(names)}])", f"({both})"]
    return "\n".join([*given, *shown])
