"""The pages about the engine name files, modules, functions and attributes that exist."""

import ast
import re
from functools import cache

import pytest

from .pages import DOCS

ROOT = DOCS.parent
PACKAGE = ROOT / "numgrad"
BENCHMARKS = ROOT / "asv_benchmarks" / "benchmarks"
PAGES = [DOCS / "how_it_works.md", *sorted((DOCS / "engine").glob("*.md"))]
FOLDERS = (PACKAGE, ROOT, DOCS, DOCS / "engine", BENCHMARKS)
# The first parts of dotted names that are not of this package: other libraries, and values of
# examples.
OTHERS = frozenset(
    {
        "ng", "np", "math", "cmath", "scipy", "numba", "torch", "jax", "llvmlite", "llvm", "ctypes",
        "sys", "gc", "os", "threading", "functools", "object", "pickle", "numpy", "x", "t", "y",
        "a", "out", "cuda", "array", "operator",
    }
)  # fmt: skip


def spans(page):
    """Return the code in the text of a page, without its blocks of code."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", text)}


@cache
def names():
    """Return the names in modules, by the module's stem, and in classes, by the class's name."""
    modules, classes = {}, {}
    for path in (*PACKAGE.rglob("*.py"), *BENCHMARKS.glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        stem = path.parent.name if path.stem == "__init__" else path.stem
        modules.setdefault(stem, set()).update(_defined(tree.body))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                known = classes.setdefault(node.name, set())
                known |= _defined(node.body)
                attributes = [n for n in ast.walk(node) if isinstance(n, ast.Attribute)]
                known |= {a.attr for a in attributes if isinstance(a.ctx, ast.Store)}
    return modules, classes


def _defined(body):
    found = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        stored = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        found |= {n.id for n in stored if isinstance(n.ctx, ast.Store)}
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def exists(name):
    """Whether a path, or a dotted name, is one of this repository; True for other code."""
    if re.fullmatch(r"\.?[\w/.-]+\.(py|md|cfg|toml)|[a-z_]\w*(/\w+)+/?", name):
        return any(
            (folder / name).exists() or (folder / f"{name}.py").exists() for folder in FOLDERS
        )
    found = re.fullmatch(r"([A-Za-z_]\w*)((?:\.\w+)+)(\(.*\))?", name)
    if not found or found[1] in OTHERS:
        return True
    parts = [found[1], *found[2][1:].split(".")]
    if parts[0] == "numgrad":
        return _is_module(parts[1:]) or _is_module(parts[1:-1], parts[-1])
    modules, classes = names()
    owners = [known[parts[-2]] for known in (modules, classes) if parts[-2] in known]
    return any(parts[-1] in known for known in owners or classes.values())  # else of an instance


def _is_module(parts, name=None):
    path = PACKAGE.joinpath(*parts)
    if name is None:
        return path.with_suffix(".py").exists() or (path / "__init__.py").exists()
    return _is_module(parts) and name in names()[0].get(path.name, ())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_exist(page):
    assert [name for name in sorted(spans(page)) if not exists(name)] == []


def test_wrong_names_are_found():
    for name in ("engine/graph/node.py", "BackwardPass.run", "numgrad.engine.lower"):
        assert exists(name)
    missing = "engine/graph/nodes.py", "engine/views", "BackwardPass.walk", "numgrad.engine.values"
    for name in missing:
        assert not exists(name)
