"""Functions that make tensors of a number that is differentiated: its derivative, or an error."""

import numpy as np
import pytest

import numgrad as ng

PLACE = 2.0
CARRIED = {
    "arange start": lambda z: ng.arange(z, 6.5),
    "arange start, stop": lambda z: ng.arange(z, z + 3.5),
    "arange step": lambda z: ng.arange(0.0, 5.0, z),
    "arange all": lambda z: ng.arange(z, 7.2 * z, z * z / 3),
    "arange of one axis": lambda z: ng.arange(z.reshape((1,)), 6.5, z),
    "linspace": lambda z: ng.linspace(z, 3 * z, 4),
    "linspace without end": lambda z: ng.linspace(0.0, z, 4, endpoint=False),
    "linspace of lists": lambda z: ng.linspace([z, 1.0], 2 * z, 3),
    "full": lambda z: ng.full((2, 3), z),
    "full of a list": lambda z: ng.full((2,), [z, 1.0]),
    "full of nested lists": lambda z: ng.full((2, 2), [[z, 1.0], [z * z, 2.0]]),
    "full_like": lambda z: ng.full_like(np.ones(3), z),
    "full_like of a list": lambda z: ng.full_like(np.ones(2), [z, z * z]),
    "asarray": lambda z: ng.asarray([z, 1.0, [z * z][0]]),
    "asarray of a tensor": lambda z: ng.asarray(z, copy=True),
    "meshgrid": lambda z: ng.meshgrid(z, [1.0, 2.0])[0],
    "np.linspace": lambda z: np.linspace(z, 1.0, 3),
    "np.full_like": lambda z: np.full_like(ng.ones(2), z),
    "pad": lambda z: ng.pad(np.ones(2), 1, constant_values=z),
}
REFUSED = {
    "arange": lambda z: ng.arange(z),
    "arange stop": lambda z: ng.arange(0, z),
    "arange of integers": lambda z: ng.arange(z, 9.0, dtype=int),
    "linspace num": lambda z: ng.linspace(0.0, 1.0, z),
    "eye": lambda z: ng.eye(z),
    "eye columns": lambda z: ng.eye(2, z),
    "eye diagonal": lambda z: ng.eye(2, 2, z),
    "identity": lambda z: ng.identity(z),
    "zeros": lambda z: ng.zeros([z]),
    "ones": lambda z: ng.ones((z, 2)),
    "empty": lambda z: ng.empty([z]),
    "full shape": lambda z: ng.full([z], 1.0),
    "zeros_like shape": lambda z: ng.zeros_like(np.ones(2), shape=[z]),
    "from_dlpack": lambda z: ng.from_dlpack(z),
    "np.array": lambda z: np.array([z]),
    "np.full": lambda z: np.full(2, z),
    "np.arange": lambda z: np.arange(z),
    "np.arange start": lambda z: np.arange(z, 5.0),
    "tril": lambda z: ng.tril(np.ones((2, 2)), z),
    "diag": lambda z: ng.diag(np.ones(2), z),
}


@pytest.mark.parametrize("function", CARRIED.values(), ids=CARRIED)
def test_what_is_made_of_a_number_has_its_derivative(function):
    weights = np.arange(1.0, 20.0)

    def weighted(z):
        made = ng.asarray(function(z)).reshape(-1)
        return (made * weights[: made.size]).sum()

    def number(z):
        return weighted(ng.tensor(z)).item()

    step = 1e-6
    expected = (number(PLACE + step) - number(PLACE - step)) / (2 * step)
    z = ng.tensor(PLACE, requires_grad=True)
    np.testing.assert_allclose(ng.grad(weighted(z), z)[0].numpy(), expected, rtol=1e-6)
    for transform in (ng.func.grad, ng.func.jacfwd, ng.func.jacrev):
        np.testing.assert_allclose(transform(weighted)(PLACE), expected, rtol=1e-6)
    np.testing.assert_array_equal(function(z).detach().numpy(), function(ng.tensor(PLACE)).numpy())


@pytest.mark.usefixtures("numpy_as_it_is")
@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED)
def test_what_would_lose_the_derivative_is_refused(function):
    z = ng.tensor(PLACE, requires_grad=True)
    for call in (lambda: function(z), lambda: ng.func.grad(lambda z: function(z).sum())(PLACE)):
        with pytest.raises(ng.errors.DetachedError):
            call()
    with ng.no_grad():
        ng.arange(z)


def test_ranges_have_the_numbers_of_numpy():
    for dtype in (np.float64, np.float32, np.complex128):
        for start, stop, step in ((0.1, 5.3, 0.7), (-2.0, 1.0, 0.1), (5.0, 4.0, 1.0), (3, 0, -0.3)):
            z = ng.tensor(start, dtype, requires_grad=True)
            found = ng.arange(z, stop, step, dtype=dtype)
            expected = np.arange(z.detach().item(), stop, step, dtype=dtype)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found.detach().numpy(), expected)
