"""Gradients of recorded graphs, as functions that random programs call."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from ..._autograd import backward, grad
from ..._settings import get_flags, set_flags
from ..._tensor import Tensor, tensor
from ...functions.creation.constants import zeros, zeros_like

OPTIONS: dict[str, Any] = {"create_graph": True, "allow_unused": True, "materialize_grads": True}


def variable(x: Any) -> Tensor:
    """Return a tensor with the numbers of ``x`` that requires grad.

    If ``x`` requires grad, the tensor is computed from ``x``, so that gradients reach ``x`` too.
    """
    if not isinstance(x, Tensor):
        return tensor(x, requires_grad=True)
    return x * 1.0 if x.requires_grad else x.clone().requires_grad_()


def _gradients(output: Any, variables: Any) -> Any:
    """Return the gradients of an output by variables, zeros if the output was not recorded."""
    if not getattr(output, "requires_grad", False):
        return tuple([zeros_like(x.detach()) for x in variables])
    return grad(output, variables, **OPTIONS)


def gradients(function: Any, *args: Any) -> Any:
    """Return the gradients of a scalar function, by `numgrad.grad`."""
    variables = [variable(x) for x in args]
    return _gradients(function(*variables), variables)


def hooked_gradients(function: Any, *args: Any) -> Any:
    """Return the gradients of a scalar function, whose arguments and value have idle hooks.

    The hooks return cotangents as they are.
    """
    variables = [variable(x) for x in args]
    output = function(*variables)
    for x in (*variables, output):
        if isinstance(x, Tensor) and x.requires_grad:
            x.register_hook(lambda g: g * 1.0)
    return _gradients(output, variables)


def doubled_gradients(place: str, function: Any, *args: Any) -> Any:
    """Return twice the gradients of a scalar function, doubled by a hook on its last operation.

    ``place`` says where the hook is: on the tensor, or on its node, where it runs before or after
    the node. The hook is not removed.
    """
    variables = [variable(x) for x in args]
    output = function(*variables)
    if getattr(output, "requires_grad", False):
        _HOOKS[place](output)
    return _gradients(output, variables)


def _double(gradients: Any) -> Any:
    return tuple([None if g is None else 2.0 * g for g in gradients])


_HOOKS: dict[str, Any] = {
    "tensor": lambda y: y.register_hook(lambda g: 2.0 * g),
    "before": lambda y: y.grad_fn.register_prehook(_double),
    "after": lambda y: y.grad_fn.register_hook(lambda given, _: _double(given)),
}


def backward_gradients(function: Any, *args: Any) -> Any:
    """Return the gradients of a scalar function, by `numgrad.backward`."""
    variables = [variable(x) for x in args]
    output = function(*variables)
    if getattr(output, "requires_grad", False):
        backward(output, inputs=variables, create_graph=True)
    return tuple([x * 0.0 if x.grad is None else x.grad for x in variables])


def rows(function: Any, x: Any, seeds: Any) -> Any:
    """Return the gradients of a function at ``x`` for several seeds, by one batched pass."""
    z = variable(x)
    output = function(z)
    if not getattr(output, "requires_grad", False):
        return zeros((len(seeds), *z.shape), dtype=z.dtype)
    return grad(output, z, seeds, is_grads_batched=True, **OPTIONS)[0]


def leaf_gradients(call: Any, *leaves: Tensor) -> Any:
    """Return the gradients of ``call()`` with respect to leaves that it closes over."""
    return _gradients(call(), leaves)


def again(call: Any, times: int = 4) -> Any:
    """Return the last result of several equal calls.

    The passes of later calls are taken from the plans that earlier ones have left.
    """
    return [call() for _ in range(times)][-1]


def by_reference(call: Any) -> Any:
    """Return the result of a call on the reference path, one operation at a time without plans."""
    before = get_flags("path")
    set_flags(path="reference")
    try:
        return call()
    finally:
        set_flags(**before)


def in_threads(call: Any, threads: int = 3) -> Any:
    """Return the result of simultaneous calls on several threads, or all results if they differ."""
    start = Barrier(threads)

    def work() -> Any:
        start.wait()
        return call()

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work) for _ in range(threads)]
        results = [future.result() for future in futures]
    texts = [repr(result) for result in results]
    return results[0] if len(set(texts)) == 1 else tuple(results)
