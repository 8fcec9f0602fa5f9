"""Which values of a program are stored, and which share a kernel."""

from math import prod

import pytest

import numgrad as ng

from .fuse_tools import fused, program_of


def test_a_stretch_is_one_kernel():
    def stretch(x, y):
        z = ng.sin(x) * y
        return z + ng.exp(-z * z), z

    (one,) = fused(stretch, (50,), (50,))
    assert len(one.outputs) == 2
    assert len(one.pattern.spec.steps) == 6


def test_what_nobody_needs_is_not_computed():
    def dead(x):
        ng.exp(x)
        return x * 2.0

    assert [i.name for i in fused(dead, (5,))] == ["multiply"]


def test_a_cheap_value_is_computed_again_where_it_is_needed():
    def differences(x):
        square = x * x
        return ng.roll(square, 1) - ng.roll(square, -1)

    instructions = fused(differences, (100,))
    assert len({ref.buffer for i in instructions for ref in i.outputs}) == 1


def test_a_dear_value_is_stored():
    def once(x):
        e = ng.exp(x)
        return ng.roll(e, 1) - ng.roll(e, -1)

    names = [i.name for i in fused(once, (100,))]
    assert names[0] == "exp"
    assert not any("exp" in name for name in names[1:])


def test_the_kernel_does_not_depend_on_shapes():
    def stencil(x):
        return ng.roll(x, 1) - 2.0 * x + ng.roll(x, -1)

    specs = [{i.pattern.spec.identity for i in fused(stencil, (n,))} for n in (7, 100, 1000)]
    assert specs[0] == specs[1] == specs[2]


def test_overwritten_elements_keep_their_order():
    def write(x):
        y = x * 1.0
        y[::2] = x[::2] * 3.0
        return y + x

    fused(write, (11,))


@pytest.mark.parametrize("shape", [(4, 1), (1, 5), (3, 4), (2, 3, 4)])
def test_broadcasts_and_transposes(shape):
    def mixed(x, row):
        z = ng.swapaxes(x, -1, -2) * 2.0
        return ng.swapaxes(z, -1, -2) * row + (x - row)[..., ::-1], z + 1.0

    fused(mixed, shape, shape[-1:])


def joined_wave(e, h, steps):
    """A wave between two walls: either field is changed by the differences of the other one."""
    for _ in range(steps):
        h = h + 0.5 * (e[1:] - e[:-1])
        inner = e[1:-1] + 0.25 * (h[1:] - h[:-1])
        e = ng.concatenate([e[:1], inner, e[-1:]])
    return e


def written_flux(u, k, steps):
    """Heat along a rod by its fluxes, written into the inner cells."""
    u = u * 1.0
    for _ in range(steps):
        flux = k * (u[1:] - u[:-1])
        u[1:-1] += flux[1:] - flux[:-1]
    return u


@pytest.mark.parametrize("march", [joined_wave, written_flux])
def test_a_chain_of_stages_computes_no_value_many_times(march):
    def long(a, b):
        return march(a, b, 40)

    shapes = (40,), (39,)
    before, after = program_of(long, *shapes).instructions, fused(long, *shapes)
    assert work(after) < 2 * work(before)  # once 8 and 4.6 times as much


def work(instructions):
    """Return how many elements are computed, by kernels of one step and of many."""
    return sum([prod(i.pattern.loop) * steps_of(i.pattern.spec) for i in instructions])


def steps_of(spec):
    return len(spec.steps) if hasattr(spec, "steps") else 1


def test_a_division_that_two_kernels_need_is_stored():
    def shares(x, y):
        ratio = x / y
        total = ratio.sum(axis=1, keepdims=True)
        return ratio - total, total

    instructions = fused(shares, (50, 20), (50, 20))
    assert sum("divide" in i.name for i in instructions) == 1


def test_a_product_that_two_kernels_need_is_computed_twice():
    def shares(x, y):
        product = x * y
        total = product.sum(axis=1, keepdims=True)
        return product - total * x, total

    instructions = fused(shares, (50, 20), (50, 20))
    assert not any(len(i.outputs) > 1 for i in instructions)


def test_columns_of_a_matrix_share_a_kernel_with_vectors():
    def columns(x, y):
        return ng.stack([x * y, x + y], axis=1), ng.sin(x) * y

    (one,) = fused(columns, (90,), (90,))
    assert len(one.outputs) == 3
    assert one.pattern.loop == (90,)


def test_rows_of_one_element_and_numbers_share_a_kernel():
    def few(x):
        total = x.sum()
        return total * 2.0, ng.reshape(total, (1, 1)) * ng.exp(total)

    names = [i.name for i in fused(few, (700,))]
    assert sum("sum" not in name for name in names) == 1
