"""The job around a stand-in for the recorded residuals: what is printed, what is returned."""

import pytest

from numgrad._cli import check, job
from numgrad._cli.fit import starting_point
from numgrad.data import load_pelts

from .complex_step import ComplexStepResiduals


class ByRows(ComplexStepResiduals):
    def jacobian_by_rows(self, log_parameters):
        return self.jacobian(log_parameters)


class WrongJacobian(ByRows):
    def jacobian(self, log_parameters):
        return super().jacobian(log_parameters) * 1.0001


class DifferentRows(ByRows):
    def jacobian_by_rows(self, log_parameters):
        return self.jacobian(log_parameters)[::-1]


def test_report_has_every_parameter_with_its_error(monkeypatch, capsys):
    monkeypatch.setattr(job, "RecordedResiduals", ByRows)
    assert job.run(None) == 0
    output = capsys.readouterr()
    for line in ("alpha         0.5402       0.059", "lynx(0)        5.845        0.48"):
        assert line in output.out
    assert "converged after" in output.out
    assert "42 x 6" in output.out
    assert "agrees" in output.out
    assert output.err.startswith("fitting")


def test_both_ways_to_the_jacobian_are_timed_warm_on_all_rows(monkeypatch):
    calls = []

    class Counted(ByRows):
        def jacobian(self, log_parameters):
            calls.append("batched")
            return super().jacobian(log_parameters)

        def jacobian_by_rows(self, log_parameters):
            calls.append("by rows")
            return ComplexStepResiduals.jacobian(self, log_parameters)

    times = iter([0.0, 1.0, 0.0, 4.0] * check.ROUNDS)
    monkeypatch.setattr(check, "perf_counter", lambda: next(times))
    pelts = load_pelts()
    found = check.check_jacobian(Counted(pelts.populations), starting_point(pelts))
    assert calls == ["batched", "by rows"] * (check.UNTIMED + check.ROUNDS)
    assert check.UNTIMED >= 2  # the second pass over a graph makes its program
    assert (found.batched_seconds, found.by_rows_seconds) == (1.0, 4.0)


@pytest.mark.parametrize("model", [WrongJacobian, DifferentRows])
def test_a_wrong_jacobian_is_reported_and_fails(monkeypatch, capsys, model):
    monkeypatch.setattr(job, "RecordedResiduals", model)
    assert job.run(None) == 1
    assert "DISAGREES" in capsys.readouterr().out


def test_a_fit_that_stops_early_is_reported_and_fails(monkeypatch, capsys):
    from scipy import optimize

    solve = optimize.least_squares
    monkeypatch.setattr(optimize, "least_squares", lambda *a, **k: solve(*a, **k, max_nfev=2))
    monkeypatch.setattr(job, "RecordedResiduals", ByRows)
    assert job.run(None) == 1
    assert "NOT CONVERGED" in capsys.readouterr().out
