"""The scripts in ``examples/`` run; each checks its own result."""

import runpy
import sys
from pathlib import Path
from unittest import mock

import pytest

from tests.sampling import one_in

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
GALLERY = sorted((EXAMPLES / "gallery").glob("*.py"))


@pytest.mark.parametrize("script", one_in(2, SCRIPTS), ids=lambda script: script.stem)
def test_script_runs(script, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("script", one_in(4, GALLERY), ids=lambda script: script.stem)
def test_script_of_the_gallery_runs(script, capsys, monkeypatch):
    """What it computes; that it draws is seen when the documentation is built."""
    pyplot = mock.MagicMock()
    pyplot.subplots.return_value = mock.MagicMock(), (mock.MagicMock(), mock.MagicMock())
    monkeypatch.setitem(sys.modules, "matplotlib", mock.MagicMock(pyplot=pyplot))
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    runpy.run_path(str(script), run_name="__main__")
    assert pyplot.show.called
    assert capsys.readouterr().out
