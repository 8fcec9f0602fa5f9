"""The table of NumPy's functions is what becomes of them, and none of them is wrong."""

import importlib.util
import warnings

import numpy as np
import pytest

from .pages import DOCS, table


def load():
    spec = importlib.util.spec_from_file_location("numpy_coverage", DOCS / "numpy_coverage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not np.__version__.startswith("2.4."), reason="the page is of NumPy 2.4")
def test_the_page_is_what_its_script_writes():
    """A wrong value or gradient of any function of NumPy fails here as well."""
    script = load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        written = script.page()
    assert script.PAGE.read_text("utf-8") == written, "the page is stale: docs/numpy_coverage.py"


def test_most_functions_have_gradients_and_few_are_refused():
    counts = {word: int(n) for word, _, n in table("numpy_coverage.md", "word", "means", "functions")}
    assert counts["gradient"] >= 270
    assert counts["refused"] <= 3
