"""Running scripts in processes of their own."""

import os
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 240


def environment(**variables):
    """Return the environment of a process that imports this source tree."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | {"PYTHONPATH": path} | variables


def command(source, *arguments):
    return [
        sys.executable,
        "-W",
        "ignore::DeprecationWarning",
        "-c",
        textwrap.dedent(source),
        *arguments,
    ]


def run(source, *arguments, **variables):
    """Run a script and return what it printed; its failure is an error."""
    done = subprocess.run(
        command(source, *arguments), env=environment(**variables),
        capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout.strip()


def start(source, *arguments, **variables):
    """Start a script whose output is read through a pipe."""
    return subprocess.Popen(
        command(source, *arguments), env=environment(**variables), stdout=subprocess.PIPE, text=True
    )


_START_LAYER = """
from numba.np.ufunc import parallel

try:
    parallel._launch_threads()
except ValueError:  # "No threading layer could be loaded"
    print("not available")
"""


@cache
def _starts(layer):
    return run(_START_LAYER, NUMBA_THREADING_LAYER=layer) == ""


def require_layer(layer):
    """Skip a test where Numba has no such threading layer: `omp` needs libgomp, `tbb` a package."""
    if not _starts(layer):
        pytest.skip(f"the threading layer {layer} is not available")
