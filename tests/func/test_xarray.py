import re
from pathlib import Path

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import DetachedError

xr = pytest.importorskip("xarray")

WEIGHTS = xr.DataArray([1.0, 2.0, 3.0], dims="s", coords={"s": list("abc")})


def temperatures():
    return xr.DataArray(
        np.array([[0.5, 1.5, 2.5], [3.5, 4.5, 6.0]]), dims=("t", "s"), name="u",
        coords={"t": [10, 20], "s": list("abc")}, attrs={"units": "K"},
    )  # fmt: skip


OPERATIONS = {
    "sel": lambda d: d.sel(s="b"),
    "isel": lambda d: d.isel(t=1),
    "mean": lambda d: d.mean("t"),
    "std": lambda d: d.std("t"),
    "max": lambda d: d.max("t"),
    "quantile": lambda d: d.quantile(0.3, "t"),
    "cumsum": lambda d: d.cumsum("s"),
    "where": lambda d: d.where(d > 1, 0.0),
    "clip": lambda d: d.clip(1, 4),
    "dot": lambda d: xr.dot(d, WEIGHTS),
    "concat": lambda d: xr.concat([d, 2 * d], "t"),
    "rolling": lambda d: d.rolling(s=2, min_periods=1).mean(),
    "coarsen": lambda d: d.coarsen(t=2).mean(),
    "diff": lambda d: d.diff("t"),
    "integrate": lambda d: d.integrate("t"),
    "groupby": lambda d: d.groupby("s").sum(),
    "weighted": lambda d: d.weighted(WEIGHTS).mean("s"),
    "apply_ufunc": lambda d: xr.apply_ufunc(np.sin, d),
    "arithmetic": lambda d: np.exp(-d / 3) * WEIGHTS + d**2,
}


def test_operations_of_xarray_have_gradients():
    """Against differences along a random direction."""
    x = temperatures()
    direction = x.copy(data=np.random.default_rng(1).standard_normal(x.shape))
    for name, operation in OPERATIONS.items():

        def value(d, operation=operation):
            return (operation(d) ** 2).sum()

        gradient = ng.func.grad(value)(x)
        assert gradient.dims == x.dims
        assert gradient.attrs == x.attrs
        step = 1e-6
        difference = (value(x + step * direction) - value(x - step * direction)) / (2 * step)
        found = float((gradient * direction).sum())
        assert found == pytest.approx(float(difference), rel=1e-7, abs=1e-7), name


def test_labels_stay_with_what_is_captured():
    x = temperatures()
    gradient = ng.func.grad(lambda d: ((d * WEIGHTS).sum("s") ** 2).mean())
    captured = ng.jit(gradient)
    for given in (x, x + 1, x.assign_coords(t=[1, 2]), x):
        assert captured(given).identical(gradient(given))
        assert captured(given).t.equals(given.t)


def test_datasets():
    data = xr.Dataset({"u": temperatures(), "b": ("t", [1.0, 2.0])})
    for gradient in (ng.func.grad, lambda f: ng.jit(ng.func.grad(f))):
        found = gradient(lambda d: (d.u * d.b).sum())(data)
        assert type(found) is xr.Dataset
        np.testing.assert_allclose(found.b, [4.5, 14.0])
        np.testing.assert_allclose(found.u, [[1.0] * 3, [2.0] * 3])


def test_results_with_labels():
    x = np.array([1.0, 2.0, 3.0])
    value, jacobian = ng.func.value_and_jacobian(lambda x: WEIGHTS * x)(x)
    assert type(value) is xr.DataArray
    assert value.s.equals(WEIGHTS.s)
    assert np.array_equal(jacobian, np.diag(WEIGHTS))
    assert np.array_equal(ng.func.vmap(lambda x: WEIGHTS * x)(np.ones((2, 3))), [WEIGHTS] * 2)


def test_the_page_says_what_happens():
    page = (Path(__file__).parents[2] / "docs" / "containers.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(import numpy.*?)```", page, re.DOTALL)
    exec(compile(code, "containers.md", "exec"), {})
    x = temperatures()
    for operation in (lambda d: d.interp(t=15), lambda d: d.sortby("t", ascending=False)):
        with pytest.raises(DetachedError):
            ng.func.grad(lambda d, f=operation: f(d).sum())(x)


def test_classes_derived_from_those_of_xarray():
    class Field(xr.DataArray):
        __slots__ = ()

    field = Field(temperatures())
    gradient = ng.jit(ng.func.grad(lambda d: (d**2).sum()))(field)
    assert type(gradient) is Field
    np.testing.assert_allclose(gradient.values, 2 * field.values)


def test_results_with_arrays_of_xarray_in_containers():
    given = temperatures()

    def function(k):
        return {"scaled": given * k, "mean": ((given * k).mean("t"), given)}

    found = ng.jit(function)(2.0)
    xr.testing.assert_identical(found["scaled"], given * 2.0)
    xr.testing.assert_identical(found["mean"][1], given)
    slopes = ng.func.jacobian(function)(2.0)
    xr.testing.assert_identical(slopes["mean"][0], (given * 1.0).mean("t"))
    assert not slopes["mean"][1].any()
