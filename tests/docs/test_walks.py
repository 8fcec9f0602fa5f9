"""The walks through the files name what exists, and the short ones are what a run passes."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import numgrad as ng
from numgrad.engine.fusion import policy
from numgrad.engine.replay import plan_cache

from .pages import DOCS

PACKAGE = Path(ng.__file__).parent
PAGES = [DOCS / "engine" / name for name in ("walk_operation.md", "walk_pass.md")]
ITEM = re.compile(r"^(\d+)\. `([\w/]+\.py)`, `([\w.]+)`:", re.MULTILINE)


def sections():
    for page in PAGES:
        for part in page.read_text("utf-8").split("\n## ")[1:]:
            found = re.match(r"(.*): (\d+) files\n", part)
            if found:
                yield found[1], int(found[2]), ITEM.findall(part)


def test_files_are_counted():
    for title, count, items in sections():
        assert [int(number) for number, *_ in items] == list(range(1, count + 1)), title


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_functions_exist(page):
    for _, file, name in ITEM.findall(page.read_text("utf-8")):
        tree = ast.parse((PACKAGE / file).read_text("utf-8"))
        for part in name.split("."):
            kinds = (ast.FunctionDef, ast.ClassDef)
            tree = [n for n in tree.body if isinstance(n, kinds) and n.name == part][-1]


def test_roads_are_counted():
    text = (DOCS / "engine" / "roads.md").read_text("utf-8")
    roads = re.findall(r"^\| ([A-D])(\d+)(\*?) ", text, re.MULTILINE)
    for letter in "ABCD":
        mine = [(int(n), star) for a, n, star in roads if a == letter]
        assert [n for n, _ in mine] == list(range(1, len(mine) + 1))
        starred = sum(star == "*" for _, star in mine)
        assert re.search(rf"^\| {letter}\. .* \| {len(mine)} \| {starred} \|$", text, re.MULTILINE)
    starred = sum(star == "*" for *_, star in roads)
    assert f"| together | {len(roads)} | {starred} |" in text


@pytest.mark.short_ways
def test_short_walks_are_those_of_a_run(monkeypatch):
    monkeypatch.setattr(policy, "_INSTRUCTION", 1.0)  # on a busy machine nothing is fused meanwhile
    spec = importlib.util.spec_from_file_location("walk", DOCS / "engine" / "walk.py")
    walk = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(walk)
    x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    plan_cache.forget()
    passes = []
    for _ in range(4):
        y = ng.sin(x) * x + ng.exp(x)
        passes.append(list(walk.passed(lambda y=y: ng.grad(y, x))))
    for _ in range(110):
        ng.sin(x)
    run = {
        "From call 102 on": list(walk.passed(lambda: ng.sin(x))),
        "The third pass": passes[2],
        "From the fourth pass on": passes[3],
    }
    written = {title: [file for _, file, _ in items] for title, _, items in sections()}
    assert {title: written[title] for title in run} == run


@pytest.mark.short_ways
def test_tables_of_walks_are_those_of_runs():
    """But for their first rows, those of an empty cache, for which everything is compiled."""
    code = """if True:
        import sys
        sys.path.insert(0, sys.argv[1])
        import walk
        print([[len(found) for _, found in walk.walks(name)] for name in sys.argv[2:]])
    """

    def counts(*names):
        command = [sys.executable, "-c", code, str(DOCS / "engine"), *names]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return ast.literal_eval(done.stdout)

    counts("sin", "batched", "create_graph")  # whose kernels are on disk then
    passes = [counts(name)[0] for name in ("grad", "batched", "create_graph")]
    assert [[n] for n in counts("sin")[0]] == table(PAGES[0])[1:]
    assert [list(row) for row in zip(*passes, strict=True)] == table(PAGES[1])[1:]


def table(page):
    """Return the numbers of the first table of a page."""
    lines = page.read_text("utf-8").splitlines()
    rows = [line.split("|")[2:-1] for line in lines if line.startswith("|")][2:]
    return [[int(cell) for cell in row if cell.strip().isdigit()] for row in rows]
