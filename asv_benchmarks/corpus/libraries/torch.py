"""torch on the CPU: recorded at each call, torch.func, and torch.compile."""

import os
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from ..program import GRADIENT, HESSIAN, HVP, Problem
from . import Call
from .numpy import LOOPS, value

torch.set_default_dtype(torch.float64)
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))

PADS = {"constant": "constant", "wrap": "circular", "edge": "replicate"}


def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    return torch.roll(x, shift) if axis is None else torch.roll(x, shift, axis)


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return torch.var(x, dim=axis, correction=0, keepdim=keepdims)


def largest(x: Any, axis: Any = (), keepdims: bool = False) -> Any:
    return torch.amax(x, axis, keepdims)


def maximum(x: Any, y: Any) -> Any:
    return torch.maximum(x, y) if isinstance(y, torch.Tensor) else torch.clamp(x, min=y)


def pad(x: Any, width: Any, mode: str = "constant") -> Any:
    """Pad the last axis of a vector, or both axes of a matrix where it is filled with zeros."""
    around = (width, width) if isinstance(width, int) else width
    if mode == "constant":
        return functional.pad(x, around * x.ndim)
    return functional.pad(x[None], around, PADS[mode])[0]


def logsumexp(x: Any, axis: int, keepdims: bool = False) -> Any:
    return torch.logsumexp(x, axis, keepdims)


def norm(x: Any, axis: Any = None) -> Any:
    return torch.linalg.vector_norm(x, dim=axis)


def cumsum(x: Any, axis: int = 0) -> Any:
    return torch.cumsum(x, axis)


def cumprod(x: Any, axis: int = 0) -> Any:
    return torch.cumprod(x, axis)


def sort(x: Any) -> Any:
    return torch.sort(x)[0]


def split(x: Any, parts: int, axis: int = 0) -> Any:
    return torch.chunk(x, parts, axis)


def take(x: Any, i: Any, axis: int = 0) -> Any:
    return torch.index_select(x, axis, i)


def clone(x: Any) -> Any:
    return x.clone()


def add_at(array: Any, key: Any, value: Any) -> Any:
    """Add to rows or elements as torch does fastest."""
    if isinstance(key, tuple):
        return array.index_put(key, value, accumulate=True)
    return array.index_add(0, key, value)


def running_maximum(x: Any) -> Any:
    return torch.cummax(x, 0)[0]


def namespace() -> Any:
    """NumPy's names in torch's best spelling."""
    names = {n: getattr(torch, n) for n in dir(torch) if not n.startswith("_")}
    ours = {
        **LOOPS, "roll": roll, "var": var, "max": largest, "maximum": maximum, "pad": pad,
        "logsumexp": logsumexp, "norm": norm, "cumsum": cumsum, "cumprod": cumprod, "sort": sort,
        "split": split, "take": take, "copy": clone, "add_at": add_at, "concatenate": torch.cat,
        "expand_dims": torch.unsqueeze, "take_along_axis": torch.take_along_dim,
        "cross": torch.linalg.cross, "unstack": torch.unbind, "erf": torch.special.erf,
        "power": torch.pow, "abs": torch.abs, "bool": torch.bool, "repeat": torch.repeat_interleave,
        "running_maximum": running_maximum,
    }  # fmt: skip
    return SimpleNamespace(**{**names, **ours})


def native(constant: Any) -> Any:
    """Return a constant as torch likes it best: tensors for arrays and lists, Python's numbers."""
    if isinstance(constant, (np.ndarray, list)):
        array = np.asarray(constant)
        if array.dtype == bool:  # torch refuses to subtract with these
            array = array.astype(float)
        return array.item() if array.ndim == 0 else torch.from_numpy(array.copy())
    return constant.item() if isinstance(constant, np.generic) else constant


def _constants(problem: Problem) -> Any:
    if problem.program.varying is not None:
        return lambda k: tuple(native(c) for c in problem.constants_at(k))
    constants = tuple(native(c) for c in problem.constants)
    return lambda k: constants


def ways(problem: Problem) -> dict[str, Call]:
    return {"torch": eager(problem), "torch.func": func(problem)}


def eager(problem: Problem) -> Call:
    """Recorded and differentiated by torch.autograd.grad in each call."""
    text = partial(problem.program.of("torch"), namespace())
    leaves = tuple(torch.from_numpy(x.copy()).requires_grad_() for x in problem.variables)
    constants_of = _constants(problem)
    after = _derivative(problem)
    if problem.program.derivative == HESSIAN:
        vectorized = partial(torch.autograd.functional.hessian, vectorize=True)
        return lambda k: (None, vectorized(lambda x: text(x, *constants_of(k)), leaves[0]))

    def call(k: int) -> Any:
        y = text(*leaves, *constants_of(k))
        return y, after(y, leaves)

    return call


def _derivative(problem: Problem) -> Any:
    grad = torch.autograd.grad
    if problem.program.derivative == GRADIENT:
        return grad
    if problem.program.derivative == HVP:
        directions = [torch.from_numpy(v) for v in problem.directions]
        return lambda y, x: grad(grad(y, x, create_graph=True), x, directions)
    rows: dict[Any, Any] = {}

    def products(y: Any, x: Any) -> Any:
        if y.shape not in rows:
            rows[y.shape] = torch.from_numpy(problem.rows(tuple(y.shape)))
        return grad(y, x, rows[y.shape], is_grads_batched=True)

    return products


def func(problem: Problem) -> Call:
    """The transforms of torch.func, in each call."""
    return _call(problem, _transform(problem))


def compiled(problem: Problem) -> dict[str, Call]:
    """torch.compile of the transforms, for these shapes alone."""
    torch._dynamo.reset()
    return {"torch.compile": _call(problem, torch.compile(_transform(problem), dynamic=False))}


def _call(problem: Problem, function: Any) -> Call:
    variables = tuple(torch.from_numpy(x.copy()) for x in problem.variables)
    constants_of = _constants(problem)
    return lambda k: function(variables, constants_of(k))


def _transform(problem: Problem) -> Any:
    """Return a function of variables and constants: the value and the derivatives."""
    program = problem.program
    text = partial(program.of("torch"), namespace())
    chosen = tuple(range(program.wrt))
    if program.derivative == GRADIENT:
        both = torch.func.grad_and_value(text, argnums=chosen)
        return lambda x, constants: both(*x, *constants)[::-1]
    if program.derivative == HESSIAN:
        hessian = torch.func.hessian(text)
        return lambda x, constants: (None, hessian(*x, *constants))
    if program.derivative == HVP:
        return partial(_hvp, text, tuple(torch.from_numpy(v) for v in problem.directions))
    rows = torch.from_numpy(problem.rows(_shape(problem)))

    def products(x: Any, constants: Any) -> Any:
        y, pull = torch.func.vjp(lambda *x: text(*x, *constants), *x)
        return y, torch.vmap(pull)(rows)

    return products


def _hvp(text: Any, tangents: Any, x: Any, constants: Any) -> Any:
    chosen = tuple(range(len(x)))
    gradient = torch.func.grad(lambda *x: text(*x, *constants), argnums=chosen)
    return None, torch.func.jvp(gradient, x, tangents)[1]


def _shape(problem: Problem) -> tuple[int, ...]:
    return value(problem).shape
