"""The benchmark beside other systems: its adjoints are right, its table says what was measured."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from asv_benchmarks.peers import __main__ as command
from asv_benchmarks.peers import machine, report, rounds, systems
from asv_benchmarks.peers.new_graph import new_graph_seconds
from asv_benchmarks.peers.task import MissingError, disagreement
from asv_benchmarks.peers.workloads import WORKLOADS, find, selected
from tests.sampling import one_in

from .complex_step import expected, found

ROOT = Path(__file__).parents[2]
KEYS = [workload.key for workload in WORKLOADS]
CAPTURED = [key for key in KEYS if any("jit" in system for system in find(key).systems)]
QUIET = {"PATH": "", "HOME": ""}


@pytest.fixture(scope="module")
def hand_written():
    """Results of the adjoints by hand, computed once per workload."""
    known = {}

    def results(key):
        if key not in known:
            workload = find(key)
            known[key] = systems.numpy_results(workload.hand_written(workload.task(True))())
        return known[key]

    return results


@pytest.mark.parametrize("key", one_in(4, KEYS, 3))
def test_adjoint_by_hand_agrees_with_complex_steps(key, hand_written):
    workload = find(key)
    task = workload.task(True)
    rng = np.random.default_rng(5)
    directions = [rng.standard_normal(a.shape) for a in task.variables]
    gradients = hand_written(key)[task.with_value :]
    right = expected(task, directions)
    difference = np.abs(found(task, gradients, directions) - right).max()
    assert difference <= workload.tolerance * np.abs(right).max()


@pytest.mark.parametrize("key", one_in(2, KEYS, 1))
def test_numgrad_agrees_with_the_adjoint_by_hand(key, hand_written):
    workload = find(key)
    result = systems.numpy_results(systems.prepare("numgrad eager", workload.task(True))())
    assert disagreement(result, hand_written(key)) <= workload.tolerance


@pytest.mark.parametrize("key", one_in(2, CAPTURED, 1))
def test_captured_function_agrees_with_the_adjoint_by_hand(key, hand_written):
    workload = find(key)
    try:
        call = systems.prepare("numgrad jit", workload.task(True))
    except MissingError as missing:
        pytest.skip(str(missing))
    assert disagreement(systems.numpy_results(call()), hand_written(key)) <= workload.tolerance


def test_enthalpy_of_sea_water_has_the_density_of_sea_water():
    """dh/dp is the specific volume: the density of the full Gibbs function is met to 1e-6."""
    from asv_benchmarks.peers.workloads.seawater import enthalpy

    salinity, temperature, pressure = np.array([34.7118]), np.array([28.8099]), np.array([10.0])
    (slope,) = enthalpy(np, salinity, temperature, pressure + 1e-20j).imag / 1e-20
    assert 1e4 / slope == pytest.approx(1021.840173, rel=1e-6)


def test_disagreement_is_relative_and_sees_shapes_and_nan():
    right = (np.array([1.0, 100.0]),)
    assert disagreement((np.array([1.0, 101.0]),), right) == pytest.approx(0.01)
    assert disagreement((np.array([1.0]),), right) == np.inf
    assert disagreement((np.array([np.nan, 100.0]),), right) == np.inf
    assert disagreement((), right) == np.inf


def test_new_graph_is_timed_against_its_own_later_calls():
    seconds = new_graph_seconds("numgrad eager", find("W9chain").task(True))
    assert -0.1 < seconds < 60.0


def test_names_of_workloads_select_them():
    assert [w.key for w in selected("W9, w1")] == ["W1", "W1f32", "W9n5", "W9n1000", "W9chain"]
    assert selected("") == WORKLOADS
    with pytest.raises(ValueError, match="no workload w4; there are W1"):
        selected("W4")


@pytest.mark.parametrize("name", ["OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"])
def test_forced_openblas_is_refused_in_words(name, capsys, monkeypatch):
    for known in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        monkeypatch.delenv(known, raising=False)
    assert machine.refusal(dict(QUIET)) == ""
    monkeypatch.setenv(name, "Haswell")
    assert command.main(["--quick"]) == 2
    said = capsys.readouterr().err
    assert f"{name}=Haswell is set" in said
    assert f"env -u {name} python -m asv_benchmarks.peers" in said


def measured_row(system, seconds, **more):
    row = rounds.Row(system, [seconds, seconds * 9, seconds], [seconds / 2] * 3, **more)
    return rounds.as_json([row], "median")[0]


@pytest.fixture
def measured():
    """What a run hands to the table, small."""
    rows = [
        measured_row("hand-written", 0.001, first=2.0),
        measured_row("numgrad fused", 0.0015, first=0.2, new_graph=0.004, mebibytes=3.2),
        measured_row("jax", 0.004, first=0.3, disagreement=2e-16),
        rounds.as_json([rounds.Row("torch.compile", reason="stopped")], "median")[0],
    ]
    facts = machine.facts(2, "python -m asv_benchmarks.peers")
    return {"machine": facts, "workloads": [{"key": "W2", "title": "a title", "rows": rows}]}


def test_table_shows_medians_ratios_and_reasons(measured):
    lines = report.markdown(measured).splitlines()
    assert "| W2 | 1 ms | jax 4 ms | fused 1.5 ms | 1.50 | 0.38 |" in lines
    assert "| numgrad fused | 1.5 ms | 1.50 | 0.38 | 200 ms | 4 ms | 3 |  |" in lines
    assert "| jax | 4 ms | 4.00 | 1.00 | 300 ms |  |  | 2e-16 |" in lines
    assert lines[-1] == "| torch.compile | stopped |  |  |  |  |  |  |"


def test_minimum_can_be_shown_instead_of_the_median():
    row = rounds.Row("jax", [2.0, 3.0, 4.0], [1.5, 1.0, 2.0])
    assert rounds.as_json([row], "median")[0]["steady"] == 3.0
    assert rounds.as_json([row], "min")[0]["steady"] == 1.0


def test_durations_have_units():
    shown = [report.duration(s) for s in (2.5, 0.0123, 4.56e-5, 7e-9, None)]
    assert shown == ["2.5 s", "12.3 ms", "45.6 us", "7 ns", ""]


def test_plot_is_written(measured, tmp_path):
    pytest.importorskip("matplotlib")
    from asv_benchmarks.peers.chart import draw

    assert draw(measured, tmp_path / "peers.png") == f"wrote {tmp_path / 'peers.png'}"
    assert (tmp_path / "peers.png").read_bytes().startswith(b"\x89PNG")


def test_plot_of_one_workload_is_written(measured, tmp_path):
    pytest.importorskip("matplotlib")
    from asv_benchmarks.peers.chart import draw_front

    key, path = measured["workloads"][0]["key"], tmp_path / "one.svg"
    assert draw_front(measured, path, key) == f"wrote {path}"
    assert "ms" in path.read_text()
    assert draw_front(measured, path, "none") == "no picture of none: it was not measured"


def test_whole_command_writes_its_files(tmp_path):
    arguments = ["--workloads", "W9chain", "--peers", "none", "--quick", "--no-extras"]
    environment = machine.worker_environment(_without_openblas(), 1)
    subprocess.run(
        [sys.executable, "-m", "asv_benchmarks.peers", *arguments, "--output", str(tmp_path)],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
    )
    (workload,) = json.loads((tmp_path / "peers.json").read_text())["workloads"]
    systems_measured = {row["system"]: row for row in workload["rows"]}
    assert systems_measured["numgrad eager"]["disagreement"] <= 1e-9
    assert len(systems_measured["hand-written"]["seconds"]) == 3
    assert "| numgrad eager |" in (tmp_path / "peers.md").read_text()


def _without_openblas():
    forced = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
    return {name: value for name, value in os.environ.items() if name not in forced}
