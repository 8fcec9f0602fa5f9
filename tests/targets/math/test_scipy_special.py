"""Functions of SciPy in kernels: how they are found, called and kept, and where they run."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.special as sp

import numgrad as ng
from numgrad._declare.foreign import ForeignFunction
from numgrad.operators.special.formulas import TABLE
from numgrad.targets.cpu.math import scipy_special
from numgrad.targets.cpu.platform import object_loader
from numgrad.targets.cuda.launch.host_steps import needs_host

X = np.linspace(0.1, 5, 50)


def test_a_function_that_scipy_does_not_have_is_an_error():
    with pytest.raises(ImportError, match="no function no_such_thing of type 'double"):
        object_loader.provide([ForeignFunction("no_such_thing", "dd").symbol])


def test_the_c_signature_says_which_of_the_types_of_a_function_is_meant():
    assert scipy_special.signature("dz", "z", 0).startswith("__pyx_t_double_complex (double, __pyx")
    assert scipy_special.signature("d", "dd", 2) == "void (double, double *, double *)"


def test_it_cannot_be_called_from_python():
    with pytest.raises(TypeError, match=r"scipy\.special\.jv is called in kernels only"):
        ForeignFunction("jv", "dd")(1.0, 2.0)


def test_programs_and_captured_functions_call_it_too():
    f = ng.jit(lambda x: ng.special.jv(1.0, x) * ng.sin(x) + ng.special.k0(x))
    for _ in range(2):
        np.testing.assert_allclose(f(X), sp.jv(1, X) * np.sin(X) + sp.k0(X), 1e-15)


def test_threads_share_large_arrays():
    x = np.linspace(0.1, 30, 300_000)
    np.testing.assert_array_equal(ng.special.exp1(x).numpy(), sp.exp1(x))


def test_errors_are_not_raised_and_need_no_lock():
    """At poles SciPy reports an error: by default nobody hears of it, in any thread."""
    found = []

    def work():
        found.append(ng.special.gamma(np.full(100_000, -1.0)).numpy())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.isnan(values).all() for values in found)


@pytest.mark.parametrize("order", [np.nan, np.inf, 1e300])
def test_an_order_that_is_no_integer_gives_nan(order):
    assert np.isnan(ng.special.yn(order, 1.0).item())
    assert np.isnan(ng.special.spherical_jn(order, 1.0 + 1j).item())


def test_single_precision_is_rounded_once():
    x = X.astype(np.float32)
    found = ng.special.jv(np.float32(1.5), x)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.numpy(), sp.jv(1.5, x.astype(float)).astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint16, bool, np.int32, np.int64])
@pytest.mark.parametrize("name", ["gamma", "j0", "ndtr", "entr", "erfcx", "digamma", "ellipk"])
def test_short_dtypes_become_what_scipy_makes_of_them(name, dtype):
    x = np.ones(3, dtype)
    scipys = sp.psi if name == "digamma" else getattr(sp, name)
    assert getattr(ng.special, name)(x).dtype == scipys(x).dtype


def test_a_device_leaves_them_to_the_host():
    double = np.dtype(float)
    assert needs_host(TABLE["jv"].spec(double))
    assert needs_host(TABLE["jv"].partials[1].operator.spec(double))
    assert not needs_host(TABLE["entr"].spec(double))


def test_another_process_compiles_nothing(tmp_path):
    code = (
        "import numgrad as ng, numpy as np, sys; y = ng.special.jv(1.5, np.ones(3)); "
        "print(y.numpy()[0], 'numba' in sys.modules)"
    )
    env = {"NUMGRAD_CACHE_DIR": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(sys.path)}

    def run():
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    first, second = run(), run()
    assert first == [f"{sp.jv(1.5, 1.0)}", "True"]
    assert second == [first[0], "False"]
