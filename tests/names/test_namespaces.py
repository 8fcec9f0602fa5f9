"""What an editor or `dir` shows of a public module is public."""

import importlib
import types

import pytest

OF_NUMGRAD = [
    "compat", "compat.chainer", "compat.fluid", "compat.paddle", "compat.torch", "cuda", "data",
    "display", "errors", "fft", "func", "graph", "interop", "interop.dask", "interop.scipy",
    "linalg", "polynomial", "random", "signal", "sparse", "special", "stats", "testing",
]  # fmt: skip
MODULES = {"compat", "interop", "polynomial"}
"""Modules that have public modules."""


@pytest.mark.parametrize("name", OF_NUMGRAD)
def test_only_public_names_are_listed(name):
    if name == "interop.dask":
        pytest.importorskip("dask")
    module = importlib.import_module(f"numgrad.{name}")
    listed = dir(module)
    assert listed == sorted(set(module.__all__))
    for attribute in listed:
        value = getattr(module, attribute)
        assert not attribute.startswith("_")
        assert not isinstance(value, types.ModuleType) or name in MODULES
        assert getattr(value, "__module__", "numgrad") not in ("typing", "collections.abc")
