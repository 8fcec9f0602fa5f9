"""Where the elements of arrays are."""

import numpy as np
import pytest

from numgrad.targets.cpu.python import array_addresses


@pytest.mark.parametrize("count", [0, 1, 20])
def test_addresses_are_those_that_numpy_says(count):
    base = np.arange(24.0).reshape(4, 6)
    kinds = [base, base[1:], base.T, base[::-1, ::-1], np.zeros(0), np.zeros(()), base.view(Mine)]
    arrays = (kinds * 3)[:count]
    expected = [array.__array_interface__["data"][0] for array in arrays]
    assert array_addresses.addresses(arrays) == expected


class Mine(np.ndarray):
    """A class of arrays of a user's own."""


def test_without_known_layout_numpy_is_asked(monkeypatch):
    monkeypatch.setattr(array_addresses, "_memory", lambda: None)
    test_addresses_are_those_that_numpy_says(20)
