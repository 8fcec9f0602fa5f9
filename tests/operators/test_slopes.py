"""First and second slopes against mpmath's, over all that their arguments can be.

The table of the documentation says how large errors are: none may be larger, and none that is shown
may be above the bound that is stated here.
"""

import pytest

from ..docs.pages import table
from ..oracles.slope_errors import measured
from ..oracles.slope_points import DTYPES, FUNCTIONS

BOUND = 4
BOUNDS = {
    "tan": 8, "exprel": 8, "dawsn": 16384, "sinc": 16, "erfcx": 8, "erfinv": 16, "erfcinv": 16,
    "ndtri": 8, "log_ndtr": 16, "atan2": 8, "pseudo_huber": 8, "logaddexp2": 8, "pow": 64,
    "boxcox": 256, "boxcox1p": 64,
}  # fmt: skip
"""In units in the last place, where 4 do not hold; the page says why."""
HEAD = ("function", "slope in", "from", "to", "float64", "second", "float32", "second")


def shown():
    """Return the errors that the page shows, by function, argument, dtype and order."""
    found = {}
    for row in table("slopes.md", *HEAD):
        name, argument = row[0].partition("(")[0], row[1]
        for place, number in enumerate(row[4:]):
            found[name, argument, DTYPES[place // 2], place % 2 + 1] = int(number)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_no_larger_than_the_page_says(name):
    page = shown()
    for (dtype, places), errors in measured(name).items():
        for place in places:
            key = (name, FUNCTIONS[name].arguments[place], dtype, len(places))
            assert errors.max() <= page[key], key


def test_the_page_shows_no_error_above_the_bound():
    page = shown()
    assert {key[0] for key in page} == set(FUNCTIONS)
    assert not {key: n for key, n in page.items() if n > BOUNDS.get(key[0], BOUND)}
