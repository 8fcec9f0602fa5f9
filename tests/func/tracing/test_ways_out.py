"""Where values leave the graph: what differentiates a function raises there, and says what to write
instead; outside of it torch's rules hold."""

import cmath
import copy
import math
import pickle
import threading

import numpy as np
import pytest

import numgrad as ng
from numgrad import func
from numgrad.errors import DetachedError

Z = np.array([0.5, 0.25])

SILENT = {  # allowed outside of a derivative, as in torch
    "item": lambda z: z[0].item(),
    "tolist": lambda z: z.tolist()[0],
    "deepcopy": lambda z: copy.deepcopy(z)[0],
    "deepcopy in a list": lambda z: copy.deepcopy([z])[0][0],
    "pickle": lambda z: pickle.loads(pickle.dumps(z))[0],
    "reduce": lambda z: z.__reduce__()[1][0][0],
    "tensor": lambda z: ng.tensor(z)[0],
    "tensor, a leaf": lambda z: ng.tensor(z, requires_grad=True)[0],
    "tensor of another dtype": lambda z: ng.tensor(z, dtype="float32")[0],
}
LOUD = {
    "float": lambda z: float(z[0]),
    "math": lambda z: math.exp(z[0]),
    "cmath": lambda z: cmath.exp(z[0]).real,
    "complex": lambda z: complex(z[0]).real,
    "int": lambda z: int(z[0]),
    "index": lambda z: range(z[0]),
    "floats": lambda z: next(map(float, z)),
    "percent": lambda z: float("%f" % z[0]),  # noqa: UP031 - which asks for a float
    "numpy": lambda z: z.numpy()[0],
    "numpy, a copy": lambda z: z.numpy(copy=True)[0],
    "require": lambda z: np.require(z)[0],
    "array of objects": lambda z: np.array([z[0], z[1]], dtype=object)[0],
    "float64": lambda z: np.float64(z[0]),
    "vectorize": lambda z: np.vectorize(math.exp)(z)[0],
    "frompyfunc": lambda z: np.frompyfunc(math.exp, 1, 1)(np.array([z[0], None])[:1])[0],
    "dlpack": lambda z: np.from_dlpack(z)[0],
    "a tensor of a list": lambda z: ng.tensor([z[0], z[1]])[0],
    "a write to a slice": lambda z: written(z, slice(0, 2))[0],
}


def written(z, key):
    out = np.zeros(3)
    rows = [out]  # the array has another name
    out[key] = z
    return rows[0]


def sum_of(door):
    return lambda z: ng.sum(z * z) * door(z)


TRANSFORMS = {
    "grad": lambda f: func.grad(f)(Z),
    "value_and_grad": lambda f: func.value_and_grad(f)(Z),
    "vjp": lambda f: func.vjp(f, Z),
    "jvp": lambda f: func.jvp(f, (Z,), (Z,)),
    "jacrev": lambda f: func.jacrev(f)(Z),
    "jacfwd": lambda f: func.jacfwd(f)(Z),
    "jacobian": lambda f: func.jacobian(f)(Z),
    "hessian": lambda f: func.hessian(f)(Z),
    "hvp": lambda f: func.hvp(f, (Z,), (Z,)),
    "jit of grad": lambda f: ng.jit(func.grad(f))(Z),
    "grad of jit": lambda f: func.grad(ng.jit(f))(Z),
    "grad of grad": lambda f: func.grad(lambda a: func.grad(lambda b: f(a) * b)(1.0))(Z),
}


@pytest.mark.parametrize("door", SILENT | LOUD)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_no_value_leaves_a_function_that_is_differentiated(transform, door):
    with pytest.raises(DetachedError):
        TRANSFORMS[transform](sum_of((SILENT | LOUD)[door]))


@pytest.mark.parametrize("door", SILENT)
def test_results_of_operations_do_not_leave_either(door):
    with pytest.raises(DetachedError):
        func.grad(lambda z: sum_of(SILENT[door])(z * 1.0))(Z)


@pytest.mark.parametrize("door", SILENT)
def test_outside_of_a_derivative_leaves_may_be_copied(door):
    z = ng.tensor(Z, requires_grad=True)
    SILENT[door](z)
    (g,) = ng.grad(z.detach().sum() * z[0] * SILENT[door](ng.tensor(Z)), z)
    assert g.shape == (2,)


@pytest.mark.parametrize("door", SILENT | LOUD)
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_what_is_detached_or_needs_no_gradient_leaves(door):
    door = (SILENT | LOUD)[door]
    if door is not LOUD["index"]:
        result = func.grad(lambda z: ng.sum(z * z) + 0.0 * door(z.detach()))(Z)
        np.testing.assert_array_equal(result, 2 * Z)
        door(ng.tensor(Z))


def test_under_no_grad_values_leave():
    def loss(z):
        with ng.no_grad():
            assert z[0].item() == float(z[0]) == z.numpy()[0] == 0.5
        return ng.sum(z * z)

    np.testing.assert_array_equal(func.grad(loss)(Z), 2 * Z)


def test_printing_and_choosing_are_no_way_out():
    seen = []

    def loss(z):
        seen.extend([f"{z[0]:.2f}", str(z), repr(z), bool(z[0] > 0), 0.5 in z])
        return ng.sum(z * z) if z[0] > 0 else ng.sum(z)

    np.testing.assert_array_equal(func.grad(loss)(Z), 2 * Z)
    assert seen[0] == "0.50"


def test_a_thread_that_differentiates_nothing_may_copy_meanwhile():
    inside, done, found = threading.Event(), threading.Event(), []

    def loss(z):
        inside.set()
        assert done.wait(30)
        return ng.sum(z * z)

    thread = threading.Thread(target=lambda: found.append(func.grad(loss)(Z)))
    thread.start()
    assert inside.wait(30)
    assert ng.tensor(Z, requires_grad=True)[0].item() == 0.5
    done.set()
    thread.join()
    np.testing.assert_array_equal(found[0], 2 * Z)


def test_a_function_that_raises_leaves_the_rules_as_they_were():
    for _ in range(2):
        with pytest.raises(DetachedError):
            func.grad(lambda z: z[0].item() * z[0])(Z)
    assert ng.tensor(2.0, requires_grad=True).item() == 2.0


def text_of(door, z):
    with pytest.raises((DetachedError, ValueError)) as raised:
        door(z)
    error = raised.value
    return str(error if isinstance(error, DetachedError) else error.__cause__)


@pytest.mark.parametrize(
    ("door", "first"),
    [
        (LOUD["math"], ".exp(z[0])"),
        (lambda z: list(map(int, z)), "ng.trunc"),
        (lambda z: list(map(complex, z)), "astype"),
        (LOUD["cmath"], ".exp(z[0])"),
        (LOUD["require"], "ng.asarray"),
        (lambda z: np.asarray(z)[0], "ng.asarray"),
        (lambda z: np.ravel([z[0]]), "numgrad as np at line|, or ng.ravel([z[0]]) here"),
        (np.int64, "x.astype('int64')"),
        (lambda z: np.asarray(z, bool), "x.astype('bool')"),
        (LOUD["a write to a slice"], "import numgrad as np at line|out = ng.zeros(3)"),
        (lambda z: written(z[0], 0), "import numgrad as np at line|out = ng.zeros(3)"),
        (LOUD["a tensor of a list"], "ng.stack"),
        (lambda z: copy.deepcopy(z * 1.0), "clone"),
        (lambda z: pickle.dumps(z * 1.0), "function returns"),
    ],
)
def test_errors_name_what_keeps_the_gradients_first(door, first):
    text = text_of(door, ng.tensor(Z, requires_grad=True))
    places = [text.find(word) for word in first.split("|") if word in text]
    assert places
    assert max(places) < text.find("detach")
    assert "no gradient is to flow" in text
    assert ".item()" not in text


def test_numbers_and_arrays_to_keep_are_named_first_outside_of_derivatives(tmp_path):
    z = ng.tensor(Z, requires_grad=True)
    for door, said in {
        "float64": r"write z\[0\]\.item\(\) for a number to keep .* or z\[0\], which computes as",
        "floats": r"at .*test_ways_out.*Write the tensor itself.* x\.item\(\) for a number to keep",
        "numpy": r"in z\.numpy\(\), at .*Write x\.detach\(\)\.numpy\(\) for its values.*tensor its",
    }.items():
        with pytest.raises(DetachedError, match=said):
            LOUD[door](z)
        with pytest.raises(DetachedError) as caught:
            func.grad(LOUD[door])(Z)
        text = str(caught.value)
        assert ".item()" not in text
        assert "for its values" not in text
    for write in (np.save, np.savez, np.savetxt, lambda path, z: z.tofile(path)):
        said = r"at .*test_ways_out.*: ?\d+.* Write x\.detach\(\)\.numpy\(\) for its values"
        with pytest.raises(DetachedError, match=said):
            write(tmp_path / "file", z)


def test_texts_are_made_outside_of_derivatives():
    z, form = ng.tensor(Z, requires_grad=True), "%5.1f"
    assert "%.2f and %d" % (z[0], 30 * z[1]) == "%.2f and %d" % (Z[0], 30 * Z[1])  # noqa: UP031
    assert form % z[0] == form % Z[0]
    with pytest.raises(DetachedError, match="for a number to keep"):
        np.float64(z[0]) % 3


def test_assertions_of_numpy_read_values():
    z = ng.tensor(Z, requires_grad=True)

    def checked(z):
        np.testing.assert_allclose(z, Z)
        np.testing.assert_array_equal(Z, z)
        np.testing.assert_array_almost_equal([z[0], 1.0], [0.5, 1.0])
        np.testing.assert_equal({"a": [z]}, {"a": [Z]})
        np.testing.assert_almost_equal(z[0], 0.5)
        np.testing.assert_array_less(z, 2 * z)
        np.testing.assert_array_max_ulp(z, Z)
        np.testing.assert_array_almost_equal_nulp(z, Z)
        ng.testing.assert_allclose(z, Z)
        with pytest.raises(AssertionError, match="Mismatched elements: 1 / 2"):
            np.testing.assert_allclose(z, [0.5, 0.5])
        return ng.sum(z * z)

    checked(z)
    np.testing.assert_array_equal(func.grad(checked)(Z), 2 * Z)


@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_what_the_errors_recommend_is_right():
    def by_stack(z):
        return ng.sum(ng.stack([np.exp(z[0]), ng.exp(z[1])]))

    def by_writing(z):
        out = ng.zeros(2)
        for i in range(2):
            out[i] = np.exp(z[i])
        return ng.sum(out)

    for loss in (by_stack, by_writing):
        np.testing.assert_allclose(func.grad(loss)(Z), np.exp(Z))
        np.testing.assert_allclose(func.hessian(loss)(Z), np.diag(np.exp(Z)))
