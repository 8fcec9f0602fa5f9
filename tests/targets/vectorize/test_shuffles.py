"""Tables sorted by columns in registers: lines of code, followed element by element."""

import re

import pytest

from numgrad.targets.cpu.vectorize.shuffles import Shuffles

LINE = re.compile(r"(%\w+) = shufflevector V (\S+), V (\S+), <\d+ x i32> <(.*)>")
REGISTERS = [(2, 2), (4, 2), (8, 2), (4, 4), (8, 4), (16, 4)]  # lanes, and those that are near
WIDTHS = range(2, 17)


def follow(lines, values, lanes):
    """Add what the lines name to ``values``; return the number of lines."""
    count = 0
    for line in lines:
        count += 1
        found = LINE.fullmatch(line)
        assert found is not None, line
        name, first, second, order = found.groups()
        assert name not in values
        both = [*values.get(first, [None] * lanes), *values.get(second, [None] * lanes)]
        places = [place.removeprefix("i32 ") for place in order.split(", ")]
        values[name] = [None if place == "poison" else both[int(place)] for place in places]
    return count


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("lanes", "near"), REGISTERS)
def test_rows_become_columns_and_columns_rows(lanes, near, width):
    table = {f"%v{n}": [n * lanes + k for k in range(lanes)] for n in range(width)}
    rows = [f"V {name}" for name in table]
    values = dict(table)
    wanted = {place: f"%c{place}" for place in range(width)}
    follow(Shuffles("V", lanes, near, "%a").columns(rows, width, wanted), values, lanes)
    for place, name in wanted.items():
        assert values[name] == [row * width + place for row in range(lanes)]
    back = Shuffles("V", lanes, near, "%b")
    follow(back.rows([f"V {name}" for name in wanted.values()]), values, lanes)
    assert [values[name] for name in back.row_names(width)] == [*table.values()]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("lanes", "near"), REGISTERS)
def test_some_columns_of_rows_of_which_the_end_is_missing(lanes, near, width):
    wanted = {0: "%first", width // 2: "%middle"}
    last = (lanes - 1) * width + width // 2
    table = {f"%v{n}": [n * lanes + k for k in range(lanes)] for n in range(last // lanes + 1)}
    values = dict(table)
    rows = [f"V {name}" for name in table]
    follow(Shuffles("V", lanes, near, "%a").columns(rows, width, wanted), values, lanes)
    for place, name in wanted.items():
        assert values[name] == [row * width + place for row in range(lanes)]


@pytest.mark.parametrize("width", WIDTHS)
def test_some_columns_become_rows_with_any_values_between(width):
    values = {"%x": [*range(8)]}
    shuffles = Shuffles("V", 8, 2, "%a")
    follow(shuffles.rows(["V %x", *[None] * (width - 1)]), values, 8)
    flat = [value for name in shuffles.row_names(width) for value in values[name]]
    assert flat[::width] == [*range(8)]


@pytest.mark.parametrize(("width", "most"), [(2, 2), (3, 6), (4, 8), (6, 18), (8, 24), (16, 48)])
def test_the_number_of_shuffles_grows_with_the_factors_of_the_width(width, most):
    rows = [f"V %v{n}" for n in range(width)]
    wanted = {place: f"%c{place}" for place in range(width)}
    columns = Shuffles("V", 8, 2, "%a").columns(rows, width, wanted)
    assert follow(columns, {row[2:]: [0] * 8 for row in rows}, 8) == most
