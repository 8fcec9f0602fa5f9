"""The kernel cache as a user meets it: scripts that import numgrad, one process after the other."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.sampling import exhaustive, one_in

from ..processes import run

REPORT = """
import warnings
from numgrad.targets.cpu import CPUTarget

def report():
    info = CPUTarget().cache_info()
    print(info.compiled, info.hits, info.writes, info.directory is not None)
"""

MANY = (
    REPORT
    + """
import numpy as np
import numgrad as ng

x = ng.tensor(np.linspace(0.1, 0.9, 12).reshape(3, 4), requires_grad=True)
z = ng.tensor(np.array([1 + 2j, 3.0]), requires_grad=True)
y = ng.sin(x) * ng.exp(x) / ng.sqrt(x) + ng.tanh(x) ** 2 - ng.atan2(x, x + 1)
y = y + ng.cumsum(y, axis=1) + ng.max(y, axis=0) + ng.where(x > 0.5, x, 2 * x)
a = ng.matmul(x, x.T) + 2 * np.eye(3)
total = y.sum() + ng.linalg.det(a) + ng.linalg.solve(a, x).sum() + ng.sort(x, axis=0)[0].prod()
total = total + ng.concat([x, y])[1:].mean() + x[np.array([0, 2])].sum() + ng.real(z * z).sum()
g, _ = ng.grad(total, [x, z], create_graph=True)
ng.grad(g.sum(), x, retain_graph=True)
ng.grad(ng.tanh(x) * x, x, np.ones((40, 3, 4)), is_grads_batched=True)
ng.backward(total.astype(np.float32))
assert ng.grad(x.astype(np.float16).sum(), x)[0].dtype == float
report()
"""
)

FEW = (
    REPORT
    + """
import numpy as np
import numgrad as ng

x = ng.tensor(np.linspace(0.1, 0.9, 12).reshape(3, 4), requires_grad=True)
y = ng.tanh(x) * x + ng.cumsum(x, axis=1)
total = y.sum() + ng.matmul(x, x.T).sum() + x[np.array([0, 2])].sum()
(g,) = ng.grad(total, x, create_graph=True)
ng.grad(g.sum(), x, retain_graph=True)
ng.grad(ng.tanh(x) * x, x, np.ones((40, 3, 4)), is_grads_batched=True)
report()
"""
)

SMALL = (
    REPORT
    + """
import numpy as np
import numgrad as ng

x = ng.tensor([0.5, 1.5], requires_grad=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    (g,) = ng.grad(ng.sin(x) * x, x, np.ones(2))
    ng.grad(ng.cosh(x), x, np.ones(2))
assert abs(g.tolist()[0] - 0.9182168194) < 1e-9
report()
print(*[warning.category.__name__ for warning in caught])
"""
)


def cached(script, folder, *arguments, **variables):
    return run(script, *arguments, NUMGRAD_CACHE_DIR=str(folder), **variables).splitlines()


@pytest.mark.parametrize(
    ("script", "least"),
    one_in(2, [pytest.param(FEW, 10, id="few"), pytest.param(MANY, 40, id="many")]),
)
def test_second_process_compiles_nothing(tmp_path, script, least):
    compiled, _, writes, _ = cached(script, tmp_path / "kernels")[0].split()
    assert int(compiled) == int(writes) > least
    compiled, hits, written, _ = cached(script, tmp_path / "kernels")[0].split()
    assert (compiled, written) == ("0", "0")
    assert int(hits) == int(writes)


@exhaustive
def test_missing_directory_is_made(tmp_path):
    counts, warned = (*cached(SMALL, tmp_path / "not" / "there"), "")[:2]
    assert counts.split()[3] == "True"
    assert warned == ""
    assert any((tmp_path / "not" / "there").iterdir())


@pytest.mark.parametrize("obstacle", one_in(2, ["file", "read-only"]))
def test_unusable_directory_means_memory_only_and_one_warning(tmp_path, obstacle):
    folder = tmp_path / "kernels"
    if obstacle == "file":
        folder.write_text("in the way")
    elif os.name != "posix" or os.geteuid() == 0:
        folder = "/proc/numgrad"  # no file can be made there, not even by root
        if not os.path.isdir("/proc"):
            pytest.skip("permissions do not bind this user")
    else:
        folder.mkdir(mode=0o500)
    counts, warned = cached(SMALL, folder)
    compiled, _, writes, found = counts.split()
    assert int(compiled) > 0
    is_read = os.path.isdir(folder)
    assert (writes, found) == ("0", str(is_read))
    assert warned.split() == ["CacheWarning"]


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """A cache that one process has filled, and how many functions it compiled."""
    folder = tmp_path_factory.mktemp("once") / "kernels"
    return folder, cached(SMALL, folder)[0].split()[0]


@pytest.fixture
def filled(once, tmp_path):
    """A copy of that cache, and the number."""
    folder, compiled = once
    assert int(compiled) > 0
    return shutil.copytree(folder, tmp_path / "kernels"), compiled


def _cut(path):
    path.write_bytes(path.read_bytes()[:-50])


def _flip(path):
    data = bytearray(path.read_bytes())
    data[-20] ^= 255
    path.write_bytes(bytes(data))


def _plant(path):
    path.write_bytes(b"\x7fELF" + bytes(1000))


@pytest.mark.parametrize("damage", one_in(3, [_flip, _cut, _plant]))
def test_damaged_or_planted_files_are_compiled_anew(filled, damage):
    folder, compiled = filled
    for path in folder.iterdir():
        damage(path)
    counts, warned = cached(SMALL, folder)
    assert counts.split()[0] == compiled
    assert warned.split() == ["CacheWarning"]
    assert cached(SMALL, folder)[0].split()[0] == "0"


def test_objects_under_each_others_names_are_not_run(filled):
    """Every file is whole and ours, but holds the code of another kernel."""
    folder, compiled = filled
    paths = sorted(folder.iterdir())
    contents = [path.read_bytes() for path in paths]
    for path, content in zip(paths, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)
    assert cached(SMALL, folder)[0].split()[0] == compiled


AS_ANOTHER_USER = """
import importlib, os, pkgutil, sys
import numba, scipy.linalg.cython_blas, threadpoolctl
import numgrad.targets.cpu

# What is imported later, in a place that the other user may not read.
for module in pkgutil.walk_packages(numgrad.targets.cpu.__path__, "numgrad.targets.cpu."):
    importlib.import_module(module.name)
os.setgid(12345)
os.setuid(12345)
"""


def is_open_to_others(module):
    """Whether every user may read where a module is: the key of a kernel covers sources."""
    folder = Path(importlib.util.find_spec(module).origin).parent
    return all(path.stat().st_mode & 0o005 == 0o005 for path in (folder, *folder.parents))


@exhaustive
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="becomes another user")
@pytest.mark.skipif(
    not all(map(is_open_to_others, ("numgrad", "numba", "llvmlite", "numpy"))),
    reason="another user may not read where numgrad or Numba is installed",
)
def test_a_cache_in_an_image_serves_every_user():
    """As docs/running.md says: root fills a directory and lets others read it."""
    with tempfile.TemporaryDirectory() as image:
        os.chmod(image, 0o755)
        folder = Path(image) / "kernels"
        compiled = cached(SMALL, folder)[0].split()[0]
        subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
        counts, *warned = cached(AS_ANOTHER_USER + SMALL, folder)
        assert counts.split() == ["0", compiled, "0", "True"]
        assert warned == []
        more = SMALL.replace("ng.cosh(x)", "ng.tan(x)")
        counts, *warned = cached(AS_ANOTHER_USER + more, folder)
        new, found, *_ = map(int, counts.split()[:3])
        assert 0 < new < found
        assert warned == ["CacheWarning"]


EDITED = (
    REPORT
    + """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import numgrad as ng
from scalars import outer

def bump(x):
    return outer(x) * 2.0

operator = ng.elementwise(bump)
@operator.partial("x")
def bump_dx(x):
    return outer(x)

x = ng.tensor([1.0, 2.0], requires_grad=True)
y = operator(x)
print(*y.tolist(), *ng.grad(y, x, np.ones(2))[0].tolist())
report()
"""
)


def test_edited_scalar_function_in_another_file_is_compiled_again(tmp_path):
    folder = tmp_path / "kernels"
    inner, outer = tmp_path / "inner.py", tmp_path / "scalars.py"
    outer.write_text("from inner import inner\n\ndef outer(x):\n    return inner(x) + 1.0\n")

    def values(body):
        inner.write_text(f"def inner(x):\n    return {body}\n")
        line, counts = cached(EDITED, folder, str(tmp_path), PYTHONDONTWRITEBYTECODE="1")
        return [float(word) for word in line.split()], int(counts.split()[0])

    first, compiled = values("x * 3.0")
    assert first == [8.0, 14.0, 4.0, 7.0]
    assert compiled > 0
    assert values("x * 3.0") == (first, 0)
    second, compiled = values("x * 5.0")
    assert second == [12.0, 22.0, 6.0, 11.0]
    assert compiled == 2  # the value and its partial, nothing else
