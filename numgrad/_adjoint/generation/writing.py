"""The text of generated source: names, lines, and how the text is tidied."""

import ast
import contextlib
import keyword
import math
import re
from collections.abc import Iterable, Iterator

from ..ssa.ir import Value
from ..ssa.partials import SCALARS
from .parts import in_parts
from .threads import in_threads

_TAKEN = {
    "_", "np", "math", "range", "prange", "len", "max", "min", "abs", "int", "float", "bool",
    "round", "in_chunks", "is_long", "laid_down", "runs",
}  # fmt: skip


class Names:
    """Gives each value a name, the user's where there is one.

    Parameters
    ----------
    taken : iterable of str
        Names that must not be used.
    """

    def __init__(self, taken: set[str]) -> None:
        self._taken = _TAKEN | taken
        self._of: dict[object, str] = {}

    def fresh(self, hint: str) -> str:
        """Return a name that is not used yet."""
        hint = re.sub(r"\W+", "_", hint)
        base = re.sub(r"_\d+$", "", hint) or "t"
        name, count = hint or "t", 0
        while name in self._taken or keyword.iskeyword(name):
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    def of(self, value: Value) -> str:
        """Return the name of a value."""
        if value not in self._of:
            self._of[value] = self.fresh(value.hint)
        return self._of[value]

    def cotangent(self, value: Value) -> str:
        """Return the name of the cotangent of a value, or of the shadow of an array."""
        key = ("g", value)
        if key not in self._of:
            self._of[key] = self.fresh("g" + (value.hint or self.of(value)))
        return self._of[key]

    def shadows(self) -> list[str]:
        """Return the names of the shadows of arrays."""
        keys = [key for key in self._of if isinstance(key, tuple)]
        return [self._of[key] for key in keys if key[1].type.is_array]

    def give(self, value: Value, name: str) -> None:
        """Give a value a name that is taken already."""
        self._of[value] = name

    def share(self, value: Value, other: Value) -> None:
        """Give a value the name of another one."""
        self._of[value] = self.of(other)

    def share_cotangent(self, value: Value, other: Value) -> None:
        """Give a shadow the name of another one."""
        self._of["g", value] = self.cotangent(other)


class Writer:
    """Lines of source with indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._indent = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self._indent + text)

    def comment(self, text: str) -> None:
        self.line(repr("# " + text))

    @contextlib.contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Write lines below a header; a block without lines is left out with its header."""
        self.line(header)
        start = len(self.lines)
        self._indent += 1
        yield
        self._indent -= 1
        if len(self.lines) == start:
            self.lines.pop()

    @contextlib.contextmanager
    def branches(self, header: str) -> Iterator[None]:
        """Write lines below a header that stays even without lines."""
        self.line(header)
        start = len(self.lines)
        self._indent += 1
        yield
        if len(self.lines) == start:
            self.line("pass")
        self._indent -= 1

    def assign(self, names: list[str], texts: list[str]) -> None:
        """Write assignments, in one line where a later text reads a name that is assigned before
        it."""
        pairs = [(n, t) for n, t in zip(names, texts, strict=True) if n != t]
        for position, (name, _) in enumerate(pairs):
            if any(mentions(text, name) for _, text in pairs[position + 1 :]):
                self.line(", ".join(n for n, _ in pairs) + " = " + ", ".join(t for _, t in pairs))
                return
        for name, text in pairs:
            self.line(f"{name} = {text}")


def mentions(text: str, name: str) -> bool:
    """Whether an expression reads a name."""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def scalar_text(name: str, spelled: str, args: list[str]) -> str:
    """Return a scalar operation as text."""
    pattern = SCALARS[name].text
    is_call = pattern.startswith("{f}(")
    parts = args if is_call else [f"({arg})" for arg in args]
    return pattern.format(*parts, f=spelled)


def number_text(number: object) -> str:
    """Return a constant as text."""
    if isinstance(number, float) and number != number:
        return "np.nan"
    if isinstance(number, float) and abs(number) == float("inf"):
        return "np.inf" if number > 0 else "-np.inf"
    return repr(number)


def tidied(text: str, long: float = math.inf, tapes: Iterable[str] = ()) -> str:
    """Return source without needless parentheses; strings that stand for comments become comments.

    Parameters
    ----------
    text : str
        A function.
    long : int
        From how many statements on it is several functions.
    tapes : iterable of str
        The names of the tapes.
    """
    tree = _Tidy().visit(ast.parse(text))
    if "prange(" in text:
        tree.body = in_threads(tree.body[0])
    if text.count("\n") >= long:  # a statement has a line at least
        tree.body = [part for f in tree.body for part in in_parts(f, long, set(tapes))]
    lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
    return "\n".join(_commented(line) for line in lines) + "\n"


def _commented(line: str) -> str:
    bare = line.strip()
    if bare[:3] in ("'# ", '"# '):
        return line[: len(line) - len(line.lstrip())] + ast.literal_eval(bare)
    return line


class _Tidy(ast.NodeTransformer):
    """Writes ``a + -b`` as ``a - b``, and leaves out blocks that only have comments."""

    def visit_For(self, node: ast.For) -> ast.AST | None:
        self.generic_visit(node)
        return None if _is_empty(node.body) else node

    def visit_If(self, node: ast.If) -> ast.AST | None:
        self.generic_visit(node)
        if _is_empty(node.orelse):
            node.orelse = []
        if not _is_empty(node.body):
            return node
        node.body = [ast.Pass()]
        return node if node.orelse else None

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add) and _is_minus(node.value):
            return ast.AugAssign(node.target, ast.Sub(), node.value.operand)  # type: ignore[attr-defined]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add) and _is_minus(node.right):
            return ast.BinOp(node.left, ast.Sub(), node.right.operand)  # type: ignore[attr-defined]
        return node


def _is_empty(body: list[ast.stmt]) -> bool:
    """Whether a block has nothing but comments."""
    return all(
        isinstance(s, ast.Pass) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        for s in body
    )


def _is_minus(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
