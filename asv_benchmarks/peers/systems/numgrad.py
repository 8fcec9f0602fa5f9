"""numgrad: recorded and run at once, or captured; unfused and fused."""

from types import SimpleNamespace
from typing import Any

import numgrad as ng

from ..task import Call, MissingError, Task


def namespace() -> Any:
    """NumPy's names, and erf."""
    names = {name: getattr(ng, name) for name in dir(ng) if not name.startswith("_")}
    return SimpleNamespace(**{**names, "erf": ng.special.erf})


def eager(task: Task) -> Call:
    """Record and differentiate in every call."""
    xp = namespace()
    constants = [ng.tensor(a) for a in task.constants]

    def call() -> Any:
        variables = [ng.tensor(a, requires_grad=True) for a in task.variables]
        y = task.function(xp, *variables, *constants)
        if task.cotangents is not None:
            return ng.grad(y, variables, grad_outputs=task.cotangents, is_grads_batched=True)
        gradients = ng.grad(y.sum() if y.ndim else y, variables)
        return (y.detach(), *gradients) if task.with_value else gradients

    return call


def batched(task: Task) -> Call:
    """Record the function and take all rows in one batched pass, both in every call."""
    return eager(task)


def batched_unfused(task: Task) -> Call:
    _set_fuse("never")
    return eager(task)


def batched_fused(task: Task) -> Call:
    _set_fuse("now")
    return eager(task)


def captured(task: Task, fuse: str = "auto") -> Call:
    """One captured program of the value and the gradients."""
    if not hasattr(ng, "jit"):
        raise MissingError("ng.jit missing")
    call = ng.jit(_products(task), fuse=fuse)
    return lambda: call(*task.arguments)


def captured_unfused(task: Task) -> Call:
    return captured(task, "never")


def captured_fused(task: Task) -> Call:
    return captured(task, "now")


def _products(task: Task) -> Any:
    """The function to capture: value and gradients, or the gradients alone."""
    xp = namespace()
    chosen = tuple(range(task.wrt))

    def value(*arguments: Any) -> Any:
        y = task.function(xp, *arguments)
        total = y.sum() if y.ndim else y
        return (total, y) if task.with_value else total

    gradient = ng.func.grad(value, argnums=chosen, has_aux=task.with_value)
    if not task.with_value:
        return gradient

    def both(*arguments: Any) -> Any:
        gradients, y = gradient(*arguments)
        return y, *gradients

    return both


def _set_fuse(how: str) -> None:
    if "fuse" not in ng.get_flags():
        if how == "never":
            return  # without the setting nothing is fused
        raise MissingError("the flag `fuse` is missing")
    ng.set_flags(fuse=how)
