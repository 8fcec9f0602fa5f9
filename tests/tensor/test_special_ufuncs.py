"""SciPy's universal functions of `scipy.special` on tensors: the values are SciPy's."""

import numpy as np
import pytest
import scipy.special

import numgrad as ng

from .test_protocols import UFUNCS_OF_SCIPY, X, Y

OF_INTEGERS = dict.fromkeys(("expn", "eval_hermite", "eval_hermitenorm", "kn", "pdtri"), (0,))
OF_INTEGERS |= {"yn": (0,), "bdtr": (1,), "bdtrc": (1,), "bdtri": (1,)}
OF_INTEGERS |= {"nbdtr": (0, 1), "nbdtrc": (0, 1), "nbdtri": (0, 1)}
EXACT = {"cotdg": lambda x: 1 / np.tan(np.radians(x))}
"""What has more digits there than SciPy's function."""


@pytest.mark.parametrize("name", UFUNCS_OF_SCIPY)
def test_special_function_of_scipy(name):
    ufunc = getattr(scipy.special, name)
    args = (X, Y, X / 4, Y / 8)[-ufunc.nin :]
    whole = OF_INTEGERS.get(name, ())
    args = [np.asarray(n + 1) if n in whole else x for n, x in enumerate(args)]
    found, expected = ufunc(*map(ng.tensor, args)), EXACT.get(name, ufunc)(*args)
    pairs = zip(found, expected, strict=True) if ufunc.nout > 1 else [(found, expected)]
    for actual, wanted in pairs:
        np.testing.assert_allclose(actual.numpy(), wanted, 1e-13, 1e-15)
