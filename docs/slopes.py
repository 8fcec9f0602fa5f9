"""The table of the slopes' errors: ``python docs/slopes.py`` writes it into its page.

The exact numbers are mpmath's, stored by ``python -m tests.oracles.generate_slopes``.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

PAGE = Path(__file__).with_name("slopes.md")
sys.path.insert(0, str(PAGE.parents[1]))

from tests.oracles.slope_errors import measured  # noqa: E402
from tests.oracles.slope_points import DTYPES, FUNCTIONS, points  # noqa: E402

MARK = "<!-- what follows is written by docs/slopes.py -->\n"
HEAD = "| function | slope in | from | to | float64 | second | float32 | second |"


def _shown(error: float) -> str:
    """Return a power of two that is no less than an error."""
    return str(int(2 ** np.ceil(np.log2(max(error, 1)))))


def _rows(name: str) -> Iterator[str]:
    errors = measured(name)
    columns = points(name, "f8")
    for place, argument in enumerate(FUNCTIONS[name].arguments):
        low, high = (f"{number:.3g}" for number in (columns[place].min(), columns[place].max()))
        cells = [f"`{name}({', '.join(FUNCTIONS[name].arguments)})`", f"`{argument}`", low, high]
        for dtype in DTYPES:
            seconds = [e.max() for (d, p), e in errors.items()
                       if d == dtype and len(p) == 2 and place in p]  # fmt: skip
            cells += [_shown(errors[dtype, (place,)].max()), _shown(max(seconds))]
        yield f"| {' | '.join(cells)} |"


def page() -> str:
    """Return the text of the page with the errors of this machine."""
    rows = [row for name in FUNCTIONS for row in _rows(name)]
    table = "\n".join([HEAD, "|---" * 8 + "|", *rows, ""])
    return PAGE.read_text("utf-8").partition(MARK)[0] + MARK + "\n" + table


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
