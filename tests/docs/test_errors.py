"""The table of errors names every class, its bases and what its docstring says."""

import inspect

from numgrad import _errors

from .pages import table


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
