"""The corpus: each program computes with numgrad what it computes with NumPy, in every way."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from asv_benchmarks.corpus import __main__ as command
from asv_benchmarks.corpus import agreement, libraries, report, rounds
from asv_benchmarks.corpus.libraries.numgrad import captured, eager
from asv_benchmarks.corpus.libraries.numpy import value
from asv_benchmarks.corpus.programs import CHAPTERS, PROGRAMS, find, selected
from asv_benchmarks.peers import machine
from tests.sampling import one_in

ROOT = Path(__file__).parents[2]
ONE_OF_EACH_CHAPTER = [chapter.FAMILIES[0].programs[0] for chapter in CHAPTERS]


@pytest.mark.parametrize(
    "program", one_in(3, [pytest.param(program, id=program.name) for program in PROGRAMS])
)
def test_values_and_derivatives_are_those_of_numpy(program):
    problem = program.at(program.tiny)
    right = value(problem)
    found, derivatives = libraries.results(eager(problem)(0))
    assert found is None or agreement.difference([found], [right]) <= 1e-12
    assert agrees(problem, derivatives)
    again, others = libraries.results(captured(problem, "never")(0))
    assert again is None or agreement.difference([again], [right]) <= 1e-12
    assert agreement.difference(others, derivatives) <= 1e-11


def test_names_are_different_and_a_family_computes_the_same():
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) >= 100
    heat = [value(p.at(p.tiny)) for p in selected(["heat equation"])]
    assert np.ptp(heat) <= 1e-12


def agrees(problem, derivatives):
    """Whether derivatives are the differences of NumPy's values in a random direction."""
    expected = agreement.differences(problem)
    scale = max(np.abs(expected).max(), 1.0)
    return np.abs(agreement.projected(problem, derivatives) - expected).max() <= 1e-5 * scale


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_other_libraries_compute_the_same(library, tmp_path):
    reason = rounds.missing(library)
    if reason:
        pytest.skip(reason)
    bench = rounds.Bench(rounds.Options((library,), 1, 0.001, 1, 60.0, True), tmp_path)
    try:
        for program in ONE_OF_EACH_CHAPTER:
            row = bench.measure(program)
            assert (row.reasons, set(row.best)) == ({}, set(libraries.LIBRARIES[library]))
            found = rounds.derivatives(np.load(tmp_path / f"{library}.npz"))
            assert agrees(program.at(program.tiny), found)
    finally:
        bench.close()


def test_a_way_that_differs_is_not_timed(tmp_path):
    program = find("functions of one number: a polynomial")
    np.savez(tmp_path / "eager.npz", np.array(1.0), value=value(program.at(1)))
    np.savez(tmp_path / "fused.npz", np.array(1.1), value=value(program.at(1)) + 1e-15)
    (reason,) = rounds.disagreements(tmp_path, program, 1, ["eager", "fused"]).items()
    assert reason[0] == "fused"
    assert reason[1].startswith("differs: value ")
    assert reason[1].endswith("derivative 1.0e-01")


def measured(times):
    """What a run hands to the tables: programs of one family, by the times of their ways."""
    rows = [
        {"name": f"family: {n}", "family": "family", "siblings": True, "best": best,
         "median": best, "first": {"fused": 0.5}, "reasons": {}}
        for n, best in enumerate(times)
    ]  # fmt: skip
    return {"rows": rows}


def test_tables_show_the_distribution_and_its_worst_end():
    found = measured(
        [{"eager": 1e-6, "torch": 4e-6, "torch.func": 2e-6}, {"eager": 8e-6, "torch": 4e-6}]
    )
    lines = report.markdown(found).splitlines()
    assert lines[2].startswith("| eager / the better of torch and torch.func | 2 | 1.00 |")
    assert lines[2].endswith("| 2.00 | 50 % |")
    assert "| family: 1 | 2.00 | 8 us | 4 us |" in lines
    assert "| family: 1 / 0 | 8.00 | 8 us | 1 us | 1.00 |" in lines


def test_two_runs_are_compared_by_their_ratios():
    before = measured([{"eager": 1e-6, "torch": 4e-6}])
    after = measured([{"eager": 2e-6, "torch": 4e-6}])
    assert "- 2.00: family: 0 (0.25 to 0.50)" in report.changes(before, after)


def test_a_second_measurement_lowers_times():
    first = measured([{"eager": 1e-6, "torch": 4e-6}, {"eager": 9e-6, "torch": 4e-6}])["rows"]
    assert report.worst_names(first, 1, "best") == {"family: 1"}
    again = [{**first[1], "best": {"eager": 3e-6, "torch": 5e-6}}]
    assert [r["best"]["eager"] for r in rounds.merged(first, again)] == [1e-6, 3e-6]
    assert rounds.merged(first, again)[1]["best"]["torch"] == 4e-6


def test_parts_of_names_select_programs_and_libraries():
    chosen = selected(["lstm over 50", "calls: a pair"])
    assert {p.family for p in chosen} == {"an LSTM over 50 tokens"}
    assert len(selected(["LSTM over 50", "pair of ints"])) == 5
    with pytest.raises(ValueError, match="no program's name holds any of"):
        selected(["no such program"])
    assert command.chosen_libraries("jax") == ("numgrad", "jax")
    with pytest.raises(SystemExit, match="no library numpy; there are numgrad, torch"):
        command.chosen_libraries("numpy")


def test_whole_command_writes_what_it_measured(tmp_path):
    given = ["--only", "Rosenbrock's function of 4: slices", "--libraries", "numgrad", "--quick"]
    forced = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
    environment = {name: text for name, text in os.environ.items() if name not in forced}
    subprocess.run(
        [sys.executable, "-m", "asv_benchmarks.corpus", *given, "--json", str(tmp_path / "run")],
        cwd=ROOT,
        env=machine.worker_environment(environment, 1),
        check=True,
        capture_output=True,
    )
    (row,) = json.loads((tmp_path / "run").read_text())["rows"]
    assert set(row["best"]) == {"eager", "func", "captured", "fused"}
    assert row["reasons"] == {}
