"""Functions that several test modules differentiate, and what these compare with."""

import numpy as np

import numgrad as ng


def leaf(*values):
    return ng.tensor(list(values), dtype=float, requires_grad=True)


def function(forward=None, backward=None):
    """Return a Function made of two Python functions; by default it doubles its first argument."""

    class Made(ng.Function):
        @staticmethod
        def forward(ctx, *args):
            return args[0] * 2.0 if forward is None else forward(ctx, *args)

        @staticmethod
        def backward(ctx, *grads):
            return grads[0] * 2.0 if backward is None else backward(ctx, *grads)

    return Made


class Multiply(ng.Function):
    @staticmethod
    def forward(ctx, a, b, scale=1.0):
        ctx.save_for_backward(a, b)
        ctx.scale = scale
        return a * b * scale

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b * ctx.scale, g * a * ctx.scale, None


class Square(ng.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x


class Cube(ng.Function):
    """Its backward reads the output too: y / x."""

    @staticmethod
    def forward(ctx, x):
        y = x * x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y / x * 3.0


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().numpy(), expected)
