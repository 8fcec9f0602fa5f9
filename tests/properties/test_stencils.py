"""Random stencils: whatever is rolled, cut, turned and reshaped, fused programs have the same bits.

The words are those by which a value is read at other elements than its own, mixed with arithmetic,
and an argument that all rows of a batch share.
"""

import random

import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

SHAPES = [(5,), (40,), (512,), (64, 8), (4, 8), (3, 7), (2, 1), (1, 9), (2, 5, 4)]
LAYOUTS = ["C", "F", "backward", "broadcast"]
MOST = 4000


def rolled(draw, x, c):
    return ng.roll(x, draw.randint(-4, 4), draw.randrange(x.ndim))


def neighbours(draw, x, c):
    axis = draw.randrange(x.ndim)
    return (ng.roll(x, -1, axis) - ng.roll(x, draw.randint(1, 3), axis)) * x


def turned(draw, x, c):
    return ng.flip(x, draw.randrange(x.ndim))


def cut(draw, x, c):
    axis = draw.randrange(x.ndim)
    part = slice(*draw.choice([(1, None), (None, -1), (None, None, 2), (None, None, -1)]))
    return x[(slice(None),) * axis + (part,)] if x.shape[axis] > 1 else x


def regrouped(draw, x, c):
    """Rows of other lengths, which begin anywhere."""
    flat, first, width = ng.reshape(x, (-1,)), draw.randint(0, 2), draw.randint(1, 4)
    rows = (flat.shape[0] - first) // width
    return ng.reshape(flat[first : first + rows * width], (rows, width)) if rows > 0 else x


def joined(draw, x, c):
    axis = draw.randrange(x.ndim)
    return ng.concatenate([x, ng.roll(x, 1, axis) * 0.5], axis) if x.size < MOST // 2 else x


def weighted(draw, x, c):
    """The shared argument, rolled or a rolled part of it, beside as many elements of the value."""
    part = ng.roll(c[draw.randint(0, 2) : len(c) - draw.randint(0, 2)], draw.randint(-3, 3))
    length = min(len(part), x.shape[-1])
    return x[..., :length] * part[:length]


def squared(draw, x, c):
    return x * x - 0.5 * x


def smooth(draw, x, c):
    return ng.sin(x) + x


WORDS = [
    rolled, rolled, neighbours, neighbours, turned, cut, regrouped, joined, weighted, squared,
    smooth,
]  # fmt: skip


def program(seed):
    """Return a function of a value and the shared argument, always the same for a seed."""

    def function(x, c):
        draw = random.Random(seed)
        values = [x]
        for _ in range(draw.randint(3, 9)):
            taken = values[-1] if draw.random() < 0.7 else draw.choice(values)
            made = draw.choice(WORDS)(draw, taken, c)
            if made.size:
                values.append(made)
        result = values[-1]
        for value in values[:-1]:
            if value.shape == result.shape:
                result = result + value
        return result

    return function


def laid_out(seeds, layout):
    """Return seeds with other strides; those of one broadcast row are all the same."""
    if layout == "backward":
        return seeds[..., ::-1].copy()[..., ::-1]
    if layout == "broadcast":
        return np.broadcast_to(seeds[:1], seeds.shape)
    return np.asarray(seeds, order=layout)


@pytest.mark.parametrize("seed", one_in(10, range(120)))
def test_fused_stencils_have_the_bits_of_others(seed):
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    shape, layout, debug = draw.choice(SHAPES), draw.choice(LAYOUTS), draw.random() < 0.3
    dtype = draw.choice([np.float64, np.float64, np.float32, np.complex128])
    function = program(seed)
    x = rng.standard_normal(shape).astype(dtype)
    c = rng.standard_normal(max(shape[-1], 6)).astype(dtype)
    seeds = rng.standard_normal((3, *function(ng.asarray(x), ng.asarray(c)).shape)).astype(dtype)
    seeds = laid_out(seeds, layout)

    def pulled_back(x, c, seeds):
        x, c = x.clone().requires_grad_(), c.clone().requires_grad_()
        y = function(x, c)
        options = {"allow_unused": True, "materialize_grads": True}
        return y, *ng.grad(y, [x, c], seeds, is_grads_batched=True, **options)

    before = ng.get_flags("debug")
    ng.set_flags(debug=debug)
    try:
        plain, fused = (ng.jit(pulled_back, fuse=how) for how in ("never", "now"))
        for _ in range(2):
            for a, b in zip(plain(x, c, seeds), fused(x, c, seeds), strict=True):
                np.testing.assert_array_equal(a, b)
    finally:
        ng.set_flags(**before)
