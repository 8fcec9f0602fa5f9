"""The table of NumPy's functions is what numgrad does with them."""

import importlib.util

import pytest

from .pages import DOCS, table


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("numpy_coverage", DOCS / "numpy_coverage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_says_what_happens(script):
    """Functions of other versions of NumPy are not on the page."""
    listed = {name: (how, why) for name, how, why in table("numpy_coverage.md", *script.TITLES)}
    differing = {
        name: (how, listed[name])
        for name, how, why in script.rows()
        if name in listed and listed[name] != (how, why.replace("`", "").replace("\\|", "|"))
    }
    assert not differing, "the page is stale: python docs/numpy_coverage.py"
    assert len(listed) > 400


def test_what_is_wrong_is_found(script):
    doubled = script.ng.exp(script.ng.tensor(script.U)) * 2.0
    with pytest.raises(AssertionError, match="exp"):
        script.agree("exp", doubled, script.np.exp(script.U))
    leaf = script.ng.tensor(script.U, requires_grad=True)
    wrong = script.np.sin(leaf)
    with pytest.raises(AssertionError, match="exp"):
        script.differentiated("exp", script.np.exp, (script.U,), [wrong], [leaf])
    with pytest.raises(AssertionError, match="exp cuts the graph"):
        script.differentiated("exp", script.np.exp, (script.U,), [wrong.detach()], [leaf])


def test_few_functions_are_left_out(script):
    rows = table("numpy_coverage.md", *script.TITLES)
    right = [name for name, how, _ in rows if how in ("gradient", "no gradient", "constant")]
    assert len(right) > 280
