"""The source of a kernel: its syntax tree, and the values of its free names."""

import ast
import builtins
import copy
import dis
import inspect
import textwrap
from types import CodeType, FunctionType
from typing import Any

from ..ssa.refusal import AdjointError, Place
from .jumps import WithoutJumps, mark_names_read

_KERNELS: dict[FunctionType, "Kernel"] = {}


class Kernel:
    """A Python function that Numba compiles, read as a syntax tree.

    Parameters
    ----------
    function : callable
        A function, or the dispatcher that ``numba.njit`` makes of it.

    Attributes
    ----------
    tree : ast.FunctionDef
    statements : list of ast.stmt
        Its statements without jumps.
    parameters : list of str
    place : Place
        Where the source stands, for errors.
    derived : dict
        The adjoints that were derived, for those who call them again.
    """

    def __init__(self, function: Any) -> None:
        self.plain = plain_function(function)
        self.place, self.tree = _read(self.plain)
        self.name = self.tree.name
        self.statements = WithoutJumps(self.tree).body
        mark_names_read(self.statements)
        self.signature = inspect.signature(self.plain)
        self.parameters = list(self.signature.parameters)
        self.is_library = str(self.plain.__module__).startswith(__name__.split("frontend")[0])
        self.is_derived = hasattr(self.plain, "is_derived")
        self._require_plain_defaults()
        code = self.plain.__code__
        self.local_names = frozenset(code.co_varnames + code.co_cellvars)
        self.derived: dict[Any, Any] = {}

    def _require_plain_defaults(self) -> None:
        """Refuse a function whose omitted arguments Numba takes from the wrong defaults: Numba
        counts the defaults from the last parameter, also where that stands after ``*``."""
        parameters = self.signature.parameters.values()
        has_defaults = any(p.default is not p.empty for p in parameters)
        is_mixed = has_defaults and any(p.kind is p.KEYWORD_ONLY for p in parameters)
        if is_mixed and not self.is_library:
            place = self.place
            raise AdjointError(
                f"{place.file}, line {place.first_line}, in {self.name}: Numba mixes up the "
                f"defaults of a function with parameters after `*`: leave the `*` out"
            )

    @staticmethod
    def of(function: Any) -> "Kernel":
        """Return the kernel of a function, whose source is read once."""
        plain = plain_function(function)
        if plain not in _KERNELS:
            _KERNELS[plain] = Kernel(plain)
        return _KERNELS[plain]

    def free(self, name: str) -> Any:
        """Return the value of a name that the function does not assign.

        Raises
        ------
        KeyError
            If it has no value.
        """
        closure = self.plain.__closure__ or ()
        cells = dict(zip(self.plain.__code__.co_freevars, closure, strict=True))
        if name in cells:
            return cells[name].cell_contents
        if name in self.plain.__globals__:
            return self.plain.__globals__[name]
        return vars(builtins)[name]


def plain_function(function: Any) -> FunctionType:
    """Return a plain function, or the function of a dispatcher.

    Raises
    ------
    AdjointError
        For anything else.
    """
    plain = getattr(function, "py_func", function)
    if isinstance(plain, FunctionType):
        return plain
    raise AdjointError(f"expected a function or an @njit function, got {type(function).__name__}")


def _read(plain: FunctionType) -> tuple[Place, ast.FunctionDef]:
    """Return the place and the tree of a function, after checking that its source is the source
    that was compiled."""
    code = plain.__code__
    try:
        lines, first = inspect.getsourcelines(plain)
    except (OSError, TypeError) as error:
        raise _no_source(plain) from error
    place = Place(plain.__name__, code.co_filename, first)
    if plain.__name__ == "<lambda>":
        tree = _lambda(plain)
    else:
        tree = _definition(textwrap.dedent("".join(lines)), plain.__name__)
    if tree is None or not _is_current(tree, plain):
        if code.co_filename == "<string>":  # the name of the text of `python -c`, too
            raise _no_source(plain)
        raise AdjointError(
            f"{code.co_filename} changed since {plain.__name__} was defined (line {first}): "
            f"import or define it again"
        )
    return place, tree


def _no_source(plain: FunctionType) -> AdjointError:
    return AdjointError(
        f"the source of {plain.__name__} is not available (it was defined by exec, in "
        f"`python -c` or in the plain interpreter): write it in a file or a notebook cell"
    )


def _definition(text: str, name: str) -> ast.FunctionDef | None:
    try:
        parsed = ast.parse(text).body
    except SyntaxError:
        return None
    found = [node for node in parsed if isinstance(node, ast.FunctionDef) and node.name == name]
    return found[0] if found else None


def _lambda(plain: FunctionType) -> ast.FunctionDef | None:
    """Return the definition of a function that is a lambda expression, which may stand anywhere in
    a statement: of those that begin in its line, the one of its byte code."""
    first = plain.__code__.co_firstlineno
    try:
        parsed = ast.parse("".join(inspect.findsource(plain)[0]))
    except SyntaxError:
        return None
    for outer in ast.walk(parsed):
        if isinstance(outer, ast.Lambda) and outer.lineno == first:
            node = copy.deepcopy(outer)  # one of the others may be a part of it
            value = ast.copy_location(ast.Return(node.body), node.body)
            found = ast.FunctionDef("lambda_", node.args, [value], [])
            ast.increment_lineno(ast.copy_location(found, node), 1 - first)
            if _is_current(found, plain):
                return found
    return None


def _is_current(tree: ast.FunctionDef, plain: FunctionType) -> bool:
    """Whether a tree compiles to the byte code of a function."""
    code = plain.__code__
    bare = copy.copy(tree)
    bare.args, bare.decorator_list, bare.returns = _without_annotations(tree.args), [], None
    ast.fix_missing_locations(bare)
    outer: ast.stmt = bare
    if code.co_freevars:  # a closure: its free names must be those of a function around it
        outer = _around(bare, code.co_freevars)
    compiled = compile(ast.Module([outer], []), code.co_filename, "exec", dont_inherit=True)
    return any(_same(found, code) for found in _codes(compiled) if found.co_name == tree.name)


def _without_annotations(arguments: ast.arguments) -> ast.arguments:
    plain = [ast.arg(a.arg) for a in arguments.args]
    first = [ast.arg(a.arg) for a in arguments.posonlyargs]
    keywords = [ast.arg(a.arg) for a in arguments.kwonlyargs]
    star, stars = arguments.vararg, arguments.kwarg
    return ast.arguments(first, plain, star, keywords, [None] * len(keywords), stars, [])


def _around(definition: ast.FunctionDef, names: tuple[str, ...]) -> ast.FunctionDef:
    assigned = [ast.Assign([ast.Name(n, ast.Store())], ast.Constant(None)) for n in names]
    empty = ast.arguments([], [], None, [], [], None, [])
    outer = copy.copy(definition)
    outer.name, outer.args, outer.body = "_around", empty, [*assigned, definition]
    return ast.fix_missing_locations(outer)


def _codes(code: CodeType) -> list[CodeType]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [code, *(found for one in inner for found in _codes(one))]


def _same(found: CodeType, code: CodeType) -> bool:
    """Whether two code objects do the same; assert statements that pytest has rewritten are left
    out."""
    if "@pytest_ar" in code.co_names:
        return found.co_varnames[: found.co_argcount] == code.co_varnames[: code.co_argcount]
    return found.co_varnames == code.co_varnames and _instructions(found) == _instructions(code)


def _instructions(code: CodeType) -> list[tuple[str, str]]:
    """Return the byte code, without differences that depend on the module around a function, such
    as the way in which a method is looked up."""
    kept = [i for i in dis.get_instructions(code) if i.opname not in _UNSTEADY]
    return [(i.opname.replace("LOAD_METHOD", "LOAD_ATTR"), _argument(i)) for i in kept]


def _argument(instruction: dis.Instruction) -> str:
    value = instruction.argval
    if isinstance(value, CodeType):  # a function in the function
        return repr(_instructions(value))
    is_jump = "JUMP" in instruction.opname or instruction.opname in ("FOR_ITER", "SEND")
    return "" if is_jump else repr(value)


_UNSTEADY = frozenset({"NOP", "PUSH_NULL", "PRECALL", "CACHE", "EXTENDED_ARG"})
