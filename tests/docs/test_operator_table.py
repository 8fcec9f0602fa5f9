"""The table of operators is what the registry says."""

import importlib.util

from .pages import DOCS, tables


def load():
    spec = importlib.util.spec_from_file_location("operator_table", DOCS / "operator_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_its_script_writes():
    script = load()
    assert script.PAGE.read_text("utf-8") == script.page(), (
        "the page is stale: python docs/operator_table.py"
    )


def test_formulas_are_those_of_the_declarations():
    found = [rows for _, rows in tables("operator_table.md")]
    rows = {row[0]: row[1:] for table in found for row in table}
    slope = "dx: tanh_slope(x)"
    assert rows["tanh"] == ["elementwise", "[-2, 2]", slope, "x0", "real, complex, half"]
    assert rows["multiply"][3] == "x0, x1"
    assert "lu_solve" in rows["det"][2]
    assert rows["argsort"][2:4] == ["-", "-"]
