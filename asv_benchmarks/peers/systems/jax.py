"""JAX on the CPU with 64-bit floats."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np

from ..task import Call, Task

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


class Namespace:
    """jax.numpy, and erf."""

    erf = staticmethod(jax.scipy.special.erf)

    def __getattr__(self, name: str) -> Any:
        return getattr(jnp, name)


def jitted(task: Task) -> Call:
    """jit of vjp, under vmap where there are rows."""
    return run(task, jax.jit(products(task)))


def eager(task: Task) -> Call:
    """The same without jit."""
    return run(task, products(task))


def jacfwd(task: Task) -> Call:
    """jit of jacfwd: where the rows are those of the identity it is the same matrix."""
    xp = Namespace()
    jacobian = jax.jacfwd(lambda x, *constants: task.function(xp, x, *constants))
    return run(task, jax.jit(lambda rows, *arguments: jacobian(*arguments)))


def products(task: Task) -> Any:
    """Value and vector-Jacobian products as a function of the rows and the arguments."""
    xp = Namespace()

    def function(rows: Any, *arguments: Any) -> Any:
        constants = arguments[task.wrt :]
        y, pull = jax.vjp(
            lambda *variables: task.function(xp, *variables, *constants), *arguments[: task.wrt]
        )
        if rows is not None:
            return jax.vmap(pull)(rows)
        gradients = pull(jnp.ones_like(y))
        return (y, *gradients) if task.with_value else gradients

    return function


def run(task: Task, function: Any) -> Call:
    """Return the call that waits for its results."""
    fixed = [jnp.asarray(a) for a in task.arguments]
    rows = None if task.cotangents is None else jnp.asarray(task.cotangents)

    def call() -> Any:
        if not task.numpy_in_out:
            return jax.block_until_ready(function(rows, *fixed))
        return [np.asarray(r) for r in function(rows, *task.arguments)]

    return call
