"""What is known of Numba without importing it is what Numba says."""

import threading
from functools import cache

import pytest

from numgrad.targets.cpu.compile import routines
from numgrad.targets.cpu.platform import numba_setup
from tests.sampling import one_in

from ...robustness.processes import run

GRADIENT = """
import sys
import numpy as np
import numgrad as ng

x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = ng.stack([x[0] * x[1], np.sin(x[2]), x[0] / x[2]])
(jacobian,) = ng.grad(y, x, grad_outputs=np.eye(3), is_grads_batched=True)
value = ng.jit(lambda x: ng.cumsum(ng.exp(x)))(np.ones(3))
assert np.allclose(value, np.e * np.arange(1, 4))
print("numba" in sys.modules, jacobian.numpy()[1, 2] == -0.9899924966004454)
"""

SETTINGS = """
import numba
from numgrad.targets.cpu.platform import numba_setup as toolchain
{}
print(toolchain.code_settings())
"""

KEY = """
{}
from numgrad.targets.cpu.compile import compiler
print(compiler.make_key(abs, (), ()))
"""


def test_what_is_in_the_cache_runs_without_numba(tmp_path):
    folder = str(tmp_path / "kernels")
    assert run(GRADIENT, NUMGRAD_CACHE_DIR=folder) == "True True"
    assert run(GRADIENT, NUMGRAD_CACHE_DIR=folder) == "False True"


@cache
def key(imported, **settings):
    return run(KEY.format(imported), **settings)


def test_keys_do_not_depend_on_whether_numba_is_imported():
    assert key("") == key("import numba")


@pytest.mark.parametrize("imported", one_in(2, ["", "import numba"]))
def test_keys_depend_on_numbas_settings(imported):
    assert key(imported, NUMBA_OPT="1") != key(imported)
    assert key(imported, NUMBA_CPU_NAME="generic") != key(imported)


def test_settings_changed_in_the_process_are_noticed():
    assert run(SETTINGS.format("")) == "('default',)"
    changed = run(SETTINGS.format("numba.config.LOOP_VECTORIZE = 0"))
    assert changed not in ("('default',)", run(SETTINGS.format(""), NUMBA_OPT="2"))


def test_settings_known_without_numba_are_numbas():
    source = """
    from numgrad.targets.cpu.platform import numba_setup as toolchain
    names = ("CPU_NAME", "CPU_FEATURES", "ENABLE_AVX", "NUMBA_NUM_THREADS")
    early = [getattr(toolchain.config, name) for name in names]
    assert not toolchain.is_loaded()
    import numba
    print(early == [getattr(numba.config, name) for name in names])
    """
    assert run(source) == "True"


def test_versions_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "somepackage").mkdir()
    (tmp_path / "somepackage" / "__init__.py").touch()
    file = tmp_path / "somepackage" / "version.py"
    seen = {numba_setup.version_of("somepackage", "version.py")}
    for version in ("1", "2"):
        file.write_text(f"version = '{version}'")
        seen.add(numba_setup.version_of("somepackage", "version.py"))
    assert seen >= {"none"}
    assert len(seen) == 3
    assert numba_setup.version_of("numpy", "no such file").startswith("2")


def test_the_compiler_lock_is_numbas_too():
    routines.address_of("ufunc.ufunc_loop", "trampoline")
    from numba.core.compiler_lock import global_compiler_lock

    free = []

    def probe():
        free.append(global_compiler_lock._lock.acquire(blocking=False))
        if free[-1]:
            global_compiler_lock._lock.release()

    with numba_setup.compiler_lock, numba_setup.compiler_lock:
        _in_thread(probe)
    _in_thread(probe)
    assert free == [False, True]


def _in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
