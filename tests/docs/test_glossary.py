"""The page of words and rooms lists the folders that there are, as their docstrings do."""

import ast

from .pages import DOCS

PACKAGE = DOCS.parent / "numgrad"


def first_sentence(folder):
    doc = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    return " ".join(doc.split("\n\n")[0].split()).rstrip(".").replace("``", "`")


def test_rooms_are_those_of_the_package():
    lines = (DOCS / "engine" / "glossary.md").read_text("utf-8").splitlines()
    rows = [line.strip("| ").split(" | ", 1) for line in lines if line.startswith("| `")]
    folders = [path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE]
    inside = PACKAGE / "testing"
    said = {
        f"`{folder.relative_to(PACKAGE).as_posix()}`": first_sentence(folder)
        for folder in folders if inside not in folder.parents
    }  # fmt: skip
    assert dict(rows) == said
