"""torch on the CPU: eager, torch.func, torch.compile."""

import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from ..task import Call, Task

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))


def namespace() -> Any:
    """NumPy's names where torch has others."""
    names = {name: getattr(torch, name) for name in ("exp", "log", "sqrt", "tanh", "sum", "roll")}
    return SimpleNamespace(**names, stack=torch.stack, concatenate=torch.cat, erf=torch.special.erf)


def tensors(arrays: Any) -> list[torch.Tensor]:
    return [torch.from_numpy(a) for a in arrays]


def eager(task: Task) -> Call:
    """Record and differentiate in every call."""
    xp = namespace()
    fixed = tensors(task.arguments)

    def call() -> Any:
        arguments = tensors(task.arguments) if task.numpy_in_out else fixed
        variables = [a.detach().requires_grad_() for a in arguments[: task.wrt]]
        y = task.function(xp, *variables, *arguments[task.wrt :])
        gradients = torch.autograd.grad(y, variables, torch.ones_like(y))
        results = (y.detach(), *gradients) if task.with_value else gradients
        return [r.numpy() for r in results] if task.numpy_in_out else results

    return call


def is_grads_batched(task: Task) -> Call:
    """Record in every call, then one batched call of torch.autograd.grad."""
    xp = namespace()
    arguments = tensors(task.arguments)
    (rows,) = tensors([task.cotangents])

    def call() -> Any:
        variables = [a.detach().requires_grad_() for a in arguments[: task.wrt]]
        y = task.function(xp, *variables, *arguments[task.wrt :])
        return torch.autograd.grad(y, variables, rows, is_grads_batched=True)

    return call


def func(task: Task) -> Call:
    """torch.func.vjp, under vmap where there are rows."""
    return _call(task, _products(task))


def compiled(task: Task) -> Call:
    """torch.compile of the same transform, for these shapes alone: it is slower for any."""
    return _call(task, torch.compile(_products(task), dynamic=False))


def _products(task: Task) -> Any:
    xp = namespace()

    def products(rows: Any, *arguments: Any) -> Any:
        constants = arguments[task.wrt :]
        y, pull = torch.func.vjp(
            lambda *variables: task.function(xp, *variables, *constants), *arguments[: task.wrt]
        )
        if rows is not None:
            return torch.vmap(pull)(rows)
        gradients = pull(torch.ones_like(y))
        return (y, *gradients) if task.with_value else gradients

    return products


def _call(task: Task, products: Any) -> Call:
    fixed = tensors(task.arguments)
    rows = None if task.cotangents is None else torch.from_numpy(np.asarray(task.cotangents))

    def call() -> Any:
        if not task.numpy_in_out:
            return products(rows, *fixed)
        return [r.detach().numpy() for r in products(rows, *tensors(task.arguments))]

    return call
