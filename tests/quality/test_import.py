"""Importing numgrad is cheap and touches nothing it need not touch."""

import subprocess
import sys


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_import_loads_no_optional_or_heavy_module():
    loaded = set(run("import numgrad, sys; print(*sys.modules)").split())
    heavy = {
        "numba",
        "llvmlite",
        "numba.cuda",
        "numba_cuda",
        "cuda",
        "scipy.optimize",
        "dask",
        "distributed",
        "matplotlib",
        "graphviz",
    }
    assert not loaded & heavy


def test_a_first_gradient_loads_no_part_of_numpy_that_it_does_not_need():
    gradient = "x = numgrad.tensor([1.0], requires_grad=True); numgrad.grad((x * x).sum(), x)"
    of_numpy = set(run("import numpy, sys; print(*sys.modules)").split())
    run(f"import numgrad; {gradient}")  # so that nothing is compiled, which needs Numba
    loaded = set(run(f"import numgrad, sys; {gradient}; print(*sys.modules)").split())
    assert not (loaded - of_numpy) & {"numpy.random", "numpy.ma"}


def test_import_compiles_nothing():
    code = """
import numba.core.event as event
passes = event.RecordingListener()
event.register("numba:run_pass", passes)
import numgrad
print(len(passes.buffer))
"""
    assert run(code) == "0"


def test_import_creates_no_file(tmp_path):
    code = f"""
import os
os.environ["NUMGRAD_CACHE_DIR"] = {str(tmp_path / "cache")!r}
import numgrad
print(os.path.exists({str(tmp_path / "cache")!r}))
"""
    assert run(code) == "False"
