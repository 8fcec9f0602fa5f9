"""The walks name the files and functions that runs pass, in their order; the roads are counted."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import numgrad as ng

from .pages import DOCS

PACKAGE = Path(ng.__file__).parent
OPERATION, PASS = (DOCS / "engine" / name for name in ("walk_operation.md", "walk_pass.md"))
NAMES = ("sin", "grad", "batched", "create_graph")
SCRIPT = DOCS / "engine" / "walk.py"
WHERE = re.compile(r"^(?:- | +)In ((?:`[^`]+`[,;]?\s+)*`[^`]+`)\.$", re.MULTILINE)
"""The last sentence of a step: files and their functions."""
REFERENCE = re.compile(
    r"steps\s+(\d+)\s+to\s+(\d+)\s+of\s+(?:\[\]\(walk_operation\.md\)|\*([^*]+)\*)"
)
"""Steps of another section, by default of the first one of the walk of an operation."""

# For each section the walk and its call; then the sections and calls whose files are known already.
WARM = {
    "The first call": ("sin", 0, []),
    "Calls 2 to 100": ("sin", 1, []),
    "Call 101": ("sin", 2, []),
    "From call 102 on": ("sin", 3, []),
    "The first pass": ("grad", 0, []),
    "The second pass": ("grad", 1, [("grad", 0)]),
    "The third pass": ("grad", 2, [("grad", 0), ("grad", 1)]),
    "From the fourth pass on": ("grad", 3, []),
    "Batched passes": ("batched", 0, [("grad", 0), ("grad", 1)]),
    "The first recorded pass": ("create_graph", 0, [("grad", 0), ("grad", 1)]),
    "The second recorded pass": ("create_graph", 1, [("grad", 1), ("create_graph", 0)]),
    "The third recorded pass": ("create_graph", 2, [("grad", 2), ("create_graph", 1)]),
}
COLD = {
    "The kernel is compiled": ("sin", 0),
    "The derivative is compiled": ("grad", 0),
    "The machine is compiled": ("grad", 1),
}


def sections():
    """Return of each section its steps, lists of pairs of a file and a function (None where none
    is named), the number of files in its title (or None), and its text."""
    found = {}
    for page in (OPERATION, PASS):
        for part in page.read_text("utf-8").split("\n## ")[1:]:
            title, _, body = part.partition("\n")
            name, _, count = title.partition(": ")
            number = re.match(r"(\d+) (?:more )?files", count)
            steps = [functions(where) for where in WHERE.findall(body)]
            found[name] = steps, int(number[1]) if number else None, body
    return found


def referred(body):
    """Return the files of the steps of other sections that a section refers to."""
    known = sections()
    steps = []
    for first, last, title in REFERENCE.findall(body):
        steps += known[title or "The first call"][0][int(first) - 1 : int(last)]
    return {file for step in steps for file, _ in step}


def functions(head):
    pairs, file = [], None
    for name in re.findall(r"`([^`]+)`", head):
        if name.endswith(".py"):
            file = name
            pairs.append((file, None))
        else:
            pairs[-1 if pairs[-1][1] is None else len(pairs) :] = [(file, name)]
    return pairs


def runs(*names, cache=None):
    """Return the functions that walks enter in one process, by name and number of the call."""
    code = """if True:
        import json, sys
        sys.path.insert(0, sys.argv[1])
        import walk
        print(json.dumps({name: list(walk.walks(name)) for name in sys.argv[2:]}))
    """
    settings = os.environ if cache is None else {**os.environ, "NUMGRAD_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", code, str(SCRIPT.parent), *names]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=settings)
    return {
        (name, number): [tuple(pair) for pair in called]
        for name, calls in json.loads(done.stdout).items()
        for number, (_, called) in enumerate(calls)
    }


@pytest.fixture(scope="module")
def warm():
    runs(*NAMES)  # the kernels are on disk then
    return {key: called for name in NAMES for key, called in runs(name).items()}


def files(called):
    return {file for file, _ in called}


def test_functions_exist():
    for steps, *_ in sections().values():
        for file, name in [pair for step in steps for pair in step]:
            assert (PACKAGE / file).exists()
            require_function(file, [] if name is None else [name])


def test_sections_are_known():
    assert sections().keys() >= WARM.keys() | COLD.keys()
    assert {name for name, (steps, *_) in sections().items() if steps} == WARM.keys() | COLD.keys()


def check(title, called, new):
    """Compare a section with a run; return the number in its title.

    The section names all new files, or refers to their steps. It names only functions of the run;
    the first functions of its steps are in the order of their first calls.
    """
    steps, count, body = sections()[title]
    named = [pair for step in steps for pair in step]
    missing = new - files(named) - referred(body)
    assert not missing, (title, missing)
    assert files(named) <= files(called), (title, files(named) - files(called))
    missing = [pair for pair in named if pair[1] is not None and pair not in called]
    assert not missing, (title, missing)
    first = [called.index(step[0]) for step in steps if step[0][1] is not None]
    assert first == sorted(first), (title, [called[n] for n in first])
    return count


@pytest.mark.short_ways
@pytest.mark.parametrize("title", WARM)
def test_steps_are_those_of_a_run(title, warm):
    name, number, before = WARM[title]
    called = warm[name, number]
    new = files(called) - {file for other in before for file in files(warm[other])}
    assert check(title, called, new) == len(files(called))


@pytest.mark.short_ways
def test_tables_of_walks_are_those_of_runs(warm):
    """But for their first rows, those of an empty cache."""
    counts = {key: len(files(called)) for key, called in warm.items()}
    assert [[counts["sin", n]] for n in range(4)] == table(OPERATION)[1:]
    passes = [[counts[name, n] for name in NAMES[1:]] for n in range(5)]
    assert passes == table(PASS)[1:]


@pytest.mark.exhaustive
@pytest.mark.short_ways
def test_walks_with_an_empty_cache(warm, tmp_path):
    """All kernels are compiled, which takes a minute."""
    made = [runs(name, cache=tmp_path / name) for name in NAMES]
    cold = {key: called for walk in made for key, called in walk.items()}
    for title, key in COLD.items():
        new = files(cold[key]) - files(warm[key])
        assert check(title, cold[key], new) == len(new), title
    first = [len(files(cold[name, 0])) for name in NAMES[1:]]
    assert [len(files(cold["sin", 0]))] == table(OPERATION)[0]
    assert first == table(PASS)[0]


def test_other_pages_have_these_numbers():
    text = " ".join((DOCS / "how_it_works.md").read_text("utf-8").split())
    (first,), *_, (last,) = table(OPERATION)
    assert f"{first} files at the very first call and {last} in the end" in text
    _, (first, *_), *_, (last, *_) = table(PASS)
    assert f"{first} files at the first pass over a graph and {last} in the end" in text


def table(page):
    """Return the numbers of the first table of a page."""
    lines = page.read_text("utf-8").splitlines()
    rows = [line.split("|")[2:-1] for line in lines if line.startswith("|")][2:]
    return [[int(cell) for cell in row if cell.strip().isdigit()] for row in rows]


def test_script_prints_files(capsys, monkeypatch):
    spec = importlib.util.spec_from_file_location("walk", SCRIPT)
    walk = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(walk)
    called = [("a.py", "f"), ("b.py", "g"), ("a.py", "h")]
    monkeypatch.setattr(walk, "walks", lambda name: [("call 1", called)])
    monkeypatch.setattr(sys, "argv", ["walk.py", "sin", "--here"])
    walk.main()
    assert capsys.readouterr().out == "call 1: 2 files\n   1 a.py: f, h\n   2 b.py: g\n"


def test_roads_are_counted():
    text = (DOCS / "engine" / "roads.md").read_text("utf-8")
    roads = re.findall(r"^\| ([A-D])(\d+)(\*?) ", text, re.MULTILINE)
    for letter in "ABCD":
        mine = [(int(n), star) for a, n, star in roads if a == letter]
        assert [n for n, _ in mine] == list(range(1, len(mine) + 1))
        starred = sum(star == "*" for _, star in mine)
        assert re.search(rf"^\| {letter}\. .* \| {len(mine)} \| {starred} \|$", text, re.MULTILINE)
        assert re.findall(rf"^\*\*{letter}(\d+)\.\*\*", text, re.MULTILINE) == [
            str(n) for n, _ in mine
        ]
    starred = sum(star == "*" for *_, star in roads)
    assert f"| together | {len(roads)} | {starred} |" in text
    assert f"There are {len(roads)}:" in text
    assert f"it runs on the other {len(roads) - starred}." in text


def test_functions_of_roads_exist():
    text = (DOCS / "engine" / "roads.md").read_text("utf-8")
    rows = re.findall(r"^\| [A-D]\d+\*? [^|]*\| ([^|]*) \|", text, re.MULTILINE)
    assert rows
    for row in rows:
        (file, _), *_ = pairs = functions(row)
        assert pairs[0][1] is not None, row
        require_function(file, [name for _, name in pairs])


def test_figures_of_roads_are_those_of_the_script():
    """One row for each measurement, and the roads of a row exist."""
    tree = ast.parse((DOCS / "engine" / "measure_roads.py").read_text("utf-8"))
    (measured,) = [
        node.value.elts
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "ROADS"
    ]
    text = (DOCS / "engine" / "roads.md").read_text("utf-8")
    figures = text.partition("## Figures")[2]
    rows = re.findall(r"^\| [^|]*\| ([A-D]\d[^|]*) \| [\d.]+ \|$", figures, re.MULTILINE)
    assert len(rows) == len(measured)
    known = set(re.findall(r"^\| ([A-D]\d+)", text.partition("## Figures")[0], re.MULTILINE))
    assert set(re.findall(r"[A-D]\d+", " ".join(rows))) <= known


def require_function(file, names):
    for name in names:
        tree = ast.parse((PACKAGE / file).read_text("utf-8"))
        for part in name.split("."):
            kinds = (ast.FunctionDef, ast.ClassDef)
            tree = [n for n in tree.body if isinstance(n, kinds) and n.name == part][-1]
