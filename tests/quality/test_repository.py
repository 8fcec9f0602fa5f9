"""Promises about the source tree itself."""

import ast
import re
import shlex
from collections import Counter
from importlib.metadata import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "numgrad").rglob("*.py"))


def lines_of_code(path):
    """Lines that are no docstring, no import, no comment and not blank."""
    text = path.read_text("utf-8")
    lines = enumerate(text.splitlines(), 1)
    left = {number for number, line in lines if line.strip() and line.lstrip()[0] != "#"}
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, (ast.Import, ast.ImportFrom)):
            left -= set(range(node.lineno, node.end_lineno + 1))
    return len(left)


def test_no_module_has_more_than_three_hundred_lines_of_code():
    lengths = {path: lines_of_code(path) for path in SOURCES}
    assert {path: length for path, length in lengths.items() if length > 300} == {}


def test_no_folder_has_more_than_sixteen_modules():
    counts = Counter(path.parent for path in SOURCES)
    assert {folder: count for folder, count in counts.items() if count > 16} == {}


def test_no_module_is_a_drawer_for_odds_and_ends():
    banned = {"utils", "helpers", "common", "misc"}
    assert [path for path in SOURCES if path.stem.strip("_") in banned] == []


def test_continuous_integration_runs_the_command_of_the_readme():
    (command,) = re.findall(r"^pip install -e .*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert command in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("file", ["smoke.txt", "interpreters.txt"])
def test_lists_of_tests_are_there_and_in_one_place(file):
    named = (ROOT / "tests" / file).read_text().split()
    assert [path for path in named if not (ROOT / path.partition("::")[0]).exists()] == []
    assert f"tests/{file}" in (ROOT / "noxfile.py").read_text()


def test_continuous_integration_asks_other_interpreters():
    assert "interpreter-3.12 interpreter-3.13" in (ROOT / ".ci" / "run").read_text()


def test_the_source_distribution_has_what_the_tests_read():
    lines = (ROOT / "MANIFEST.in").read_text().splitlines()
    kept = {word for line in lines if re.match("graft|include", line) for word in line.split()[1:]}
    read = {".ci", "asv_benchmarks", "docs", "examples", "tests", "noxfile.py", "setup.cfg"}
    assert read <= kept


@pytest.mark.parametrize("file", ["py.typed", "special.pyi", "data/pelts.csv"])
def test_installed_package_carries_its_data(file):
    import numgrad

    assert any((Path(folder) / file).is_file() for folder in numgrad.__path__)


def test_runtime_dependencies_stay_few():
    required = [entry for entry in metadata("numgrad").get_all("Requires-Dist") if ";" not in entry]
    names = {re.match(r"[\w-]+", shlex.split(entry)[0])[0] for entry in required}
    assert names == {"numba", "numpy", "optree", "scipy", "threadpoolctl"}
