"""Every function of NumPy, captured: the values and the gradients that it has eagerly, or a refusal
because it looks at elements."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import numgrad as ng
from numgrad.functions.tensor.numpy_table import UFUNCS

SCRIPT = Path(__file__).parents[3] / "docs" / "numpy_coverage.py"


def load():
    spec = importlib.util.spec_from_file_location("numpy_coverage", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load()
NAMED = dict(script.functions())
REFUSED = {
    name: why
    for why, names in {
        "how many results there are depends on elements": "argwhere bincount extract flatnonzero "
        "intersect1d nonzero setdiff1d setxor1d trim_zeros union1d unique unique_all "
        "unique_counts unique_inverse unique_values",
        "the dtype of the result depends on elements": "real_if_close",
        "the result is a truth value of Python": "allclose array_equal array_equiv",
        "the result is a text": "array2string array_str",
        "it is about what lies in memory": "from_dlpack isfortran may_share_memory shares_memory",
    }.items()
    for name in names.split()
}
BY_MASK = {"extract"}  # refused for masks only
TEXTS = {"array_repr"}  # which says that elements are not computed yet


def differentiable():
    page = (SCRIPT.with_suffix(".md")).read_text("utf-8").splitlines()
    for line in page:
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        name = cells[0].strip("`")
        if len(cells) > 1 and cells[1] == "gradient" and name in NAMED:
            yield name


def own_or_theirs(name):
    """Return numgrad's function of the name, or NumPy's, which comes to it."""
    return script.own(name) or NAMED[name]


def weighed(name, args, arrays):
    """Return one number of the results for these floating arrays in the arguments."""
    given = iter(arrays)
    replaced = script.copies(args, lambda a: next(given) if a.dtype.kind in "fc" else a.copy())
    result = script.call(name, own_or_theirs(name), replaced)
    parts = [p for p in script.parts(result) if isinstance(p, ng.Tensor) and p.dtype.kind in "fc"]
    return script.total(parts)


CAPTURED = sorted(set(differentiable()) - (REFUSED.keys() - BY_MASK))


def given_arrays():
    """Yield the functions that are given arrays, with what they are given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, function in NAMED.items():
            module = getattr(script.own(name), "__module__", None) or "numgrad"
            is_numgrads = script.own(name) and module.startswith("numgrad")
            is_numgrads = is_numgrads or name in {u.__name__ for u in UFUNCS}
            if name in script.OUTSIDE or not is_numgrads:
                continue
            arrays = []
            script.copies(args := script.arguments(name, function), arrays.append)
            if arrays:
                yield name, args, arrays


GIVEN = {name: given for name, *given in given_arrays()}


def other(array):
    """Return an array of the same kind with other elements, and the same order among them."""
    if array.dtype.kind not in "fc":
        return array[::-1].copy() if array.ndim == 1 else array.copy()
    return 1.05 * array


def results(name, args, arrays):
    """Return all results for these arrays in the place of those in the arguments."""
    left = iter(arrays)
    replaced = script.copies(args, lambda _: next(left))
    if name in script.WRITING:
        replaced = (replaced[0] * 1, *replaced[1:])
    return script.call(name, own_or_theirs(name), replaced)


@pytest.mark.parametrize("name", sorted(GIVEN.keys() - TEXTS))
@pytest.mark.filterwarnings("ignore")
def test_every_array_as_an_argument(name):
    args, arrays = GIVEN[name]
    captured = ng.jit(lambda *given: results(name, args, given))
    for version in (arrays, list(map(other, arrays))):
        given = [ng.tensor(a.copy()) for a in version]
        if name in REFUSED:
            with pytest.raises(ng.errors.CaptureError, match=r"known only when|minlength"):
                captured(*given)
            continue
        found = captured(*[t.clone() for t in given])
        expected = results(name, args, given)
        for one, two in zip(script.parts(found), script.parts(expected), strict=True):
            if not isinstance(two, ng.Tensor):
                assert one == two
                continue
            assert (one.shape, one.dtype) == (two.shape, two.dtype)
            if name not in script.UNSET:
                np.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-12, atol=1e-12)


def test_no_function_is_refused_that_is_not_known():
    assert REFUSED.keys() <= GIVEN.keys()


@pytest.mark.parametrize("name", CAPTURED)
def test_value_and_gradient(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args = script.arguments(name, NAMED[name])
        arrays = [a.copy() for a in script.floats(args)]

        def function(*given):
            given = [a * 1.0 for a in given] if name in script.WRITING else given
            return weighed(name, args, given)

        of_all = ng.func.value_and_grad(function, argnums=tuple(range(len(arrays))))
        expected = of_all(*arrays)
        found = ng.jit(of_all)(*arrays)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12, atol=1e-12)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)
