"""The reference lists every public function and class, and nothing that is not there."""

import inspect
import operator
import re

import pytest

import numgrad as ng
from numgrad import data, errors

from .pages import DOCS, table

OTHERS = [
    "fft", "func", "graph", "linalg", "random", "signal", "sparse", "special", "stats", "testing",
    "display",
    "polynomial", "polynomial.polynomial", "polynomial.chebyshev", "polynomial.legendre",
    "polynomial.laguerre", "polynomial.hermite", "polynomial.hermite_e",
    "data",
    "interop.dask", "interop.scipy",
]  # fmt: skip
FRONT_ENDS = ["compat.torch", "compat.paddle", "compat.chainer", "compat.fluid"]


def load_module(name):
    return data if name == "data" else operator.attrgetter(name)(ng)


def listed():
    """Return the names of each module in the blocks of the pages."""
    found, pages = {}, sorted((DOCS / "reference").glob("*.md"))
    text = "".join(page.read_text("utf-8") for page in pages)
    for block in re.findall(r"```{eval-rst}\n(.*?)```", text, re.DOTALL):
        module, _, names = block.partition("\n\n")
        entries = [line.strip() for line in names.splitlines()[3:]]
        found.setdefault(module.split(":: ")[1], []).extend(entries)
    return found


def public(module):
    """Return what numgrad defines there; tensors and errors are listed where they belong."""
    names = getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])
    values = {name: getattr(module, name) for name in names}
    return {
        name: value
        for name, value in values.items()
        if (inspect.isclass(value) or callable(value))
        and value.__module__.startswith("numgrad")
        and (module is ng or (value is not ng.Tensor and value.__name__ not in errors.__all__))
    }


def test_functions_of_numgrad():
    values = public(ng)
    entries = listed()["numgrad"]
    assert len(entries) == len(set(entries))
    aliases = dict(table("reference/names.md", "name", "is"))
    assert {*entries, *aliases} == {*values}
    assert all(values[alias] is values[name] for alias, name in aliases.items())


@pytest.mark.parametrize("name", OTHERS)
def test_other_modules(name):
    module = load_module(name)
    assert {*listed()[f"numgrad.{name}"]} == {*public(module)}


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_front_ends(name):
    module = operator.attrgetter(name)(ng)
    own = {key for key, value in public(module).items() if value.__module__ == module.__name__}
    assert {*listed()[f"numgrad.{name}"]} == own


def test_errors():
    assert {*listed()["numgrad.errors"]} == {*errors.__all__}
