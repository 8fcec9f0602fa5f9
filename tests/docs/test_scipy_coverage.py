"""The table of SciPy's functions is what becomes of them, and none of them is wrong."""

import re
import subprocess
import sys

import pytest
import scipy

from numgrad.names.scipy_switch import SWITCHED
from tests.sampling import exhaustive

from .pages import DOCS, table, tables

PAGE = DOCS / "scipy_coverage.md"


@exhaustive
@pytest.mark.skipif(not scipy.__version__.startswith("1.17."), reason="the page is of SciPy 1.17")
def test_the_page_is_what_its_script_writes():
    """In a process of its own: SciPy reads SCIPY_ARRAY_API when it is imported."""
    script = [sys.executable, str(DOCS / "scipy_coverage.py"), "--print"]
    written = subprocess.run(script, capture_output=True, text=True, check=True, cwd=DOCS.parent)
    assert PAGE.read_text("utf-8") == written.stdout, (
        "the page is stale: python docs/scipy_coverage.py"
    )


def test_no_function_is_wrong_and_none_loses_a_gradient():
    words = {word for word, _ in table(PAGE.name, "word", "means")}
    found = [rows for titles, rows in tables(PAGE.name) if titles == ["word", "functions"]]
    assert len(found) == 15
    assert {word for rows in found for word, _ in rows} <= words


def test_errors_advise_the_switch_for_the_functions_that_have_gradients():
    text = PAGE.read_text("utf-8")
    sections = re.findall(r"^## (\S+)\n(.*?)(?=\n## |\Z)", text, re.DOTALL | re.MULTILINE)
    for module, section in sections:
        rows = re.findall(r"^\| (?:gradient|partly) \| (.*) \|$", section, re.MULTILINE)
        names = sorted(name for row in rows for name in re.findall(r"`(\w+)`", row))
        assert SWITCHED.get(module, "").split() == names
    assert set(SWITCHED) <= {module for module, _ in sections}


@exhaustive
def test_the_page_of_scikit_learn_is_what_its_script_writes():
    sklearn = pytest.importorskip("sklearn")
    if not sklearn.__version__.startswith("1.9."):
        pytest.skip("the page is of scikit-learn 1.9")
    script = [sys.executable, str(DOCS / "sklearn_coverage.py"), "--print"]
    written = subprocess.run(script, capture_output=True, text=True, check=True, cwd=DOCS.parent)
    assert (DOCS / "sklearn_coverage.md").read_text("utf-8") == written.stdout


@pytest.mark.skipif(not scipy.__version__.startswith("1.17."), reason="the page is of SciPy 1.17")
def test_functions_with_a_gradient_take_tensors_as_programs_import_them():
    """In a process of its own: other tests leave SciPy as it is, or patch it."""
    script = [sys.executable, str(DOCS / "scipy_coverage.py"), "--why", "--imported"]
    done = subprocess.run(script, capture_output=True, text=True, check=True, cwd=DOCS.parent)
    words, module = {}, ""
    for line in done.stdout.splitlines():
        if line.startswith(" "):
            name, word, _ = (part.strip() for part in line.split("|", 2))
            words[f"{module}.{name}"] = word
        else:
            module = line.partition(" ")[0]
    assert not {"cut", "wrong value", "wrong gradient"} & set(words.values())
    listed = {f"{home}.{name}" for home, names in SWITCHED.items() for name in names.split()}
    assert listed <= {name for name, word in words.items() if word in ("gradient", "partly")}
