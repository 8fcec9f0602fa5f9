"""The data that the main job fits."""

import numpy as np

from numgrad.data import load_pelts


def test_pelts_are_the_twenty_one_years_of_the_record():
    pelts = load_pelts()
    assert pelts.years.tolist() == list(range(1900, 1921))
    assert (pelts.hare[0], pelts.lynx[0]) == (30.0, 4.0)
    assert (pelts.hare[-1], pelts.lynx[-1]) == (24.7, 8.6)
    assert (pelts.hare.max(), pelts.lynx.max()) == (77.4, 59.4)
    # Sums of the columns: a changed digit anywhere shows.
    assert np.isclose(pelts.hare.sum(), 715.7)
    assert np.isclose(pelts.lynx.sum(), 423.5)


def test_populations_put_the_hare_first():
    pelts = load_pelts()
    assert pelts.populations.shape == (21, 2)
    assert pelts.populations[4].tolist() == [36.3, 59.4]


def test_loading_twice_shares_nothing():
    load_pelts().hare[:] = 0.0
    assert load_pelts().hare[0] == 30.0
