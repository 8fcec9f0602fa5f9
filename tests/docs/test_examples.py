"""Every example in documentation, README and docstrings runs and prints what it says."""

import doctest
import importlib
import linecache
import re
from pathlib import Path
from unittest import mock

import pytest

pytestmark = pytest.mark.usefixtures("default_fusing")  # examples print programs

ROOT = Path(__file__).parents[2]
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)
SOURCES = sorted((ROOT / "numgrad").rglob("*.py"))
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def module_names():
    """From the files, so that a module that does not import fails its own test only."""
    parts = [path.relative_to(ROOT).with_suffix("").parts for path in SOURCES]
    return [".".join(name).removesuffix(".__init__") for name in parts if name[-1] != "__main__"]


def run(test):
    report = []
    with mock.patch.object(linecache, "checkcache"):  # of all files that were ever shown
        failures, _ = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert failures == 0, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_of_a_page(page):
    text = page.read_text("utf-8").replace("```", "")
    run(doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0))


@pytest.mark.parametrize("name", module_names())
def test_docstring_examples(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:  # an optional dependency of an optional part
        if (missing.name or "numgrad").startswith("numgrad"):
            raise
        pytest.skip(str(missing))
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        if test.examples:
            run(test)


def test_example_of_the_readme(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    assert "[" in capsys.readouterr().out
