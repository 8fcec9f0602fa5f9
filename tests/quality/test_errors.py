"""Every exception and warning class is public, under ``numgrad.errors``."""

import numgrad as ng
from numgrad import _errors


def test_every_class_is_public():
    defined = {name for name, value in vars(_errors).items() if isinstance(value, type)}
    assert defined == set(ng.errors.__all__)
    assert all(getattr(ng.errors, name) is getattr(_errors, name) for name in defined)


def test_every_class_says_when_it_is_raised():
    assert all(getattr(_errors, name).__doc__ for name in ng.errors.__all__)
