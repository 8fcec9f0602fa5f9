"""The picture of data and fit."""

import numpy as np
import pytest

from numgrad._cli.fit import Fit, starting_point
from numgrad.data import load_pelts

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", ["fit.png", "fit.svg", "fit.PDF"])
def test_a_picture_of_the_kind_asked_for_is_written(tmp_path, name):
    from numgrad._cli.plot import check_plot_path, draw

    start = starting_point(load_pelts())
    best = Fit(start, np.exp(start), np.ones(6), 0.2, 1, 1, 0.1, True)
    path = tmp_path / name
    assert check_plot_path(path) is None
    draw(path, load_pelts(), best)
    heads = {"fit.png": b"\x89PNG", "fit.svg": b"<?xml", "fit.PDF": b"%PDF"}
    assert path.read_bytes().startswith(heads[name])


def test_drawing_leaves_pyplot_alone(tmp_path):
    """No window, no figure kept alive, whatever backend the user has chosen."""
    import sys

    from numgrad._cli.plot import draw

    start = starting_point(load_pelts())
    best = Fit(start, np.exp(start), np.ones(6), 0.2, 1, 1, 0.1, True)
    draw(tmp_path / "fit.png", load_pelts(), best)
    assert "matplotlib.pyplot" not in sys.modules
