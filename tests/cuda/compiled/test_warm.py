"""``python -m numgrad warm --capability`` compiles what a machine with the GPU looks up."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from numgrad._cli.command import main
from numgrad.targets.cuda.compile import cubins
from numgrad.testing.scenarios import SCENARIOS

from .compiling import collected, run_all

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
import numpy as np
import numgrad as ng

x, w = (ng.tensor(a, device="cuda", requires_grad=True) for a in (np.linspace(0, 1, 6), np.eye(6)))
fuse = sys.argv[1]
ng.set_flags(fuse=fuse)


def loss(x):
    last, ys = ng.scan(lambda c, u: (ng.tanh(c * u) + u, c), x, w)
    return (ng.sin(w @ x) * x).sum() + (last * ys).sum()


captured = ng.jit(ng.func.value_and_grad(loss))
for _ in range(9):  # what comes again is launched without Python
    value, slopes = captured(x), ng.grad(loss(x), [x, w])
    y = ng.sin(x.detach()) * x.detach()
rows = ng.grad(w @ x, x, np.eye(6), is_grads_batched=True)
part = ng.zeros_like(x)
part[1:3] = 5.0
found = [*value, *slopes, *rows, part, x[::-1] ** 2]
if len(sys.argv) > 2:
    np.savez(sys.argv[2], *[f.detach().cpu().numpy() for f in found])
"""
PART = """
import numpy as np
import numgrad as ng

y = ng.sin(ng.tensor(np.linspace(0, 1, 6), device="cuda"))
"""
ON_A_GPU = """
import runpy, sys
from tests.cuda.hosted_library import load

load().hosted_be_idle()  # a GPU of capability 9.0 that does nothing, with the real driver
if sys.argv.pop(1) == "without":
    sys.modules["numgrad.targets.cuda.compile.codegen"] = None  # whoever compiles fails
from numgrad.targets.cpu.compile import disk_cache
known = disk_cache.write


def write(key, entry, kind="kernel"):
    print("compiled here:", kind, entry.symbol)
    return known(key, entry, kind)


disk_cache.write = write
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


def run(cache, *arguments, status=0):
    environment = os.environ | {
        "NUMGRAD_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT), "NUMGRAD_NUM_THREADS": "1"
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=ROOT, env=environment, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warm")
    program, results = folder / "program.py", folder / "found.npz"
    program.write_text(PROGRAM)
    warm = ("-m", "numgrad", "warm", "--capability", "9.0", "--processors", "4")
    text = run(folder / "cache", *warm, program, "auto", results)
    return folder, program, results, text


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler, cc")
def test_a_machine_with_the_gpu_compiles_nothing(prepared):
    folder, program, _, text = prepared
    assert int(re.search(r"compiled +(\d+) kernels", text).group(1)) > 10
    assert "not kept" not in text
    for fuse in ("auto", "now"):
        text = run(folder / "cache", "-c", ON_A_GPU, "without", program, fuse)
        assert "compiled here" not in text  # nor is anything for the processor
    other = run(folder / "empty", "-c", ON_A_GPU, "without", program, "auto", status=1)
    assert "codegen" in other  # which would be needed without the cache


def test_the_program_computes_what_the_processor_does(prepared):
    folder, _, results, _ = prepared
    here = folder / "here.npz"
    program = folder / "here.py"
    program.write_text(PROGRAM.replace('device="cuda"', 'device="cpu"'))
    run(folder / "cache", program, "auto", here)
    found, expected = np.load(results), np.load(here)
    assert len(found.files) == len(expected.files) == 7
    for name in expected.files:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-13, atol=1e-14)


def test_a_second_run_finds_all_kernels(prepared):
    folder, program, results, _ = prepared
    warm = ("-m", "numgrad", "warm", "--capability", "9.0", "--processors", "4")
    again = run(folder / "cache", *warm, program, "auto", results)
    assert "compiled        0 kernels for compute capability 9.0" in again
    part = folder / "part.py"
    part.write_text(PART)
    alike = run(folder / "cache", *warm, part)
    assert "compiled        0 kernels for compute capability 9.0" in alike
    other = run(folder / "cache", *warm[:4], "8.0", part)
    assert "compiled        0 kernels" not in other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--capability", "9", "x.py"], "two numbers such as 9.0"),
        (["--capability", "9.0"], "give the program"),
        (["--capability", "9.0", "-m"], "give the program"),
        (["program.py"], "with --capability alone"),
    ],
)
def test_what_is_missing_is_said(arguments, message, capsys):
    try:
        status = main(["warm", *arguments])
    except SystemExit as end:  # by the parser of arguments
        status = end.code
    assert status == 2
    assert message in capsys.readouterr().err


def test_a_module_is_run_with_its_arguments(prepared):
    warm = ("-m", "numgrad", "warm", "--capability", "9.0")
    text = run(prepared[0] / "cache", *warm, "-m", "tests.cuda.compiled.arguments", "--first", "2")
    assert "arguments.py --first 2 on cuda:0 True" in text


def test_an_exit_of_the_program_is_that_of_the_command(prepared, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("raise SystemExit(3)")
    warm = ("-m", "numgrad", "warm", "--capability", "9.0")
    run(prepared[0] / "cache", *warm, program, status=3)


def test_kernels_of_functions_that_call_operators_are_kept():
    names = {"tanh", "logaddexp", "sinc", "softplus", "expit", "gammaln"}
    kernels = collected(lambda: run_all(s for s in SCENARIOS if {s.name, *s.operators} & names))
    assert len(kernels) > 10
    keys = [cubins.key_of(kernel, (9, 0)) for kernel in kernels]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert not {*keys} & {cubins.key_of(kernel, (8, 0)) for kernel in kernels}
