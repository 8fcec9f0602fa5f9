"""NumPy alone as the reference: exact directional derivatives by complex steps."""

import numpy as np
import scipy.special

STEP = 1e-30


class Namespace:
    """NumPy, and SciPy's erf."""

    erf = staticmethod(scipy.special.erf)

    def __getattr__(self, name):
        return getattr(np, name)


def directional(task, directions):
    """Derivative of the outputs along one direction for each variable."""
    moved = [a + 1j * STEP * d for a, d in zip(task.variables, directions, strict=True)]
    return task.function(Namespace(), *moved, *task.constants).imag / STEP


def expected(task, directions):
    """What the gradients give along the directions: one number, or one per row."""
    change = directional(task, directions)
    if task.cotangents is None:
        return change.sum()
    return _per_row(task.cotangents, change)


def found(task, gradients, directions):
    """The same from gradients."""
    pairs = zip(gradients, directions, strict=True)
    if task.cotangents is None:
        return sum((g * d).sum() for g, d in pairs)
    return sum(_per_row(g, d) for g, d in pairs)


def _per_row(rows, values):
    return (rows * values).reshape(len(rows), -1).sum(axis=1)
