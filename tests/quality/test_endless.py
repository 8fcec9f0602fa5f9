"""A test that never returns to the interpreter ends its process and shows where it is."""

import subprocess
import sys
from pathlib import Path

CONFTEST = """
import sys
sys.path.insert(0, {root!r})
from tests import endless

endless.LIMIT = 0.3

def pytest_configure(config):
    config.pluginmanager.register(endless.Watch(config))
"""

HANGING = """
import time

def test_before():
    pass

def test_hanging():
    time.sleep(200)
"""


def test_it_ends_with_the_stacks_of_all_threads(tmp_path):
    root = str(Path(__file__).parents[2])
    (tmp_path / "conftest.py").write_text(CONFTEST.format(root=root))
    (tmp_path / "test_hanging.py").write_text(HANGING)
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", f"--rootdir={tmp_path}", "-p",
               "no:cacheprovider", str(tmp_path)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 1
    assert "Timeout (0:00:00.300000)!" in done.stderr
    assert "in test_hanging" in done.stderr
