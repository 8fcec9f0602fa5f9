"""The table of special functions is what the declarations say."""

import importlib.util

from .pages import DOCS, tables


def load():
    script = DOCS / "special_functions.py"
    spec = importlib.util.spec_from_file_location("special_functions", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_its_script_writes():
    script = load()
    assert script.PAGE.read_text("utf-8") == script.page(), (
        "the page is stale: python docs/special_functions.py"
    )


def test_it_says_what_is_differentiated_and_what_is_refused():
    rows = {row[0]: row[1:] for _, found in tables("special.md") for row in found}
    assert rows["jv(v, z)"][3:] == ["dz: 0.5 * (jv(v - 1, z) - jv(v + 1, z))", "v"]
    assert rows["betaln(a, b)"][-1] == "-"
