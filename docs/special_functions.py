"""The table of special functions: ``python docs/special_functions.py`` writes it into its page."""

from pathlib import Path

import numgrad as ng
from numgrad.functions.elementwise import tabled as _tabled  # noqa: F401  it fills the table
from numgrad.operators.special.formulas import TABLE, Tabled

PAGE = Path(__file__).with_name("special.md")
MARK = "<!-- what follows is written by docs/special_functions.py -->\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _row(name: str, operator: Tabled) -> str:
    slopes = [f"d{x}: `{formula}`" for x, formula in operator.formulas.items()]
    fixed = [f"`{x}`" for x in operator.parameters if x not in operator.formulas]
    fixed += [f"`{x}` twice" for x in operator.once]
    call = f"`{name}({', '.join(operator.parameters)})`"
    domain = f"`{operator.domain}`" if operator.domain else "all"
    kinds = "real, complex" if operator.allows_complex else "real"
    cells = (call, operator.about, domain, kinds, ", ".join(slopes) or "-", ", ".join(fixed) or "-")
    return f"| {' | '.join(map(_cell, cells))} |"


def table() -> str:
    """Return the table of the public functions that are declared by formulas."""
    rows = [_row(name, TABLE[name]) for name in sorted(ng.special.__all__) if name in TABLE]
    head = "| function | what it is | defined for | arguments | derivative | refused |"
    return "\n".join([head, "|---|---|---|---|---|---|", *rows, ""])


def page() -> str:
    """Return the text of the page with the table as it is now."""
    return PAGE.read_text("utf-8").partition(MARK)[0] + MARK + "\n" + table()


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
