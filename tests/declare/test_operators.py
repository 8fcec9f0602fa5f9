"""Operators declared by users: values, dtypes, broadcasting, static parameters, protocols."""

import copy
import inspect
import pickle
import threading

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad._errors import OperatorError

from .user_operators import cubes, cubes_backward, gather, polar, power_wave, rhs, rhs_of_tensors

pytestmark = pytest.mark.device_sample

U = np.linspace(0.5, 1.5, 6)
THETA = np.array([1.5, 0.3])


def test_value():
    assert np.allclose(rhs(U, THETA).numpy(), 1.5 * U - 0.3 * U * U * np.roll(U, 1))


@pytest.mark.parametrize("lead", [(), (1,), (4,), (2, 3), (0,)])
def test_leading_axes_broadcast(lead):
    u = np.random.default_rng(0).random((*lead, 6))
    result = rhs(u, THETA).numpy()
    assert result.shape == (*lead, 6)
    assert np.allclose(result, 1.5 * u - 0.3 * u * u * np.roll(u, 1, -1))


def test_strided_reversed_and_read_only_inputs():
    base = np.random.default_rng(1).random((6, 4))
    frozen = np.ascontiguousarray(base.T)
    frozen.flags.writeable = False
    wanted = rhs(frozen, THETA).numpy()
    assert (rhs(base.T, THETA).numpy() == wanted).all()
    assert (rhs(np.ascontiguousarray(base.T[:, ::-1])[:, ::-1], THETA).numpy() == wanted).all()


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (np.float32, np.float32, np.float32),
        (np.float32, np.float64, np.float64),
        (np.float16, np.float16, np.float16),
        (np.float16, np.float32, np.float32),
        (np.complex64, np.float64, np.complex128),
        (np.int64, np.float32, np.float32),
    ],
)
def test_floating_inputs_are_promoted_together(first, second, result):
    assert rhs(np.ones(3, first), np.ones(2, second)).dtype == result


def test_python_numbers_are_weak():
    x = ng.tensor(np.float32(2.0), requires_grad=True)
    y = power_wave(x, 1.0)
    assert y.dtype == np.float32
    assert ng.grad(y, x)[0].dtype == np.float32


def test_half_precision_gradient():
    u = ng.tensor(U.astype(np.float16), requires_grad=True)
    (g,) = ng.grad(rhs(u, THETA.astype(np.float16)).sum(), u)
    assert g.dtype == np.float16
    x = ng.tensor(U, requires_grad=True)
    assert np.allclose(g.numpy(), ng.grad(rhs(x, THETA).sum(), x)[0].numpy(), rtol=1e-2)


def test_several_outputs():
    x = ng.tensor([3.0, 4.0], requires_grad=True)
    length, unit = polar(x)
    assert length.item() == 5.0
    assert np.allclose(unit.detach().numpy(), [0.6, 0.8])
    (g,) = ng.grad([length, unit], x, [np.array(1.0), np.array([1.0, 0.0])], retain_graph=True)
    assert np.allclose(g.numpy(), [0.6 + 0.128, 0.8 - 0.096])
    (alone,) = ng.grad(length, x)
    assert np.allclose(alone.numpy(), [0.6, 0.8])


def test_integer_input_and_static_parameters():
    x = ng.tensor(np.arange(4.0), requires_grad=True)
    index = np.array([3, 1, 3])
    y = gather(x, index, scale=2.0, mode="square")
    assert y.tolist() == [18.0, 2.0, 18.0]
    assert ng.grad(y.sum(), x)[0].tolist() == [0.0, 4.0, 0.0, 24.0]
    assert gather(x, index, scale=3).tolist() == [9.0, 3.0, 9.0]


def test_numbers_among_static_parameters_need_no_new_kernel():
    x = np.arange(3.0)
    gather(x, np.array([0]), scale=0.5)
    compiled = len(gather._specs)
    for scale in (1.5, 2.5, -1.0):
        assert gather(x, np.array([2]), scale=scale).item() == 2.0 * scale
    assert len(gather._specs) == compiled


def test_float_static_parameter_has_the_dtype_of_the_kernel():
    @ng.operator("()->()", static=("k",))
    @njit
    def scaled(x, k):
        return x * k + k

    x = np.float32(1.1)
    assert scaled(x, k=0.1).numpy() == x * np.float32(0.1) + np.float32(0.1)


def test_constants_of_equal_value_and_other_type_are_other_kernels():
    @ng.operator("()->()", static=("k",))
    @njit
    def divided(x, k):
        return x + k[0] // 2

    assert divided(0.0, k=(3,)).item() == 1.0
    assert divided(0.0, k=(3.5,)).item() == 1.0
    assert divided(0.0, k=(True,)).item() == 0.0


def test_integer_input_that_is_not_declared_gets_no_gradient():
    @ng.operator("(),()->()")
    @njit
    def repeat(x, n):
        total = 0.0
        for _ in range(int(n)):
            total += x
        return total

    @repeat.backward
    @njit
    def repeat_backward(g, x, n, out):
        return g * n, g * x

    x = ng.tensor(2.0, requires_grad=True)
    assert repeat(x, 3).item() == 6.0
    assert ng.grad(repeat(x, np.array([1, 4])).sum(), x)[0].item() == 5.0


def test_integer_result():
    @ng.operator("(n)->(),()", results=(None, "int64"))
    @njit
    def largest(x, value, place):
        place[0] = 0
        for i in range(x.size):
            if x[i] > x[place[0]]:
                place[0] = i
        value[0] = x[place[0]]

    @largest.backward
    @njit
    def largest_backward(g, x, value, place, gx):
        gx[:] = 0.0
        gx[place] = g

    x = ng.tensor([1.0, 5.0, 2.0], requires_grad=True)
    value, place = largest(x)
    assert (value.item(), place.item(), place.dtype) == (5.0, 1, np.int64)
    assert not place.requires_grad
    assert ng.grad(value, x)[0].tolist() == [0.0, 1.0, 0.0]


def test_operators_of_one_name_do_not_collide():
    def make(k):
        @ng.operator("()->()", name="same")
        @njit
        def kernel(x):
            return k * x

        return kernel

    two, three = make(2.0), make(3.0)
    assert (two(1.0).item(), three(1.0).item()) == (2.0, 3.0)


def test_closures_over_arrays_and_compiled_callees():
    table = np.array([1.0, 10.0, 100.0])

    @njit
    def lookup(i):
        return table[i]

    def plain(i):
        return 2.0 * lookup(i)

    @ng.operator("(n)->(n)")
    def kernel(x, out):
        for i in range(x.size):
            out[i] = plain(i) * x[i] + table[0]

    assert kernel(np.ones(3)).tolist() == [3.0, 21.0, 201.0]


def test_python_protocols():
    assert pickle.loads(pickle.dumps(rhs)) is rhs
    assert pickle.loads(pickle.dumps(cubes_backward)) is cubes_backward
    assert copy.deepcopy(rhs) is rhs
    assert repr(rhs) == "<operator rhs (n),(p)->(n)>"
    assert repr(polar) == "<operator norm_and_unit (n)->(),(n)>"
    assert "right-hand side" in rhs.__doc__
    assert str(inspect.signature(gather)) == "(x, index, /, *, scale, mode='plain')"


def test_agrees_with_a_function_of_tensors():
    u, theta = ng.tensor(U, requires_grad=True), ng.tensor(THETA, requires_grad=True)
    seed = np.random.default_rng(2).random(6)
    ours = ng.grad(rhs(u, theta), [u, theta], seed)
    theirs = ng.grad(rhs_of_tensors(u, theta), [u, theta], seed)
    for a, b in zip(ours, theirs, strict=True):
        assert np.allclose(a.numpy(), b.numpy(), rtol=1e-13)


def test_eight_threads():
    @ng.operator("(n)->(n)")
    @njit
    def picky(x, out):
        for i in range(x.size):
            if x[i] < 0:
                raise ValueError("negative")
            out[i] = 2.0 * x[i]

    wrong = []

    def use(sign):
        x = sign * np.arange(1.0, 4.0)
        for _ in range(200):
            try:
                picky(x)
                raised = False
            except OperatorError:
                raised = True
            if raised != (sign < 0):
                wrong.append(sign)

    threads = [threading.Thread(target=use, args=(1 - 2 * (n % 2),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_cube_operator_with_scalar_output():
    assert cubes(np.ones((2, 3))).tolist() == [3.0, 3.0]


def first_of_four(a, b, c, d, out):
    out[:] = a
    out[0] += b[0] + c[0] + d[0]


def test_programs_of_many_long_core_dimensions():
    operator = ng.operator("(n),(m),(k),(l)->(n)")(njit(first_of_four))
    arrays = [np.full(1 << n, float(n)) for n in (16, 17, 18, 19)]
    result = ng.jit(lambda *args: operator(*args))(*arrays)
    assert result[:2].tolist() == [70.0, 16.0]
