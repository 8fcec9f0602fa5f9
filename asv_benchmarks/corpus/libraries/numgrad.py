"""numgrad: recorded at each call, by `ng.func`, captured, and captured with fused kernels."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import numgrad as ng

from ..program import GRADIENT, HESSIAN, HVP, JACOBIAN, Problem
from . import Call
from .numpy import LOOPS


def softmax(x: Any, axis: int) -> Any:
    shifted = ng.exp(x - ng.max(x, axis=axis, keepdims=True))
    return shifted / ng.sum(shifted, axis=axis, keepdims=True)


def copy(x: Any) -> Any:
    return x.clone()


def add_at(array: Any, key: Any, value: Any) -> Any:
    ng.add.at(array, key, value)
    return array


def running_maximum(x: Any) -> Any:
    return ng.maximum.accumulate(x, axis=0)


def namespace() -> Any:
    """NumPy's names, as numgrad has them."""
    names = {name: getattr(ng, name) for name in dir(ng) if not name.startswith("_")}
    return SimpleNamespace(
        **{**names, **LOOPS, "copy": copy},
        erf=ng.special.erf,
        norm=ng.linalg.norm,
        softmax=softmax,
        add_at=add_at,
        running_maximum=running_maximum,
    )


def tensors(problem: Problem, constants: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return constants as an eager program holds them."""
    if problem.program.as_written:
        return constants
    return tuple(ng.tensor(c) if is_float_array(c) else c for c in constants)


def is_float_array(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "f"


def ways(problem: Problem) -> dict[str, Call]:
    """Return the calls of all ways."""
    found = {
        "eager": eager(problem),
        "captured": captured(problem, "never"),
        "fused": captured(problem, "now"),
    }
    if problem.program.derivative == GRADIENT:
        found["func"] = func(problem)
    return found


def eager(problem: Problem) -> Call:
    """Recorded and differentiated by `ng.grad` in each call."""
    text = partial(problem.program.of("numgrad"), namespace())
    leaves = [ng.tensor(x, requires_grad=True) for x in problem.variables]
    constants_of = _constants(problem)
    if problem.program.derivative == HESSIAN:
        hessian = ng.func.hessian(lambda *x: text(*x, *constants_of(0)))
        # Those of torch.autograd.functional are in no graph either.
        points = [leaf.detach() for leaf in leaves]
        return lambda k: (None, hessian(*points))
    after = _derivative(problem)

    def call(k: int) -> Any:
        y = text(*leaves, *constants_of(k))
        return y, after(y, leaves)

    return call


def _constants(problem: Problem) -> Any:
    """Return a function of the number of a call that returns its constants."""
    if problem.program.varying is not None:
        return lambda k: tensors(problem, problem.constants_at(k))
    constants = tensors(problem, problem.constants)
    return lambda k: constants


def _derivative(problem: Problem) -> Any:
    """Return a function of the result and the leaves: the derivatives."""
    if problem.program.derivative == GRADIENT:
        return ng.grad
    if problem.program.derivative == HVP:
        return lambda y, x: ng.grad(ng.grad(y, x, create_graph=True), x, problem.directions)

    def products(y: Any, x: Any) -> Any:
        return ng.grad(y, x, rows(y.shape), is_grads_batched=True)

    rows = _remembered_rows(problem)
    return products


def _remembered_rows(problem: Problem) -> Any:
    known: dict[Any, np.ndarray] = {}

    def rows(shape: Any) -> np.ndarray:
        if shape not in known:
            known[shape] = problem.rows(shape)
        return known[shape]

    return rows


def func(problem: Problem) -> Call:
    """`ng.func.grad` of a function that closes over its constants; arrays in, arrays out."""
    text = partial(problem.program.of("numgrad"), namespace())
    constants_of = _constants(problem)
    chosen = tuple(range(problem.program.wrt))
    if problem.program.varying is None:
        constants = constants_of(0)
        gradient = ng.func.grad(lambda *x: text(*x, *constants), argnums=chosen)
        return lambda k: (None, gradient(*problem.variables))
    gradient = ng.func.grad(text, argnums=chosen)
    return lambda k: (None, gradient(*problem.variables, *constants_of(k)))


def captured(problem: Problem, fuse: str) -> Call:
    """One program of the value and the derivatives; arrays in, arrays out."""
    text = partial(problem.program.of("numgrad"), namespace())
    if problem.program.as_written and problem.program.varying is None:
        constants = problem.constants
        transformed = _transform(problem, lambda *x: text(*x, *constants), 0)
        call = ng.jit(transformed, fuse=fuse)
        return lambda k: call(*problem.variables)
    call = ng.jit(_transform(problem, text, len(problem.constants_at(0))), fuse=fuse)
    if problem.program.varying is None:
        given = *problem.variables, *problem.constants
        return lambda k: call(*given)
    return lambda k: call(*problem.variables, *problem.constants_at(k))


def _transform(problem: Problem, text: Any, constants: int) -> Any:
    """Return the function of variables and constants that is captured."""
    program = problem.program
    chosen = tuple(range(program.wrt))
    if program.derivative == GRADIENT:
        both = ng.func.value_and_grad(text, argnums=chosen)
        return both
    if program.derivative == HESSIAN:
        hessian = ng.func.hessian(text)
        return lambda *given: (None, hessian(*given))
    if program.derivative == JACOBIAN:
        return partial(_products, text, program.wrt, _remembered_rows(problem))

    def hvp(*given: Any) -> Any:
        fixed = given[program.wrt :]
        return ng.func.hvp(lambda *x: text(*x, *fixed), given[: program.wrt], problem.directions)

    return hvp


def _products(text: Any, wrt: int, rows: Any, *given: Any) -> Any:
    leaves = [x.detach().requires_grad_() for x in given[:wrt]]
    y = text(*leaves, *given[wrt:])
    return y, ng.grad(y, leaves, rows(y.shape), is_grads_batched=True)
