import copy
import functools
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pytest

import numgrad as ng

cloudpickle = pytest.importorskip("cloudpickle")

X = np.array([1.0, 2.0, 3.0])


def cubes(x):
    return (x**3).sum()


def waves(x):
    return ng.sin(x) * x + ng.cos(x)


@ng.jit
def scaled(x, scale=2.0):
    return scale * x


@ng.func.vmap
@ng.func.grad
def slopes(x):
    return x**2


class Square(ng.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @ng.once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return ng.tensor(2.0 * x.numpy() * g.numpy())


class Model:
    rate = 2.0

    @functools.partial(ng.jit, static_argnums=0)
    def step(self, x):
        return x * self.rate

    @ng.func.value_and_grad
    def energy(self):
        return self**2


def squares(x):
    return Square.apply(x).sum()


def transformed(f):
    """Return what the transforms make of a function that returns a scalar."""
    return [
        ng.func.grad(f), ng.func.value_and_grad(f, argnums=(0,)), ng.func.jacobian(f),
        ng.func.grad_and_value(f),
        ng.func.jacfwd(f), ng.func.jacrev(f), ng.func.value_and_jacobian(f),
        ng.func.hessian(f), ng.func.vmap(ng.func.grad(f)), ng.jit(f),
        ng.jit(ng.func.grad(f), fuse="never", static_argnames=()), ng.func.grad(ng.jit(f)),
        ng.no_grad(f), ng.set_grad_enabled(True)(f),
    ]  # fmt: skip


def points(functions):
    """Return arguments for them: vmap takes samples."""
    return [np.stack([X, 2 * X]) if "vmap" in repr(f) else X for f in functions]


def require_equal(found, expected):
    if isinstance(expected, tuple):
        for a, b in zip(found, expected, strict=True):
            require_equal(a, b)
    else:
        np.testing.assert_array_equal(found, expected)


def require_travels(functions, there_and_back):
    for function, x in zip(functions, points(functions), strict=True):
        copy = there_and_back(function)
        assert copy is not function
        assert type(copy) is type(function)
        assert copy.__name__ == function.__name__
        require_equal(copy(x), function(x))


def test_what_transforms_return_is_pickled_where_the_function_is():
    require_travels(transformed(cubes), lambda f: pickle.loads(pickle.dumps(f)))


def test_what_transforms_return_of_local_functions_is_pickled_by_cloudpickle():
    power = 3
    functions = transformed(lambda x: (x**power).sum())
    require_travels(functions, lambda f: pickle.loads(cloudpickle.dumps(f)))
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(functions[0])


def test_decorated_functions_are_found_by_their_names():
    for dumps in (pickle.dumps, cloudpickle.dumps):
        for function in (scaled, slopes, Square.backward, Square):
            assert pickle.loads(dumps(function)) is function


def test_copies_are_the_function_itself():
    for function in (scaled, ng.func.grad(cubes)):
        assert copy.copy(function) is function
        assert copy.deepcopy([function])[0] is function


def test_a_captured_function_arrives_uncaptured():
    function = ng.jit(lambda x: x * 3.0)
    function(X)
    arrived = pickle.loads(cloudpickle.dumps(function))
    assert "0 recordings" in repr(arrived)
    assert np.array_equal(arrived(X), 3 * X)
    assert "1 recording," in repr(arrived)


def test_operators_of_users_travel_after_use():
    class Cube(ng.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @ng.once_differentiable
        def backward(ctx, g):
            return ctx.saved_tensors[0] ** 2 * 3 * g

    def cubed(x):
        return Cube.apply(x).sum()

    gradient = ng.func.grad(cubed)
    gradient(X)
    arrived = pickle.loads(cloudpickle.dumps(gradient))
    assert np.array_equal(arrived(X), gradient(X))


def test_prepared_sparse_problems_travel():
    prepared = ng.sparse.prepare(lambda x: x[1:] * x[:-1], X)
    arrived = pickle.loads(cloudpickle.dumps(prepared))
    assert np.array_equal(arrived(X).toarray(), prepared(X).toarray())


def test_methods_stay_methods():
    model = Model()
    assert np.array_equal(model.step(X), 2 * X)
    assert np.array_equal(Model.step(model, X), 2 * X)
    assert pickle.loads(pickle.dumps(Model.energy)) is Model.energy
    assert float(pickle.loads(cloudpickle.dumps(Model.energy))(3.0)[1]) == 6.0


def test_texts():
    function = ng.jit(cubes)
    assert repr(function) == "<jit of cubes: 0 recordings>"
    function(X)
    function(X[:2])
    assert repr(function) == "<jit of cubes: 2 recordings, not fused>"
    assert repr(ng.func.grad(function)).startswith("<grad of cubes>")
    fused = ng.jit(waves, fuse="now")
    fused(X)
    assert repr(fused) == "<jit of waves: 1 recording, fused>"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_pool_of_processes(method):
    functions = [ng.func.grad(cubes), ng.jit(ng.func.grad(cubes)), scaled, ng.func.grad(squares)]
    with multiprocessing.get_context(method).Pool(1) as pool:
        for function in functions:
            (found,) = pool.map(function, [X])
            require_equal(found, function(X))


def test_loky():
    joblib = pytest.importorskip("joblib")
    power = 3

    @ng.jit
    def gradient(x):
        return ng.func.grad(lambda x: (x**power).sum())(x)

    found = joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(f)(X) for f in (gradient, ng.func.grad(lambda x: (x**power).sum()))
    )
    require_equal(tuple(found), (3 * X**2, 3 * X**2))


def test_dask():
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    power = 3

    @ng.jit
    def cubed(x):
        return (x**power).sum()

    class Cube(ng.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**power

        @staticmethod
        @ng.once_differentiable
        def backward(ctx, g):
            return ctx.saved_tensors[0] ** (power - 1) * power * g

    cubed(X)  # what is recorded here stays here
    prepared = ng.sparse.prepare(lambda x: x[1:] * x[:-1], X)
    diagonal = ng.sparse.diags(X)
    functions = [
        cubed, ng.func.grad(cubed), ng.jit(ng.func.grad(cubed)), ng.func.hessian(cubed),
        ng.func.vmap(ng.func.grad(lambda x: x**power)), ng.no_grad(lambda x: x * power),
        ng.func.grad(lambda x: Cube.apply(x).sum()), lambda x: prepared(x).toarray(),
        lambda x: (diagonal @ x).numpy(),
    ]  # fmt: skip
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(processes=True, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = client.gather([client.submit(f, X) for f in functions])
        require_equal(tuple(found), tuple(f(X) for f in functions))
        (delayed,) = dask.compute(dask.delayed(ng.func.value_and_grad(cubed))(X))
        require_equal(delayed, (cubed(X), power * X**2))
        weights = ng.tensor(X, requires_grad=True)
        arrived = client.submit(lambda w: (w, ng.sparse.diags(w * 2).detach()), weights).result()
        assert arrived[0].requires_grad
        require_equal(arrived[0].detach().numpy(), X)
        require_equal(arrived[1].toarray().numpy(), np.diag(2 * X))


PROGRAM = """
import multiprocessing, pickle
import numpy as np
import numgrad as ng

@ng.jit
def doubled(x):
    return 2 * x

@ng.func.grad
def slope(x):
    return (x**3).sum()

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for f in (doubled, slope):
            print(pool.map(f, [np.ones(2)])[0].tolist())
    import cloudpickle
    print(b"__main__" in cloudpickle.dumps(doubled), pickle.loads(cloudpickle.dumps(doubled)))
    open("travels", "wb").write(cloudpickle.dumps((doubled, slope)))
"""


def test_decorated_functions_of_a_script(tmp_path):
    """Spawned processes read the script again; others need the function itself."""
    (tmp_path / "script.py").write_text(PROGRAM)

    def run(*command):
        return subprocess.run(
            [sys.executable, *command], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    assert run("script.py").splitlines()[:2] == ["[2.0, 2.0]", "[3.0, 3.0]"]
    other = "import pickle; f, g = pickle.load(open('travels', 'rb')); print(f(1.0), g(1.0))"
    assert run("-c", other) == "2.0 3.0\n"
