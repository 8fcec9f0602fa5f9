"""Functions that a kernel defines within itself: `def` and `lambda`."""

import ast
import inspect
from typing import Any

from ..builder.things import Thing
from ..ssa.refusal import Place, Refusal
from .jumps import WithoutJumps


class Closure:
    """A function that a kernel defines within itself; its statements are read where it is called.

    Parameters
    ----------
    node : ast.FunctionDef or ast.Lambda
    names : dict
        What the names around it stand for where it is defined.
    defaults : sequence
        The things of its default arguments.
    place : Place

    Attributes
    ----------
    plain : ast.AST
        What it is known by.
    """

    def __init__(
        self, node: ast.FunctionDef | ast.Lambda, names: dict[str, Thing], defaults: list[Thing],
        place: Place,
    ) -> None:  # fmt: skip
        self.plain, self.place = node, place
        self.name = getattr(node, "name", "lambda")
        self.names, self.is_library, self.is_derived = names, False, False
        self.reader: Any = None  # the reader of the function around it
        definition: Any = _definition(node)
        self.statements = definition.without_jumps
        self.signature = _signature(node.args, defaults)
        self.parameters = list(self.signature.parameters)
        self.local_names = frozenset(self.parameters) | _assigned(definition)

    def seen(self, name: str, now: dict[str, Thing]) -> Thing:
        """Return the thing that a name of the function around it stands for; None if that function
        has no such name.

        Raises
        ------
        Refusal
            If it stands for something else since the function was defined.
        """
        thing = now.get(name)
        if name in self.names and self.names[name] is not thing:
            raise Refusal(
                f"`{name}` has changed since `{self.name}` was defined: hand it over as an argument"
            )
        return thing


def bound(
    reader: Any, kernel: Any, args: list[Thing], keywords: dict[str, Thing]
) -> dict[str, Thing]:
    """Return what the parameters of a function stand for in a call."""
    try:
        found = kernel.signature.bind(*args, **keywords)
    except TypeError as error:
        raise Refusal(f"{kernel.name}: {error}") from None
    names: dict[str, Thing] = {}
    for name, parameter in kernel.signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise Refusal("`**keywords` are not understood")
        if name in found.arguments:
            thing = found.arguments[name]
        elif parameter.kind is parameter.VAR_POSITIONAL:
            thing = ()
        elif isinstance(kernel, Closure):
            thing = parameter.default
        else:
            thing = reader.known(parameter.default, name)
        names[name] = reader.computed(thing)  # type: ignore[attr-defined]
    return names


def _definition(node: Any) -> ast.FunctionDef:
    """Return the definition of a function, with its statements without jumps; it is made once for
    each node."""
    if not hasattr(node, "definition"):
        made: Any = node
        if isinstance(node, ast.Lambda):
            returned = ast.copy_location(ast.Return(node.body), node.body)
            made = ast.copy_location(ast.FunctionDef("lambda_", node.args, [returned], []), node)
        made.without_jumps = WithoutJumps(made).body
        vars(node)["definition"] = made
    return vars(node)["definition"]


def _signature(arguments: ast.arguments, defaults: list[Thing]) -> inspect.Signature:
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise Refusal("functions within functions are understood with plain parameters only")
    names = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
    first = len(names) - len(defaults)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    empty = inspect.Parameter.empty
    given: list[Any] = [empty] * first + defaults
    return inspect.Signature(
        [inspect.Parameter(n, kind, default=d) for n, d in zip(names, given, strict=True)]
    )


def _assigned(definition: ast.FunctionDef) -> frozenset[str]:
    """The names that a function assigns itself."""
    nodes = [node for statement in definition.body for node in ast.walk(statement)]
    if any(isinstance(node, (ast.Nonlocal, ast.Global)) for node in nodes):
        raise Refusal("`nonlocal` and `global` are not understood: hand the value over")
    stored = (n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return frozenset(stored)
