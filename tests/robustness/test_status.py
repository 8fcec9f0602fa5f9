"""A kernel that reports an error is never ignored, whatever kind of operator it belongs to."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import kernel_operator, registry
from numgrad._errors import OperatorError


class FailingTarget:
    """A target whose kernels report a status."""

    def __init__(self, status):
        self.status = status

    def kernel(self, spec):
        return self

    def call(self, *arrays):
        return np.zeros(()), self.status


@kernel_operator("(n)->()", register=False)
def first(x, out):
    out[0] = x[0]


@pytest.mark.parametrize(
    ("status", "words"), [(-1, "not C-contiguous"), (3, "raised at loop index 2")]
)
@pytest.mark.parametrize(("operator", "static"), [(first, {}), (registry["sum"], {"axes": (-1,)})])
def test_status_of_an_eager_call_is_raised(operator, static, status, words):
    with pytest.raises(OperatorError, match=words):
        operator.run(FailingTarget(status), [np.ones(4)], static)


def test_reduction_over_columns_looks_at_the_status():
    with pytest.raises(OperatorError, match="not C-contiguous"):
        registry["sum"].run(FailingTarget(-1), [np.ones((16, 16))], {"axes": (-2,)})


def test_strided_operands_are_copied_and_never_refused():
    x = np.arange(24.0).reshape(4, 6)[:, ::-2]
    np.testing.assert_array_equal(first(x).numpy(), x[:, 0])
    np.testing.assert_array_equal(ng.sum(ng.tensor(0.0) + x, axis=-1).numpy(), x.sum(axis=-1))
