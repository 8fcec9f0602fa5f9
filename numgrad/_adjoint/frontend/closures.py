"""Functions that a kernel defines within itself, `def` and `lambda`, and kernels of stencils."""

import ast
import copy
import inspect
from typing import Any

from ..builder.things import Thing
from ..ssa.refusal import Place, Refusal
from .jumps import WithoutJumps, mark_names_read
from .source import Kernel


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
        mark_names_read(made.without_jumps)
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


class StencilKernel(Kernel):
    """The kernel of a stencil of Numba, which returns an element of the result.

    The place of the element is given by one more parameter for each axis: indices of the arrays
    are relative to the place.

    Parameters
    ----------
    stencil : numba.stencils.stencil.StencilFunc
    ndim : int
        The number of axes.

    Attributes
    ----------
    ends : list of tuple of int
        For each axis the least and the greatest relative index; both are 0 where no others are.
    """

    def __init__(self, stencil: Any, ndim: int) -> None:
        super().__init__(stencil.kernel_ir.func_id.func)
        places = [f"place_{axis}_of_{self.name}" for axis in range(ndim)]
        arrays = set(self.parameters) - set(stencil.options.get("standard_indexing", ()))
        relative = _Relative(arrays, places)
        tree = relative.visit(copy.deepcopy(self.tree))
        self.statements = WithoutJumps(ast.fix_missing_locations(tree)).body
        mark_names_read(self.statements)
        known = stencil.options.get("neighborhood")
        self.ends = [tuple(ends) for ends in known] if known else relative.ends()
        self.parameters = [*self.parameters, *places]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.signature = inspect.Signature([inspect.Parameter(n, kind) for n in self.parameters])
        self.local_names |= frozenset(places)

    @staticmethod
    def of_axes(stencil: Any, ndim: int) -> "StencilKernel":
        """Return the kernel for arrays of a number of axes, whose source is read once."""
        key = id(stencil), ndim
        if key not in _STENCILS or _STENCILS[key][0] is not stencil:
            _STENCILS[key] = stencil, StencilKernel(stencil, ndim)
        return _STENCILS[key][1]


_STENCILS: dict[tuple[int, int], tuple[Any, StencilKernel]] = {}


class _Relative(ast.NodeTransformer):
    """Adds the place of an element to the indices of arrays.

    Parameters
    ----------
    arrays : set of str
    places : list of str
        The names of the indices of the place.
    """

    def __init__(self, arrays: set[str], places: list[str]) -> None:
        self.arrays, self.places = arrays, places
        self.indices: list[list[ast.expr]] = [[] for _ in places]

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or node.value.id not in self.arrays:
            return node
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(parts) != len(self.places):
            raise Refusal("an array in a stencil is indexed with one number for each axis")
        moved: list[ast.expr] = []
        for place, part, found in zip(self.places, parts, self.indices, strict=True):
            found.append(part)
            moved.append(ast.BinOp(ast.Name(place, ast.Load()), ast.Add(), part))
        index = moved[0] if len(moved) == 1 else ast.Tuple(moved, ast.Load())
        return ast.copy_location(ast.Subscript(node.value, index, node.ctx), node)

    def ends(self) -> list[tuple[int, int]]:
        """Return the least and the greatest index of each axis."""
        try:
            known = [[0, *map(ast.literal_eval, found)] for found in self.indices]
        except ValueError:
            raise Refusal("a stencil whose indices are no numbers needs `neighborhood`") from None
        return [(min(found), max(found)) for found in known]
