"""Values of tensors go to files by NumPy's functions; gradients do not."""

import numpy as np
import pytest

import numgrad as ng

X = np.array([[1.5, -2.0, 0.25], [3.0, 1e-3, 7.0]])

WRITERS = {
    "save": (lambda file, t: np.save(file, t), np.load),
    "ng.save": (lambda file, t: ng.save(file, t, allow_pickle=False), np.load),
    "savez": (lambda file, t: np.savez(file, t), lambda file: np.load(file)["arr_0"]),
    "savez by name": (lambda file, t: ng.savez(file, x=t), lambda file: np.load(file)["x"]),
    "savez of a list": (
        lambda file, t: np.savez(file, t, x=list(t)), lambda file: np.load(file)["x"],
    ),
    "savez_compressed": (
        lambda file, t: np.savez_compressed(file, n=3, x=t, allow_pickle=False),
        lambda file: np.load(file)["x"],
    ),
    "savetxt": (lambda file, t: np.savetxt(file, t), np.loadtxt),
    "savetxt with options": (
        lambda file, t: ng.savetxt(file, t, "%.4f", delimiter=","),
        lambda file: np.loadtxt(file, delimiter=","),
    ),
    "savetxt of columns": (lambda file, t: ng.savetxt(file, ng.c_[t]), np.loadtxt),
}  # fmt: skip
WRITERS = {name: pytest.param(*pair, id=name) for name, pair in WRITERS.items()}


@pytest.mark.parametrize(("write", "read"), WRITERS.values())
def test_files_hold_what_numpy_would_write(write, read, tmp_path):
    for name, values in (("array", X), ("tensor", ng.tensor(X))):
        write(tmp_path / name, values)
    array, tensor = sorted(tmp_path.iterdir())  # NumPy completes the names
    np.testing.assert_array_equal(read(tensor), X)
    np.testing.assert_array_equal(read(array), read(tensor))


@pytest.mark.parametrize(("write", "read"), WRITERS.values())
def test_gradients_are_not_lost_in_files(write, read, tmp_path):
    def function(x):
        write(tmp_path / "file", x * 2)
        return x.sum()

    with pytest.raises(ng.errors.DetachedError, match=r"^np\.save.* A file has no gradients"):
        ng.func.grad(function)(X)
    with pytest.raises(ng.errors.CaptureError):
        ng.jit(function)(X)
    write(tmp_path / "file", ng.tensor(X, requires_grad=True).detach())
