"""What kernels and Python share: each has a version of its own, whoever called it first."""

import math
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numba import njit, prange

import numgrad as ng
from numgrad._errors import KernelError, OperatorError
from numgrad.targets.cpu.compile.fingerprint import fingerprint
from tests.sampling import exhaustive, one_in

from .shared_functions import WAYS, calling, reciprocal

POINTS = np.array([0.0, 2.0])
WANTED = [math.inf, 0.5]  # as NumPy divides
QUIET = pytest.mark.filterwarnings("ignore:First-class function type")


def raises_in_python(helper):
    with pytest.raises(ZeroDivisionError):
        helper(0.0)
    return True


@QUIET
@pytest.mark.parametrize("way", one_in(2, WAYS), ids=lambda way: way.__name__)
def test_what_a_kernel_computes_does_not_depend_on_what_python_called_before(way):
    helper, divided = way()
    raises_in_python(helper)
    known = list(getattr(helper, "overloads", ()))
    assert divided(POINTS).tolist() == WANTED
    assert list(getattr(helper, "overloads", ())) == known
    raises_in_python(helper)


def test_what_python_computes_does_not_depend_on_what_a_kernel_called_before():
    for way in WAYS[::4]:
        helper, divided = way()
        assert divided(POINTS).tolist() == WANTED
        assert not getattr(helper, "overloads", ())
        raises_in_python(helper)


@pytest.mark.device_sample
def test_devices_have_versions_of_their_own():
    ways = ("by_name", "by_a_plain_function", "by_a_module", "by_a_named_tuple", "by_default")
    for way in WAYS:
        if way.__name__ in (*ways, "by_an_elementwise_function"):
            helper, divided = way()
            raises_in_python(helper)
            known = list(helper.overloads)
            assert divided(ng.tensor(POINTS)).tolist() == WANTED
            assert list(helper.overloads) == known


# Two numbers whose sum is not a number of float64, and the rest: exact by the order of operations,
# which fast-math forgets.


def two_sum(a, b):
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def exactly_summed(helper, **options):
    @ng.operator("(n)->()")
    @njit(**options)
    def summed(x, out):
        total, rest = 0.0, 0.0
        for i in range(x.size):
            total, lost = helper(total, x[i])
            rest += lost
        out[0] = total + rest

    return float(summed(np.array([1e16, 1.0, -1e16])))


FAST = ({"fastmath": True}, {"fastmath": {"reassoc", "nsz"}}, {})


@pytest.mark.parametrize("inline", ["never", "always"])
def test_a_helper_is_as_exact_as_it_was_declared_to_be(inline):
    helper = njit(two_sum, inline=inline)

    @njit
    def between(a, b):
        return helper(a, b)

    for options in FAST:
        assert exactly_summed(helper, **options) == 1.0
        assert exactly_summed(between, **options) == 1.0


def test_what_is_to_be_inlined_is_where_that_changes_no_option():
    from numba.core.cpu_options import FastMathOptions

    from numgrad.targets.cpu.callees import numba_passes, private_copies

    def caller(**options):
        options = {"error_model": "numpy", **options}
        made = private_copies.Caller.declared(numba_passes.CorePipeline, options)
        flags = FastMathOptions(options.get("fastmath", False)).flags
        assert made.options["fastmath"] == (flags or False)
        return made

    for fastmath in (False, True, {"nsz": True}):
        helper = njit(two_sum, inline="always", fastmath=fastmath)
        copy = private_copies.copied(helper, caller(fastmath=fastmath))
        assert copy.targetoptions.get("inline") == "always"
        other = private_copies.copied(helper, caller(fastmath={"arcp"}))
        assert "inline" not in other.targetoptions


def test_a_plain_function_has_the_options_of_each_of_its_callers():
    def plain(a, b):
        return two_sum(a, b)

    for options in FAST:
        found = exactly_summed(plain, **options)
        assert found == 1.0 or options  # it may be anything where the kernel allows it


def test_what_is_declared_holds_in_kernels():
    declared = reciprocal(error_model="python")
    with pytest.raises(OperatorError, match="division by zero"):
        calling(declared)(POINTS)
    with pytest.raises(OperatorError, match="division by zero"):
        calling(reciprocal(error_model="python"), error_model="numpy")(POINTS)
    assert calling(reciprocal(), error_model="python")(POINTS).tolist() == WANTED

    @ng.operator("(n)->(n)")
    @njit(error_model="python", fastmath={"nsz", "arcp"})
    def divided(x, out):
        for i in range(x.size):
            out[i] = 1.0 / x[i]

    with pytest.raises(OperatorError, match="division by zero"):
        divided(POINTS)


def test_indices_are_checked_in_a_helper_that_says_so_and_in_debug_mode_in_all():
    def beyond(x, i):
        return x[i + x.size]

    def first(helper):
        @ng.operator("(n)->()")
        @njit
        def read(x, out):
            out[0] = helper(x, 0)

        return read

    with pytest.raises(OperatorError, match="out of bounds"):
        first(njit(beyond, boundscheck=True))(POINTS)
    ng.set_flags(debug=True)
    try:
        with pytest.raises(OperatorError, match="out of bounds"):
            first(njit(beyond))(POINTS)
    finally:
        ng.set_flags(debug=False)


def test_a_parallel_helper_runs_on_the_thread_of_its_kernel():
    @njit(parallel=True, nogil=True)
    def total(x):
        result = 0.0
        for i in prange(x.size):
            result += x[i]
        return result

    @ng.operator("(n)->()")
    @njit
    def summed(x, out):
        out[0] = total(x)

    x = np.random.default_rng(0).standard_normal((50, 1000))
    wanted = [math.fsum(row) for row in x]
    found = summed(x).numpy()
    assert np.allclose(found, wanted, rtol=0, atol=1e-11)
    assert found.tolist() == [float(summed(row)) for row in x]
    assert not total.overloads


def test_derivatives_call_versions_of_their_own():
    helper = reciprocal()

    @njit
    def slope(x):
        return -helper(x) * helper(x)

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        for i in range(x.size):
            out[i] = helper(x[i])

    @divided.backward
    @njit
    def divided_backward(g, x, out, gx):
        for i in range(x.size):
            gx[i] = g[i] * slope(x[i])

    @divided.jvp
    @njit
    def divided_jvp(tx, x, out, tout):
        for i in range(x.size):
            tout[i] = tx[i] * slope(x[i])

    raises_in_python(helper)
    raises_in_python(slope)
    wanted = [-math.inf, -0.25]
    x = ng.tensor(POINTS, requires_grad=True)
    y = divided(x)
    assert ng.grad(y.sum(), x, retain_graph=True)[0].tolist() == wanted
    rows = ng.grad(y, x, np.eye(2) + 1.0, is_grads_batched=True)[0]
    assert rows.tolist() == [[-math.inf, -0.25], [-math.inf, -0.5]]
    assert ng.func.jvp(divided, (POINTS,), (np.ones(2),))[1].tolist() == wanted
    captured = ng.jit(ng.func.grad(lambda x: divided(x).sum()))
    assert [captured(POINTS).tolist() for _ in range(2)] == [wanted] * 2
    raises_in_python(helper)
    raises_in_python(slope)


def test_two_kernels_of_other_dtypes_and_options_share_a_helper():
    helper = reciprocal()
    for options in FAST:
        divided = calling(helper, **options)
        for dtype in (np.float32, np.float64):
            assert divided(POINTS[1:].astype(dtype)).tolist() == WANTED[1:]
    raises_in_python(helper)
    assert len(helper.overloads) == 1


def test_a_kernel_reads_the_globals_of_its_helpers_when_it_is_compiled():
    scope = {"rate": 2.0}
    exec("def scaled(x):\n    return rate * x", scope)
    for helper in (njit(scope["scaled"]), scope["scaled"]):
        for rate in (2.0, 3.0):
            scope["rate"] = rate
            assert calling(helper)(POINTS).tolist() == [0.0, 2.0 * rate]


def test_functions_that_call_one_another_are_left_as_they_are():
    @njit
    def even(x, n):
        return 1.0 / x if n == 0 else odd(x, n - 1)

    @njit
    def odd(x, n):
        return 1.0 / x if n == 0 else even(x, n - 1)

    @njit
    def divided(x):
        return even(x, 3)

    for _ in range(2):
        with pytest.raises(KernelError, match="calls itself"):
            calling(divided)(POINTS)
        assert not even.overloads or len(even.overloads) == 1
        raises_in_python(lambda x: even(x, 3))


def test_all_that_is_declared_is_part_of_the_key():
    def scaled(x, factor=2.0):
        return factor * x

    def other(x, factor=3.0):
        return factor * x

    helpers = [
        njit(scaled), njit(other), njit(scaled, fastmath=True), njit(scaled, fastmath={"nsz"}),
        njit(scaled, error_model="numpy"), njit(scaled, boundscheck=True),
        njit(scaled, inline="always"), njit("float64(float64, float64)")(scaled),
        njit("float32(float32, float32)")(scaled), njit(scaled, locals={"factor": _float32()}),
        scaled,
    ]  # fmt: skip
    assert len({fingerprint(helper) for helper in helpers}) == len(helpers)
    assert fingerprint(njit(scaled)) == fingerprint(njit(scaled))


def _float32():
    from numba import float32

    return float32


def test_implementations_by_overload_are_part_of_the_key():
    from numba.extending import overload

    def made(factor):
        def stub(x):
            raise NotImplementedError

        @overload(stub)
        def implementation(x):
            return lambda x: factor * x

        return stub

    assert fingerprint(made(2.0)) != fingerprint(made(3.0))
    assert fingerprint(made(2.0)) == fingerprint(made(2.0))
    assert [calling(made(k))(POINTS).tolist()[1] for k in (2.0, 3.0)] == [4.0, 6.0]


def test_methods_added_to_types_are_part_of_the_key():
    from numba import types
    from numba.extending import overload_attribute

    def read(x):
        return x.first_of_all

    before = fingerprint(read)

    @overload_attribute(types.Array, "first_of_all")
    def first_of_all(x):
        return lambda x: x[0]

    assert fingerprint(read) != before


def test_types_of_variables_hold_in_kernels_and_in_their_helpers():
    def third(x):
        part = x / 3.0
        return part

    @ng.operator("(n)->(n)")
    @njit(locals={"part": _float32()})
    def thirds(x, out):
        for i in range(x.size):
            part = x[i] / 3.0
            out[i] = part

    wanted = [0.0, float(np.float32(2.0 / 3.0))]
    assert thirds(POINTS).tolist() == wanted
    assert calling(njit(third, locals={"part": _float32()}))(POINTS).tolist() == wanted
    assert calling(njit(third))(POINTS).tolist() == [0.0, 2.0 / 3.0]


def test_a_kernel_that_fails_says_so_whatever_its_options_are():
    """It is compiled a second time, to be called where its exception can come out."""

    def refused(x):
        if x == 0.0:
            raise ValueError("none of zero")
        return 1.0 / x

    for options in (*FAST, {"fastmath": {"nnan": True, "ninf": False}}, {"boundscheck": True}):
        with pytest.raises(OperatorError, match="none of zero"):
            calling(njit(refused), **options)(POINTS)


PROGRAM = """
    import sys
    import numpy as np
    from numba import njit, prange
    import numgrad as ng
    from numgrad.targets.cpu.compile.disk_cache import cache_info

    @njit
    def inverse(x):
        return 1.0 / x

    def raises():
        try:
            inverse(0.0)
        except ZeroDivisionError:
            return True

    @ng.operator("(n)->(n)")
    @njit
    def divided(x, out):
        for i in range(x.size):
            out[i] = inverse(x[i])

    first = sys.argv[1] == "python" and raises()
    print(divided(np.array([0.0, 2.0])).tolist(), raises(), cache_info().compiled)
"""


@exhaustive
def test_a_process_serves_another_one_whoever_called_first(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    settings = os.environ | {"NUMGRAD_CACHE_DIR": str(tmp_path / "cache")}
    found = [
        subprocess.run(
            [sys.executable, str(script), first], env=settings, capture_output=True, text=True,
            check=True,
        ).stdout.split()
        for first in ("python", "kernel")
    ]  # fmt: skip
    assert found == [["[inf,", "0.5]", "True", compiled] for compiled in (found[0][3], "0")]
    assert int(found[0][3]) > 0
