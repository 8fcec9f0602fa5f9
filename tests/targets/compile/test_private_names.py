"""A Numba, NumPy or Python without the private names that numgrad uses: slower, with the same
numbers."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import numgrad as ng

ROOT = Path(ng.__file__).parent
PAGE = ROOT.parent / "docs" / "engine" / "private_names.md"
PROGRAM = Path(__file__).parent / "renamed_numba.py"
DOCUMENTED = {"_asdict", "_fields", "_getframe", "_getpointer", "_getvalue", "_make", "_replace"}
"""Names that a library documents, and those of named tuples."""


def _rows() -> list[str]:
    """Return the first cells of the table of Numba's names."""
    section = PAGE.read_text().partition("## Numba")[2].partition("\n## ")[0]
    return [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]


def _names(cell: str) -> list[str]:
    """Return the names in a cell, but for those of compiled modules."""
    return re.findall(r"`(\w+)`", re.sub(r"\(`\w+`\)", "", cell))


def _run(names: list[str], folder: Path | None, *before: str) -> str:
    """Return what the program prints, with the kernel cache in a folder, or the usual one."""
    command = [sys.executable, *before, str(PROGRAM), *names]
    environment = {**os.environ, "PYTHONPATH": str(ROOT.parent)}
    if folder is not None:
        environment["NUMGRAD_CACHE_DIR"] = str(folder)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return done.stdout + done.stderr


@pytest.mark.timeout(900)
def test_a_numba_with_other_private_names_computes_the_same(tmp_path):
    names = [name for cell in _rows() for name in _names(cell)]
    assert len(names) > 40
    assert _run(names, tmp_path) == "computed\n"


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("row", range(12))
def test_a_numba_without_some_names_computes_the_same(row, tmp_path):
    assert _run(_names(_rows()[row]), tmp_path) == "computed\n"


def test_the_page_has_all_private_names():
    own, used = set(), {}
    for file in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(file.read_text())
        own |= set(_own(tree))
        used |= dict.fromkeys(_used(tree), file.relative_to(ROOT))
    known = own | DOCUMENTED | set(re.findall(r"\w+", PAGE.read_text()))
    assert {name: str(file) for name, file in used.items() if name not in known} == {}


def _own(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module gives to something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield from [node.attr] if ast.unparse(node.value) == "self" else ()


def _used(tree: ast.AST) -> Iterator[str]:
    """Yield the private names that a module reads from something."""
    for node in ast.walk(tree):
        name = ""
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            asked = node.args[1]
            if node.func.id in ("getattr", "hasattr") and isinstance(asked, ast.Constant):
                name = asked.value
        if name.startswith("_") and not name.startswith("__"):
            yield name


def test_objects_of_another_layout_are_read_in_python(tmp_path):
    text = (
        "import runpy, sys\n"
        "from numgrad.targets.cpu.python import object_layout\n"
        "object_layout._numbers_are = lambda: False\n"
        "assert not object_layout.is_possible()\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    starter = tmp_path / "starter.py"
    starter.write_text(text)
    assert _run([], None, str(starter)) == "computed\n"
