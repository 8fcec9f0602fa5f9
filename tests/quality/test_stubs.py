"""Stubs show type checkers and editors what the functions of code-made modules are."""

import ast
import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import numgrad as ng
from numgrad.functions.tensor import described

SCRIPT = Path(__file__).parents[2] / "docs" / "stubs.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("stubs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def shown(script):
    """The definitions in the stub of universal functions."""
    tree = ast.parse(script.path_of(script.DESCRIBED).read_text("utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_stubs_are_what_their_modules_have(script):
    stale = [
        name
        for name in script.MODULES
        if script.path_of(name).read_text("utf-8") != script.written(name)
    ]
    assert not stale, "stale stubs: python docs/stubs.py"


def test_no_function_that_is_made_by_code_is_without_a_stub(script):
    """Of those that users call as ``ng.name``: an editor sees the whole docstring of each."""
    unseen = [
        name for name, function in vars(ng).items()
        if inspect.isfunction(function) and function.__module__.startswith("numgrad.functions")
        and name not in vars(described) and not script._is_written(function)
    ]  # fmt: skip
    assert unseen == []


def test_universal_functions_take_the_options_that_their_stubs_show(shown):
    sample = {"bitwise": 3, "gcd": 3, "lcm": 3, "invert": 3, "left": 3, "right": 3, "ldexp": 3}
    tried = 0
    for name, node in shown.items():
        if "casting" not in [argument.arg for argument in node.args.kwonlyargs]:
            continue
        options = {
            argument.arg: ast.literal_eval(default)
            for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        }
        function, x = getattr(ng, name), sample.get(re.split("_", name)[0], 0.5)
        x = np.eye(2) if name == "matmul" else x
        required = len(node.args.posonlyargs + node.args.args) - len(node.args.defaults)
        operands = [x] * required
        expected, got = function(*operands), function(*operands, **{"out": None, **options})
        np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))
        tried += 1
    assert tried > 90


def test_the_stub_of_universal_functions_adds_no_name(shown):
    assert [name for name in shown if name[0] != "_" and not hasattr(ng, name)] == []


def test_a_stub_shows_the_whole_docstring(shown):
    assert ast.get_docstring(shown["sin"]) == inspect.getdoc(ng.sin)
    assert "The derivative is ``cos(x)``" in inspect.getdoc(ng.sin)
    head = ast.unparse(shown["sin"].args)
    assert head.startswith("x: ArrayLike, /, out: Any=None, *, where: ArrayLike=True")
