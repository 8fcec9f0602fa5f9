"""``float(x)`` of a tensor that requires grad: a number where the program says so in so many words,
as ``x.item()``, and an error where a function would lose the gradient."""

import io
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import CaptureError, DetachedError

WRITTEN = """
import numpy as np
import numgrad as ng
x = ng.tensor([1.0, 2.0], requires_grad=True)
loss = (x * x).sum()
print(float(loss), int(loss), complex(loss), '%.2f' % loss, [float(v) for v in x])
"""
SHOWN = "5.0 5 (5+0j) 5.00 [1.0, 2.0]"


@pytest.fixture
def loss():
    return (ng.tensor([1.0, 2.0], requires_grad=True) ** 2).sum()


@pytest.mark.parametrize("way", ["file", "command", "pipe"])
def test_a_program_gets_the_numbers_that_it_asks_for(way, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(WRITTEN)
    arguments = {"file": [str(path)], "command": ["-c", WRITTEN], "pipe": ["-"]}[way]
    run = subprocess.run(
        [sys.executable, *arguments], input=WRITTEN, capture_output=True, text=True, check=True,
        env=os.environ,
    )  # fmt: skip
    assert run.stdout.strip() == SHOWN


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: math.exp(x),
        lambda x: list(map(float, [x])),
        lambda x: float(x) + math.sqrt(x),
        lambda x: np.float64(x),
    ],
)
def test_functions_that_want_numbers_are_refused(ask, loss):
    with pytest.raises(DetachedError):
        ask(loss)


def test_functions_of_transforms_are_refused():
    for transform in (ng.func.grad, ng.func.hessian, ng.jit):
        argument = ng.tensor(2.0) if transform is ng.jit else 2.0
        with pytest.raises(DetachedError, match=r"float\(v\)"):
            transform(lambda v: v * float(v))(argument)
    with pytest.raises(CaptureError, match=r"float\(v\)"):
        ng.func.vmap(lambda v: v * float(v))(np.arange(3.0))


def test_code_without_source_is_told_apart(loss):
    names = {"math": math, "x": loss}
    exec("y = float(x)\nz = '%s' % x", names)
    assert names["y"] == 5.0
    assert names["z"].startswith("tensor(5")
    for text in ("math.exp(x)", "float(x) + math.exp(x)", "max(math.exp(x), float(x))"):
        with pytest.raises(DetachedError):
            exec(text, names)


def test_printing_to_a_file_asks_for_text(loss):
    file = io.StringIO()
    print(f"{loss:.1f}", "%5.1f" % loss, file=file)  # noqa: UP031
    assert file.getvalue().split() == ["5.0", "5.0"]
