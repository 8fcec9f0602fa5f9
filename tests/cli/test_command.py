"""Arguments, progress and exit status."""

import io
import subprocess
import sys

import pytest

from numgrad._cli.command import main, parser
from numgrad.process.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_help_explains_the_job_and_its_options(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    for word in ("Lotka-Volterra", "--plot", "info", "NUMGRAD_CACHE_DIR"):
        assert word in text


@pytest.mark.parametrize(
    "arguments",
    [["nothing"], ["--plot"], ["--unknown"], ["warm", "--jobs", "0"], ["warm", "--jobs", "-2"]],
)
def test_wrong_arguments_exit_with_status_two(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: python -m numgrad" in capsys.readouterr().err


def test_usage_of_a_command(capsys):
    with pytest.raises(SystemExit):
        main(["warm", "--help"])
    assert capsys.readouterr().out.startswith("usage: python -m numgrad warm [-h]")


def test_a_reader_that_leaves_early_is_no_error():
    command = [sys.executable, "-m", "numgrad", "info"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_no_argument_means_the_fit():
    assert parser().parse_args([]).command is None


def test_interrupt_is_quiet(monkeypatch, capsys):
    def interrupted(picture):
        raise KeyboardInterrupt

    monkeypatch.setattr("numgrad._cli.command._fit", interrupted)
    assert main([]) == 130
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["missing/fit.png", "fit.unknown", "."])
def test_a_picture_that_cannot_be_written_is_refused_before_the_fit(tmp_path, name, capsys):
    pytest.importorskip("matplotlib")
    assert main(["--plot", str(tmp_path / name)]) == 2
    assert "--plot" in capsys.readouterr().err


def test_without_matplotlib_the_remedy_is_named(monkeypatch, capsys):
    loaded = [name for name in sys.modules if name.startswith("matplotlib.")]
    for name in ("matplotlib", "matplotlib.backends", "matplotlib.backends.backend_agg", *loaded):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["--plot", "fit.png"]) == 2
    assert "numgrad[viz]" in capsys.readouterr().err


def test_progress_rewrites_one_line_on_a_terminal():
    stream = Terminal()
    progress = Progress(stream)
    progress.stage("fitting")
    progress.update("simulation 1")
    progress.close()
    text = stream.getvalue()
    assert "\n" not in text
    assert "fitting: simulation 1" in text
    assert text.endswith(" \r")


def test_progress_in_a_log_is_one_line_a_stage():
    stream = io.StringIO()
    progress = Progress(stream)
    progress.stage("fitting")
    progress.update("simulation 1")
    progress.stage("checking")
    progress.close()
    assert stream.getvalue() == "fitting\nchecking\n"
