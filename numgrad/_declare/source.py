"""The functions in declarations of operators: their parameters, and the names they mention."""

import dis
import inspect
import sys
from collections.abc import Sequence
from types import CodeType, FunctionType
from typing import Any

from .._errors import DeclarationError
from ..process.cached_attribute import lazy


class Source:
    """A function in the declaration of an operator: a plain one, or a dispatcher made by ``@njit``.

    Attributes
    ----------
    function : callable
        The function as declared.
    plain : function
        The Python function of it.
    is_kernel : bool
        Whether ``function`` is a dispatcher.
    parameters : tuple of str
        The names of the parameters.
    defaults : dict
        The default values of parameters.
    """

    def __init__(self, function: Any, what: str) -> None:
        self.function = function
        self.plain = python_function(function, what)
        self.is_kernel = self.plain is not function
        _require_compiler(self.is_kernel, what)
        self.name = self.plain.__name__
        kinds = inspect.signature(self.plain).parameters.values()
        for parameter in kinds:
            if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                raise DeclarationError(
                    f"{what}: {self.name} takes {parameter}, but its parameters must be "
                    f"positional, one for each array"
                )
        self.parameters = tuple(parameter.name for parameter in kinds)
        self.defaults = {p.name: p.default for p in kinds if p.default is not p.empty}

    def reads(self, parameter: str) -> bool:
        """Whether the function mentions a parameter; values for other parameters need not be saved.
        """
        return parameter in self._mentioned

    @lazy
    def _mentioned(self) -> set[str]:
        return mentioned(self.plain.__code__)


def _require_compiler(is_kernel: bool, what: str) -> None:
    """Raise for a plain function while Numba is disabled: it may have been meant as a kernel."""
    config = sys.modules.get("numba.core.config")
    if not is_kernel and getattr(config, "DISABLE_JIT", False):
        raise DeclarationError(
            f"{what}: NUMBA_DISABLE_JIT is set, so that @njit leaves functions as they are, and "
            f"kernels cannot be told from functions of tensors. Unset it; to debug a kernel, call "
            f"its Python function with arrays"
        )


def plain_of(function: Any) -> FunctionType | None:
    """Return the Python function of a dispatcher, or a plain function itself; else None.

    The dispatcher may be Numba's, or that of Numba's simulator of CUDA.
    """
    is_simulated = type(function).__module__.startswith("numba.cuda.simulator")
    plain = getattr(function, "fn" if is_simulated else "py_func", function)
    return plain if isinstance(plain, FunctionType) else None


def python_function(function: Any, what: str) -> FunctionType:
    """Return the Python function of a dispatcher, or a plain function itself.

    Raises
    ------
    DeclarationError
        For any other object.
    """
    plain = plain_of(function)
    if plain is not None:
        return plain
    hint = ""
    if isinstance(function, str):
        hint = "; the signature goes to ng.operator, the function below it"
    elif type(function).__name__ in ("GUVectorize", "DUFunc", "GUFunc", "ufunc"):
        hint = "; use @numba.njit instead of vectorize or guvectorize: the loop is numgrad's"
    raise DeclarationError(
        f"{what}: expected a function or an @njit function, got {type(function).__name__}{hint}"
    )


def mentioned(code: CodeType) -> set[str]:
    """Return the names of variables that byte code mentions, also in nested functions."""
    names: set[str] = set()
    for instruction in dis.get_instructions(code):
        value = instruction.argval
        names.update(
            (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
        )
        if isinstance(value, CodeType):
            names |= mentioned(value)
    return {name for name in names if isinstance(name, str)}


def branches(code: CodeType) -> bool:
    """Whether byte code has branches: ``if`` (also in expressions), ``while``, ``and``, ``or``."""
    return not _DECISIONS.isdisjoint(code.co_code[::2])  # every other byte is an argument


_DECISIONS = frozenset(
    number
    for name, number in dis.opmap.items()
    if name.startswith(("POP_JUMP_IF", "POP_JUMP_FORWARD_IF", "POP_JUMP_BACKWARD_IF", "JUMP_IF"))
)


def require_straight(function: FunctionType, what: str) -> None:
    """Raise unless a scalar function can run on whole tensors: it must have no branches.

    Raises
    ------
    DeclarationError
        For branches, and for ``max`` and ``min``, which branch too.
    """
    if branches(function.__code__):
        raise DeclarationError(
            f"{what} takes a decision (if, while, and, or): it also runs on tensors, which have "
            f"many values; write where(condition, a, b)"
        )
    for name in ("max", "min"):
        if name in function.__code__.co_names and name not in function.__globals__:
            raise DeclarationError(f"{what} uses {name}: write where(a > b, a, b) or the like")


def split_parameters(
    source: Source, what: str, groups: Sequence[tuple[int, str]], static: Sequence[str]
) -> tuple[str, ...]:
    """Check the parameters of a kernel against its signature; return its static parameters.

    The static parameters come last.

    Parameters
    ----------
    groups
        The numbers and kinds of the parameters that come first, such as ``(2, "input")``.
    static
        The names of the operator's static parameters.
    """
    count = sum(number for number, _ in groups)
    trailing = source.parameters[count:]
    unknown = [name for name in trailing if name not in static]
    if len(source.parameters) >= count and not unknown:
        if misplaced := [name for name in source.parameters[:count] if name in static]:
            raise DeclarationError(
                f"{what}: the static parameter {misplaced[0]!r} must come last, after "
                f"{_listed(groups)}; the parameters are ({', '.join(source.parameters)})"
            )
        return trailing
    raise DeclarationError(
        f"{what}: the parameters must be {_listed(groups)}"
        + (f", then static parameters out of {', '.join(static)}" if static else "")
        + f", but they are {len(source.parameters)}: ({', '.join(source.parameters)}); write "
        + _right(source, groups, count)
        + (f"; {unknown[0]!r} is not declared: write static=({unknown[0]!r},)" if unknown else "")
    )


def _right(source: Source, groups: Sequence[tuple[int, str]], count: int) -> str:
    """Return the ``def`` line of a kernel whose parameters fit its signature, for a message."""
    names = list(source.parameters[:count])
    if len(names) < count:  # it is unknown which parameters are missing
        names = [
            f"{_LETTERS.get(kind, 'x')}{n + 1 if number > 1 else ''}"
            for number, kind in groups
            for n in range(number)
        ]
    written = [kind for number, kind in groups if number and kind == "array to write"]
    how = "writes its results" if written else "returns its results"
    return f"def {source.name}({', '.join(names)}), which {how}"


_LETTERS = {"cotangent": "g", "input": "x", "output": "y", "tangent": "t", "array to write": "out"}


def _listed(groups: Sequence[tuple[int, str]]) -> str:
    """Return the numbers and kinds of parameters in words."""
    words = []
    for number, kind in groups:
        noun, space, rest = kind.partition(" ")
        if number:
            words.append(f"{number} {noun}{'s' if number > 1 else ''}{space}{rest}")
    return ", ".join(words)
