"""Judges of derivatives: against differences, other precisions, and for arrays without elements."""

import numpy as np

from numgrad.testing import gradcheck, gradgradcheck, invariants
from numgrad.testing.operators import check_precision
from numgrad.testing.subject import random_like

from .judge import (
    differentiable,
    first_in_single,
    judge,
    smooth_in_double,
    twice,
    without_elements,
)

WIDER = {"float32": "float64", "complex64": "complex128"}


@judge(smooth_in_double, when=differentiable)
def first_derivative(case):
    gradcheck(case.scenario.function, case.arrays)


@judge(smooth_in_double, when=twice)
def second_derivative(case):
    gradgradcheck(case.scenario.function, case.arrays)


@judge(first_in_single, when=differentiable)
def precision(case):
    """Values and gradients in single precision are those in double precision, rounded."""
    double = case.family.case(case.number, WIDER[case.dtype])
    check_precision(double.subject, case.subject, np.random.default_rng(0))


@judge(without_elements, when=differentiable)
def no_elements(case):
    """Gradients have the shape and dtype of the inputs, batches of them too."""
    rng, subject = np.random.default_rng(0), case.subject
    seeds = [random_like(rng, o) for o in subject.values(subject.arrays)]
    for gradient, array in zip(subject.gradients(seeds), subject.arrays, strict=True):
        assert (gradient.shape, gradient.dtype) == (array.shape, array.dtype)
    invariants.check_batched(subject, rng, (0, 2), exact=case.exact)


JUDGES = (first_derivative, second_derivative, precision, no_elements)
