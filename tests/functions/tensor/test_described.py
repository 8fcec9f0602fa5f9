"""Functions that code makes of rows have what written ones have: names, pickles, documentations."""

import inspect
import pickle
import re
import traceback

import pytest

import numgrad as ng
from numgrad.functions.tensor import described

MADE = {name: f for name, f in vars(described).items() if inspect.isfunction(f)}


@pytest.mark.parametrize("name", MADE)
def test_it_is_pickled_by_its_name(name):
    function = MADE[name]
    assert pickle.loads(pickle.dumps(function)) is function
    assert function.__qualname__ == function.__name__
    assert getattr(ng, function.__name__) is function


@pytest.mark.parametrize("name", MADE)
def test_documentation_has_all_its_words(name):
    doc = inspect.getdoc(MADE[name])
    assert doc.startswith("Return ")
    fields = re.findall(r"(?<![_^]){\w+}", doc)  # those of formulas follow an index or a power
    assert fields == []


@pytest.mark.parametrize("name", ["sin", "add", "sum", "nanmin", "std", "quantile", "zeros_like"])
def test_tracebacks_show_the_name(name):
    refused = ("a", "b") if name in ("add", "quantile") else ("a",)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each function says something else
        getattr(ng, name)(*refused)
    assert name in [frame.name for frame in traceback.extract_tb(caught.tb)]
