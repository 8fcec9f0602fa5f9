"""Exception and warning classes: one per situation, each also of the classes that other libraries
raise.

A program ported from torch, paddle, chainer or paddle.fluid keeps its ``except`` clauses: every
class derives from all the built-in exceptions that the originals raise in the same situation.
"""

import numpy as np


class NumgradError(Exception):
    """Base of every error that numgrad defines."""


class UnusedInputError(NumgradError, RuntimeError, ValueError):
    """An input of ``grad`` does not contribute to the outputs and ``allow_unused`` is false."""


class NoGradError(NumgradError, RuntimeError):
    """A tensor that does not require grad was given where a gradient is needed."""


class ImplicitGradError(NumgradError, RuntimeError):
    """A seed was left out where only a scalar output may leave it out."""


class GradShapeError(NumgradError, RuntimeError, ValueError):
    """A seed or an initial input gradient has another shape than its tensor."""


class BatchedShapeError(GradShapeError):
    """A seed lacks the leading batch dimension that ``is_grads_batched=True`` asks for."""


class GradDtypeError(NumgradError, RuntimeError, TypeError):
    """A real seed was given for a complex output, or a complex one for a real output."""


class GradCountError(NumgradError, RuntimeError, ValueError, AssertionError):
    """The number of seeds is not the number of outputs."""


class EmptyInputError(NumgradError, RuntimeError, ValueError, AssertionError):
    """No inputs were given."""


class FreedGraphError(NumgradError, RuntimeError):
    """A pass needs values that an earlier pass has freed."""


class InplaceError(NumgradError, RuntimeError):
    """A value that a derivative needs was overwritten, a write cannot be tracked, or the array of a
    tensor has been replaced by one that does not fit."""


class LeafInplaceError(InplaceError, ValueError):
    """A leaf that requires grad was written in place."""


class DuplicateError(NumgradError, RuntimeError, AssertionError):
    """A tensor was given twice where the original API forbids it."""


class ArgTypeError(NumgradError, TypeError, AssertionError):
    """An argument has the wrong Python type."""


class PlaceTypeError(ArgTypeError, RuntimeError):
    """Something that has no place in the graph was given where a tensor or an edge is needed."""


class DtypeError(NumgradError, TypeError, RuntimeError):
    """A dtype cannot do what was asked of it; integers cannot require grad."""


class DeviceError(NumgradError, RuntimeError, ValueError):
    """Tensors of different devices met, or there is no such device."""


class ClusterError(NumgradError, RuntimeError):
    """A cluster has gone away, or cannot run its tasks, before all results had come."""


class HookError(NumgradError, RuntimeError):
    """A hook returned something that cannot replace a gradient."""


class HookTypeError(HookError, TypeError):
    """A hook returned something that is no tensor."""


class CustomGradError(NumgradError, RuntimeError):
    """A user's backward function returned the wrong number or kind of gradients."""


class DetachedError(NumgradError, RuntimeError):
    """A tensor that requires grad was to become a number or a NumPy array, which would cut the
    graph silently."""


class CaptureError(DetachedError):
    """A function does what cannot be captured by ``ng.jit``: it needs a value before there is one,
    or changes something outside."""


class KernelError(NumgradError, TypeError):
    """A kernel cannot be compiled for the given dtypes."""


class OperatorError(NumgradError, RuntimeError):
    """A user's kernel raised, or disagrees with its declaration."""


class DeclarationError(OperatorError, TypeError, ValueError):
    """A declaration of an operator contradicts itself, or its kernel the signature."""


class OperatorCallError(OperatorError, TypeError, ValueError):
    """A user's operator was called with the wrong number, shapes or kinds of arguments."""


class MatrixError(OperatorError, np.linalg.LinAlgError):
    """A matrix is singular, or not positive definite, where it must not be."""


class NonFiniteError(NumgradError, FloatingPointError, ValueError):
    """A derivative is infinite or NaN where the function itself is finite."""


class ConvergenceError(NumgradError, RuntimeError):
    """A solver has found no solution, so that there is none to differentiate."""


class NotDifferentiableError(NumgradError, NotImplementedError):
    """An operator has no derivative (of this order)."""


class AnomalyError(NumgradError, RuntimeError):
    """A backward pass produced a NaN or an infinity while anomaly detection was on."""


class GradcheckError(NumgradError, RuntimeError, AssertionError):
    """A derivative disagrees with its numerical value, or a check of `numgrad.testing` has
    failed."""


class SparsityError(NumgradError, ValueError):
    """A pattern lacks entries that a Jacobian has, or has more than a sparse matrix can have."""


class GraphError(NumgradError, RuntimeError):
    """An internal invariant of a graph or a program is violated."""


class CacheWarning(UserWarning, RuntimeWarning):
    """The kernel cache on disk cannot be used; new kernels are kept in memory only."""
