"""The job around a stand-in for the recorded residuals: what is printed, what is returned."""

import pytest

from numgrad._cli import job

from .complex_step import ComplexStepResiduals


class ByRows(ComplexStepResiduals):
    def jacobian_by_rows(self, log_parameters, every=1):
        return self.jacobian(log_parameters)[::every]


class WrongJacobian(ByRows):
    def jacobian(self, log_parameters):
        return super().jacobian(log_parameters) * 1.0001


class DifferentRows(ByRows):
    def jacobian_by_rows(self, log_parameters, every=1):
        return self.jacobian(log_parameters)[::-1][::every]


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
