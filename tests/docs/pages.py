"""Reading the pages of the documentation: their tables and the code that they start with."""

import doctest
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def tables(page):
    """Yield header and rows of every table of a page, as lists of cells without back quotes."""
    lines = (DOCS / page).read_text("utf-8").splitlines()
    block = []
    for line in [*lines, ""]:
        if line.startswith("|"):
            block.append([_cell(text) for text in line.strip().strip("|").split(" | ")])
        elif block:
            yield block[0], block[2:]
            block = []


def table(page, *header):
    """Return the rows of the one table of a page with these titles."""
    (rows,) = [rows for titles, rows in tables(page) if titles == list(header)]
    return rows


def names_of(page):
    """Run the first example of a page and return what it has defined."""
    text = (DOCS / page).read_text("utf-8").split("```")[1]
    defined = {}
    for example in doctest.DocTestParser().get_examples(text):
        exec(compile(example.source, page, "single"), defined)
    return defined


def _cell(text):
    return text.strip().strip("|").strip().replace("`", "").replace("\\|", "|")
