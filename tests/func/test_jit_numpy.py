"""Every function of NumPy with a gradient, captured: the value and the gradient that it has
eagerly, or a refusal because it looks at elements."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import numgrad as ng

SCRIPT = Path(__file__).parents[2] / "docs" / "numpy_coverage.py"


def load():
    spec = importlib.util.spec_from_file_location("numpy_coverage", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load()
NAMED = dict(script.functions())
# Elements decide how many results there are, or NumPy computes these from them.
READS = {
    "frexp", "intersect1d", "nextafter", "real_if_close", "setdiff1d",
    "setxor1d", "trim_zeros", "union1d", "unique", "unique_all", "unique_counts",
    "unique_inverse", "unique_values",
}  # fmt: skip
OTHER_SHAPES = {"polydiv"}  # whose remainder keeps the zeros in front


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


CAPTURED = sorted(set(differentiable()) - OTHER_SHAPES)


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
        try:
            found = ng.jit(of_all)(*arrays)
        except ng.errors.CaptureError:
            assert name in READS, f"{name} cannot be captured"
            return
    assert name not in READS, f"{name} can be captured"
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12, atol=1e-12)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)
