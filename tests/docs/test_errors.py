"""The table of errors names every class, its bases and what its docstring says."""

import inspect

from numgrad import _errors
from numgrad.names.calls import CALLS
from numgrad.names.counterparts import NAMESPACES, OTHERS
from numgrad.names.foreign_names import METHODS, NAMES

from .pages import table, tables


def classes():
    return [
        value
        for value in vars(_errors).values()
        if inspect.isclass(value) and value.__module__ == _errors.__name__
    ]


def row(cls):
    bases = [base.__name__ for base in cls.__bases__ if base is not _errors.NumgradError]
    summary = inspect.getdoc(cls).split("\n\n")[0].replace("\n", " ").replace("`", "")
    return [cls.__name__, ", ".join(bases), summary]


def test_table_of_errors_is_the_module():
    rows = table("errors.md", "class", "is also", "when", "remedy")
    assert [cells[:3] for cells in rows] == [row(cls) for cls in classes()]
    assert all(cells[3] for cells in rows)


def test_tables_of_what_to_write_are_the_modules():
    spaces = [
        [library, ", ".join(f"ng.{home}".rstrip(".") for home in homes)]
        for library, homes in NAMESPACES.items()
    ]
    assert table("errors.md", "a function of", "is in") == spaces
    functions = [[name, f"ng.{path}"] for name, path in OTHERS.items()]
    names = [[f"ng.{name}", ", or ".join(codes)] for name, codes in NAMES.items()]
    found = [rows for titles, rows in tables("errors.md") if titles == ["instead of", "write"]]
    assert found[0] == functions
    calls = [[c.replace(" | ", " or "), w.partition("  # ")[0]] for c, w in CALLS.items()]
    assert table("errors.md", "the call", "is") == calls
    methods = [[f"t.{name}", code] for name, code in METHODS.items()]
    assert found[1][:-1] == [*names, *methods]
