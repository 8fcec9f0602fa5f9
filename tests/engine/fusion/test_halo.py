"""Periodic stencils: one loop over a whole axis, whatever is rolled, with halos at its ends."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.fusion import policy
from numgrad.engine.fusion.assemble import fuse

from .fuse_tools import fused


def slope(x):
    return (ng.roll(x, -1) - ng.roll(x, 2)) * ng.roll(x, 1) - x + 8.0


def steps(x, count=3):
    """Steps of the midpoint rule for the system of Lorenz."""
    for _ in range(count):
        x = x + 0.01 * slope(x + 0.005 * slope(x))
    return x


def both(function):
    """Call a function with nothing fused, then with everything fused; return the results."""
    results = []
    for how in ("never", "now"):
        before = ng.get_flags("fuse")
        ng.set_flags(fuse=how)
        try:
            results.append(function())
        finally:
            ng.set_flags(**before)
    return results


def same_products(function, x, seeds):
    """Check that a batched pass gives the same bits with nothing fused and with everything."""

    def products():
        leaf = ng.tensor(x, requires_grad=True)
        (result,) = ng.grad(function(leaf), leaf, grad_outputs=seeds, is_grads_batched=True)
        return result.numpy()

    one, other = both(products)
    np.testing.assert_array_equal(one, other)


def loops(instructions):
    return [i.pattern.loop for i in instructions if i.name != "copy"]


def test_the_stages_of_an_integrator_are_one_kernel_each():
    instructions = fused(steps, (64,))
    stages = [i for i in instructions if i.name != "copy"]
    # Reading the argument goes around the end of the ring: in parts, by one kernel.
    inside = [i for i in stages if i.pattern.loop == (64,)]
    assert len(inside) == 5
    around = stages[: len(stages) - len(inside)]
    assert {i.pattern.spec for i in around} == {around[0].pattern.spec}
    assert sum(i.pattern.loop[0] for i in around) == 64
    assert len({i.pattern.spec for i in stages}) < len(inside)


def test_a_value_that_is_read_around_its_end_has_a_halo():
    instructions = fused(lambda x: slope(slope(ng.exp(x))), (40,))
    (first, *rest) = instructions
    assert first.name == "exp" or "exp" in first.name
    assert {i.pattern.loop for i in rest if i.name == "copy"} == {(2, 2)}
    assert set(loops(rest)) == {(40,)}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 512])
def test_rings_of_all_sizes(size):
    fused(lambda x: steps(ng.exp(x), 2), (size,))
    fused(lambda x: ng.roll(ng.roll(ng.exp(x), size // 2), 1) * x, (size,))


@pytest.mark.parametrize("shape", [(6, 8), (16, 3), (1, 9), (5, 1), (2, 12, 7)])
@pytest.mark.parametrize("axes", [(0,), (-1,), (0, -1)])
def test_rings_along_several_axes(shape, axes):
    def laplacian(x):
        total = -4.0 * x
        for axis in axes:
            total = total + ng.roll(x, 1, axis) + ng.roll(x, -1, axis)
        return total

    fused(lambda x: laplacian(laplacian(ng.sin(x)) * x), shape)


def test_a_part_of_a_ring_is_read_elsewhere():
    def parts(x):
        y = ng.roll(ng.exp(x), 3)
        z = ng.roll(y, -1) * y
        return z[2:30] * 2.0 + y[:28], z[5] + x, ng.sum(z), z[::-1] + y

    fused(parts, (32,))


def test_rings_beside_other_pieces():
    def mixed(x):
        y = ng.exp(x)
        ends = ng.concatenate([y[:1], ng.roll(y, 1)[1:-1], 2.0 * y[-1:]])
        return ng.roll(ends, 2) - ends

    fused(mixed, (24,))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.int32])
def test_rings_of_dtypes(dtype):
    x = ng.tensor(np.arange(40).astype(dtype))
    call = ng.jit(lambda x: ng.roll(x * x, 1) + ng.roll(x * x, -2) * x, fuse="now")
    again = ng.jit(lambda x: ng.roll(x * x, 1) + ng.roll(x * x, -2) * x, fuse="never")
    np.testing.assert_array_equal(np.asarray(call(x)), np.asarray(again(x)))


@pytest.mark.parametrize("rows", [1, 5, 16, 40])
def test_batched_passes(rows):
    x = np.linspace(7.0, 9.0, 48)
    seeds = np.random.default_rng(0).standard_normal((rows, 48))

    same_products(steps, x, seeds)


@pytest.mark.parametrize("shape", [(8, 8), (2, 16, 12), (4, 1, 6)])
def test_batched_passes_over_grids(shape):
    rng = np.random.default_rng(1)
    state, seeds = rng.standard_normal(shape), rng.standard_normal((9, *shape))

    def product(w):
        return w * (ng.roll(w, 1, -1) - ng.roll(w, -1, -1)) + w * ng.roll(w, 2, 0)

    same_products(product, state, seeds)


@pytest.mark.short_ways
def test_what_all_rows_share_is_rotated_once(monkeypatch):
    x = np.linspace(7.0, 9.0, 512)  # rows of 4096 bytes, which are staggered too
    seeds = np.random.default_rng(2).standard_normal((24, 512))
    made = []

    def spy(*given):
        made.append(fuse(*given))
        return made[-1]

    monkeypatch.setattr(policy, "fuse", spy)

    same_products(steps, x, seeds)
    copies = [i for i in made[-1].instructions if i.name == "copy" and not i.rows]
    # Six slopes, each with three coefficients that are read elsewhere, each copied in two parts.
    assert len(copies) == 36
    stages = [i for i in made[-1].instructions if i.name != "copy"]
    assert {i.pattern.loop for i in stages} == {(512,)}
    # All but what is read from beside begins at a cache line.
    assert {offset % 64 for i in stages for offset in i.offsets} == {0, 56, 8, 16}


def test_the_steps_of_a_simulation_and_its_gradient_are_one_kernel_each():
    def misfit(u, k):
        zero = ng.zeros(1)
        for _ in range(12):
            flux = ng.concatenate([zero, k * (u[1:] - u[:-1]), zero])
            u = u + 0.4 * (flux[1:] - flux[:-1])
        return ng.sum(u * u)

    def gradient(u, k):
        return ng.func.grad(misfit, argnums=(1,))(u, k)

    call = ng.jit(gradient, fuse="now")
    u, k = np.linspace(0.0, 1.0, 200) ** 2, np.linspace(0.5, 1.0, 199)
    expected = ng.jit(gradient, fuse="never")(u, k)
    np.testing.assert_array_equal(call(u, k)[0], expected[0])
    with ng.display.profile() as profile:
        call(u, k)
    inner = [row for row in profile.rows if row.name.startswith("fused")]
    # Twelve steps each way, of which the first and the last differ, with one call for both ends.
    assert sum(row.calls for row in inner) <= 2 * (12 + 12) + 4


@pytest.mark.parametrize("shape", [(4,), (1, 7, 4), (2, 3, 5), (40,)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_seeds_whose_rows_lie_between_each_other(shape, order):
    rng = np.random.default_rng(0)
    before = ng.get_flags("fuse")
    ng.set_flags(fuse="now")
    try:
        for _ in range(3):  # the first pass leaves a plan, which takes seeds as they lie
            x = ng.tensor(rng.random(shape), requires_grad=True)
            seeds = np.asarray(rng.random((3, *shape)), order=order)
            y = x * x - ng.roll(x * x, -1, -1)
            (found,) = ng.grad(y, x, seeds, is_grads_batched=True)
            expected = 2 * x.detach().numpy() * (seeds - np.roll(seeds, 1, -1))
            np.testing.assert_allclose(found.numpy(), expected, 1e-12, 1e-15)
    finally:
        ng.set_flags(**before)


@pytest.mark.parametrize("size", [8, 40, 300])
def test_a_ring_that_is_read_backwards(size):
    rng = np.random.default_rng(0)
    numbers, mask = rng.standard_normal(size), np.arange(size) % 2 == 0
    seeds = rng.standard_normal((3, mask.sum()))

    def jacobian(x, seeds):
        x = x.clone().requires_grad_()
        turned = x[::-1]
        y = ng.roll(turned * turned, 2)[mask]
        return y, ng.grad(y, x, seeds, is_grads_batched=True)[0]

    value, result = ng.jit(jacobian, fuse="now")(numbers, seeds)
    np.testing.assert_array_equal(value, np.roll(numbers[::-1] ** 2, 2)[mask])
    full = np.zeros((3, size))
    full[:, mask] = seeds
    expected = 2 * numbers * np.roll(full, -2, 1)[:, ::-1]
    np.testing.assert_allclose(result, expected, 1e-12, 1e-15)


@pytest.mark.parametrize("ensemble", [False, True])
def test_walks_that_leave_a_ring_together(ensemble):
    """Each axis of the reshaped view stays in a row of the ring, both together do not."""
    rng = np.random.default_rng(0)
    x, c = rng.standard_normal((3, 4, 8)), rng.standard_normal((3, 2))

    def function(x, c):
        y = ng.sin(ng.exp(x))
        pairs = ng.reshape(ng.reshape(y, (-1,))[1:9], (4, 2))
        return ng.roll(y, 1, 1) + ng.roll(y, -1, 1), ng.sin(pairs * c)

    if not ensemble:
        x, c = x[0], c[0]
    plain = ng.jit(function, fuse="never", ensemble=ensemble)(x, c)
    fused = ng.jit(function, fuse="now", ensemble=ensemble)(x, c)
    for found, expected in zip(fused, plain, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("start", [0, 1, 2])
@pytest.mark.parametrize("size", [8, 40])
def test_a_ring_within_a_value_that_all_rows_share(size, start):
    rng = np.random.default_rng(0)
    x, c = rng.standard_normal(size), rng.standard_normal(size + 2)
    seeds = rng.standard_normal((5, size))

    def function(x, c, seeds):
        x = x.clone().requires_grad_()
        part = c[start : start + size]
        y = x * ng.roll(part, 2) + x * ng.roll(part, -1)
        return ng.grad(y, x, seeds, is_grads_batched=True)[0]

    found = ng.jit(function, fuse="now")(x, c, seeds)
    part = c[start : start + size]
    expected = seeds * np.roll(part, 2) + seeds * np.roll(part, -1)
    np.testing.assert_allclose(found, expected, 1e-14, 1e-14)


def test_a_ring_too_short_for_a_halo_in_rows_of_a_page():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 64, 8))

    def function(x):
        y = ng.sin(ng.exp(x))
        return ng.roll(y, 3, 1) * ng.roll(y, -3, 1), y[1:, 2:] * ng.roll(y, 3, 1)[1:, 2:]

    def rolled(x):
        y = ng.sin(ng.exp(x))
        z = ng.roll(y, 1, 0) + ng.roll(y, -1, 0)
        w = ng.cos(z)
        return w * ng.roll(w, 3, 1) + ng.roll(w, -3, 1), z

    for one in (function, rolled):
        plain = ng.jit(one, fuse="never", ensemble=True)(x)
        fused = ng.jit(one, fuse="now", ensemble=True)(x)
        for found, expected in zip(fused, plain, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize(("size", "step"), [(16, 3), (511, 2), (512, 2), (64, 5)])
def test_a_ring_of_some_elements_of_a_value(size, step, dtype):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(size).astype(dtype)
    seeds = rng.standard_normal((3, len(x[::step]))).astype(dtype)

    def jacobian(x, seeds):
        x = x.clone().requires_grad_()
        values = x * ng.roll(x, 2)
        some = values[::step]
        y = ng.roll(some, 3) * some
        return y, ng.grad(y, x, seeds, is_grads_batched=True)[0]

    ng.set_flags(debug=True)
    try:
        plain, fused = (ng.jit(jacobian, fuse=how)(x, seeds) for how in ("never", "now"))
    finally:
        ng.set_flags(debug=False)
    for a, b in zip(plain, fused, strict=True):
        np.testing.assert_array_equal(a, b)
