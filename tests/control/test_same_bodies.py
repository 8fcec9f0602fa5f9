"""Functions that compute the same have one body, however often and in whatever company they run."""

import numpy as np

import numgrad as ng
from numgrad.control import body, same_bodies
from numgrad.engine.graph.callsite import Site


def oscillator(y, t, k):
    return ng.stack([y[1], -k * ng.sin(y[0]) - 0.1 * y[1]])


def crossing(k):
    return ng.ode.odeint_event(
        oscillator, np.array([1.0, 0.3]), [0.0, 9.0], k, event=lambda y, t, k: y[0]
    ).t


def test_calls_find_the_body_of_the_first_one():
    # Python specialises instructions meanwhile, and eager calls leave plans of the operators.
    before = len(body._known)
    for n in range(24):
        crossing(1.0 + 0.01 * n)
        ng.sin(ng.tensor(0.1 * n)) * 2.0
    assert len(body._known) == before + 1


class _Expr:
    def __init__(self, site, operator):
        self.site, self.operator = site, operator


class _Raises:
    is_view = is_builtin = False


class _Never:
    is_view, is_builtin = False, True


def test_lines_tell_expressions_apart_where_an_error_would_name_them():
    code = test_calls_find_the_body_of_the_first_one.__code__
    starts = [start for start, _, line in code.co_lines() if line is not None]
    lines = {}
    for start in starts:
        lines.setdefault(Site(code, start).line, []).append(Site(code, start))
    one, other, *_ = lines.values()

    def told(site, operator=_Raises):
        return same_bodies._line_of(_Expr(site, operator))

    assert told(one[0]) == told(Site(code, one[0].instruction + 1))  # another place in the line
    assert told(one[0]) != told(other[0])
    assert told(None) is None
    assert told(one[0], _Never) == told(other[0], _Never) == told(None, _Never)
    assert told(Site(None, 0, "stream"), _Never) != told(None, _Never)
