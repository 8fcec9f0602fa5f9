"""JAX on the CPU with 64-bit floats: jit of its transforms, loops as scans."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
from jax import lax

from ..program import GRADIENT, HESSIAN, HVP, Problem
from . import Call
from .numpy import value

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


def put(array: Any, key: Any, value: Any) -> Any:
    return array.at[key].set(value)


def accumulate(array: Any, key: Any, value: Any) -> Any:
    return array.at[key].add(value)


def scale(array: Any, key: Any, value: Any) -> Any:
    return array.at[key].multiply(value)


def iterate(step: Callable[[Any], Any], state: Any, count: int) -> Any:
    return lax.scan(lambda s, _: (step(s), None), state, None, length=count)[0]


def fold(step: Callable[[Any, Any], Any], state: Any, xs: Any) -> Any:
    state = jax.tree.map(lambda s: jnp.asarray(s, dtype=float), state)
    return lax.scan(lambda s, x: (step(s, x), None), state, xs)[0]


def collect(step: Callable[[Any, Any], Any], state: Any, xs: Any) -> Any:
    def both(state: Any, x: Any) -> Any:
        after = step(state, x)
        return after, after

    state = jax.tree.map(lambda s: jnp.asarray(s, dtype=float), state)
    return lax.scan(both, state, xs)[1]


def stack(arrays: Any, axis: int = 0) -> Any:
    """Return the array that `collect` has already made, or stack a list."""
    return arrays if isinstance(arrays, jax.Array) else jnp.stack(arrays, axis)


def namespace() -> Any:
    """NumPy's names in JAX."""
    names = {n: getattr(jnp, n) for n in dir(jnp) if not n.startswith("_")}
    ours = {
        "put": put, "accumulate": accumulate, "scale": scale, "iterate": iterate, "fold": fold,
        "fold_items": fold, "collect": collect, "stack": stack, "erf": jax.scipy.special.erf,
        "logsumexp": jax.scipy.special.logsumexp, "softmax": jax.nn.softmax,
        "norm": jnp.linalg.norm, "copy": lambda x: x, "add_at": accumulate,
        "running_maximum": lax.cummax,
    }  # fmt: skip
    return SimpleNamespace(**{**names, **ours})


def native(constant: Any) -> Any:
    return jnp.asarray(constant) if isinstance(constant, (np.ndarray, list)) else constant


def ways(problem: Problem) -> dict[str, Call]:
    """Return the one call: jit of the value and the derivatives."""
    text = partial(problem.program.of("jax"), namespace())
    variables = tuple(jnp.asarray(x) for x in problem.variables)
    constants = tuple(native(c) for c in problem.constants)
    if problem.program.varying is not None:
        function = jax.jit(_transform(problem, text))
        return {"jax": lambda k: jax.block_until_ready(
            function(*variables, *problem.constants_at(k)))}  # fmt: skip
    if problem.program.as_written:
        function = jax.jit(_transform(problem, lambda *x: text(*x, *constants)))
        return {"jax": lambda k: jax.block_until_ready(function(*variables))}
    function = jax.jit(_transform(problem, text))
    return {"jax": lambda k: jax.block_until_ready(function(*variables, *constants))}


def _transform(problem: Problem, text: Any) -> Any:
    """Return a function of variables and constants: the value and the derivatives."""
    program = problem.program
    wrt, chosen = program.wrt, tuple(range(program.wrt))
    if program.derivative == GRADIENT:
        return jax.value_and_grad(text, argnums=chosen)
    if program.derivative == HESSIAN:
        hessian = jax.hessian(text)
        return lambda *given: (None, hessian(*given))
    if program.derivative == HVP:
        return partial(_hvp, text, wrt, problem.directions)
    rows = jnp.asarray(problem.rows(value(problem).shape))

    def products(*given: Any) -> Any:
        y, pull = jax.vjp(lambda *x: text(*x, *given[wrt:]), *given[:wrt])
        return y, jax.vmap(pull)(rows)

    return products


def _hvp(text: Any, wrt: int, directions: Any, *given: Any) -> Any:
    gradient = jax.grad(lambda *x: text(*x, *given[wrt:]), argnums=tuple(range(wrt)))
    return None, jax.jvp(gradient, given[:wrt], directions)[1]
