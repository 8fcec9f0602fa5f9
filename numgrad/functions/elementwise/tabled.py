"""Public functions of the operators that tables declare, with the docstrings that these give."""

from functools import cache
from types import CodeType
from typing import Any, Protocol, Unpack

from ..._tensor import ArrayLike, Tensor
from ...operators.special import distributions as distributions
from ...operators.special import entropies as entropies
from ...operators.special.bessel import bessel as bessel  # the tables
from ...operators.special.error import erf as erf
from ...operators.special.error import exponential_integrals as exponential_integrals
from ...operators.special.formulas import TABLE, Tabled
from ...operators.special.gamma import gamma as gamma
from ...operators.special.hypergeometric import hypergeometric as hypergeometric
from ..special.examples import EXAMPLES
from .documentation import docstring, renamed
from .universal import Options, with_options

X = ArrayLike


class Unary(Protocol):
    """A function of one argument."""

    def __call__(self, x: X, /, **options: Unpack[Options]) -> Tensor: ...


class Binary(Protocol):
    """A function of two arguments."""

    def __call__(self, x: X, y: X, /, **options: Unpack[Options]) -> Tensor: ...


class Ternary(Protocol):
    """A function of three arguments."""

    def __call__(self, x: X, y: X, z: X, /, **options: Unpack[Options]) -> Tensor: ...


class Quaternary(Protocol):
    """A function of four arguments."""

    def __call__(self, x: X, y: X, z: X, w: X, /, **options: Unpack[Options]) -> Tensor: ...


class Functions:
    """Makes functions for a module; by the number of their arguments, for those who check types.

    Parameters
    ----------
    names : dict
        The globals of the module.
    """

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def unary(self, name: str) -> Unary:
        """Return the public function of an operator of one argument."""
        return self._made(name)

    def binary(self, name: str) -> Binary:
        """Return the public function of an operator of two arguments."""
        return self._made(name)

    def ternary(self, name: str) -> Ternary:
        """Return the public function of an operator of three arguments."""
        return self._made(name)

    def quaternary(self, name: str) -> Quaternary:
        """Return the public function of an operator of four arguments."""
        return self._made(name)

    def _made(self, name: str) -> Any:
        operator = TABLE[name]
        parameters = ", ".join(operator.parameters)
        source = (
            f"lambda operator, with_options: lambda {parameters}, /, **options: "
            f"with_options(operator, options, {parameters}) if options else operator({parameters})"
        )
        function = renamed(eval(_compiled(source), self.names)(operator, with_options), name)
        arguments: dict[str, Any] = dict.fromkeys(operator.parameters, ArrayLike)
        function.__annotations__ = {**arguments, "return": Tensor}
        function.__doc__ = documentation(operator)
        return function


@cache
def _compiled(source: str) -> CodeType:
    return compile(source, __file__, "eval")


def documentation(operator: Tabled) -> str:
    """Write the documentation of an operator's function."""
    article = "" if operator.about.startswith("`") else "the "
    several = "Broadcast together." if len(operator.parameters) > 1 else "Any shape."
    domain = f" Defined for ``{operator.domain}``." if operator.domain else ""
    given, value = EXAMPLES[operator.name]  # which is on record
    return docstring(
        f"Return {article}{operator.about}.",
        f"{', '.join(operator.parameters)} : array_like\n    {several}{domain}",
        raises="" if operator.allows_complex else "DtypeError\n    For complex arguments.",
        notes=notes(operator),
        example=f">>> ng.special.{operator.name}({given}).item()\n{value}",
    )


def notes(operator: Tabled) -> str:
    """Say what the derivatives are."""
    sentences = [
        f"The derivative with respect to ``{name}`` is ``{formula}``."
        for name, formula in operator.formulas.items()
    ]
    sentences += [f"The second one with respect to ``{x}`` is refused." for x in operator.once]
    fixed = [f"``{x}``" for x in operator.parameters if x not in operator.formulas]
    if fixed:
        sentences.append(
            f"That with respect to {' and '.join(fixed)} is not known in closed form: where it is "
            f"wanted there is an error."
        )
    return "\n\n".join(sentences)
