# pyright: reportMissingImports=false
"""Calls that compute gradients of one function by numgrad or another library, for a comparison."""

import gc
import os
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

import numgrad as ng

from ....targets.cuda import is_simulated
from ..other_libraries import is_there, module_of
from ..report import Skipped

Function = Callable[..., Any]
"""A function that takes a namespace with functions such as ``exp``, and arrays for these."""

Arrays = Sequence[np.ndarray]


class Numgrad:
    """numgrad as one of the compared libraries, eager or captured.

    Attributes
    ----------
    memory_errors : tuple of type
        The exceptions that a too large problem raises.
    """

    EAGER = "numgrad, eager"
    memory_errors: tuple[type[Exception], ...] = (MemoryError,)

    def __init__(self, is_captured: bool = False) -> None:
        self.name = "numgrad, captured and fused" if is_captured else self.EAGER
        self._is_captured = is_captured
        self._names = SimpleNamespace(
            roll=ng.roll, exp=ng.exp, log=ng.log, sqrt=ng.sqrt, tanh=ng.tanh, erf=ng.special.erf
        )

    def gradients(
        self, function: Function, arguments: Arrays, wrt: int, seeds: np.ndarray, is_batch: bool
    ) -> Callable[[], Any]:
        """Return a call that computes a function and its gradients by the first ``wrt`` arguments.

        ``seeds`` are one cotangent or, with ``is_batch``, several. The call does not wait for the
        device.
        """
        leaves = [
            ng.tensor(a, device="cuda", requires_grad=n < wrt) for n, a in enumerate(arguments)
        ]
        rows = ng.tensor(seeds, device="cuda")

        def call(rows: Any, *leaves: Any) -> Any:
            y = function(self._names, *leaves)
            return ng.grad(y, leaves[:wrt], rows, is_grads_batched=is_batch)

        compute = ng.jit(call, fuse="now") if self._is_captured else call
        return lambda: compute(rows, *leaves)

    def loop(
        self, function: Function, arguments: Arrays, wrt: int, seeds: np.ndarray
    ) -> Callable[[], Any]:
        """Return a call that runs one backward pass for each cotangent of ``seeds``."""
        leaves = [
            ng.tensor(a, device="cuda", requires_grad=n < wrt) for n, a in enumerate(arguments)
        ]
        rows = [ng.tensor(seed, device="cuda") for seed in seeds]
        y = function(self._names, *leaves)
        return lambda: [ng.grad(y, leaves[:wrt], row, retain_graph=True) for row in rows]

    def read(self, array: Any, step: int) -> np.ndarray:
        """Return every ``step``-th element of an array of the library, copied to the host."""
        return array.reshape(-1)[::step].cpu().numpy()


class Torch:
    """PyTorch, eager."""

    def __init__(self, device: str = "cuda") -> None:
        self._torch, self._device = module_of("torch"), device
        if device == "cuda" and not self._torch.cuda.is_available():
            raise Skipped("torch finds no GPU")
        self.name = "torch"
        self.memory_errors = (self._torch.cuda.OutOfMemoryError,)

    def gradients(
        self, function: Function, arguments: Arrays, wrt: int, seeds: np.ndarray, is_batch: bool
    ) -> Callable[[], Any]:
        """Return a call as `Numgrad.gradients` does."""
        torch = self._torch
        leaves = [torch.tensor(a, device=self._device) for a in arguments]
        for leaf in leaves[:wrt]:
            leaf.requires_grad_()
        rows = torch.tensor(seeds, device=self._device)

        def call() -> Any:
            y = function(torch, *leaves)
            return torch.autograd.grad(y, leaves[:wrt], rows, is_grads_batched=is_batch)

        return call

    def read(self, array: Any, step: int) -> np.ndarray:
        """Return every ``step``-th element of an array of the library, copied to the host."""
        return array.detach().reshape(-1)[::step].cpu().numpy()


class Jax:
    """JAX, compiled."""

    def __init__(self, platform: str = "gpu") -> None:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # leaves memory to others
        self._jax = module_of("jax")
        if self._jax.default_backend() != platform:
            raise Skipped(f"jax finds no {platform.upper()}")
        self._jax.config.update("jax_enable_x64", True)
        self.name = "jax, compiled"
        self.memory_errors = (self._jax.errors.JaxRuntimeError,)
        numbers = self._jax.numpy
        self._names = SimpleNamespace(
            roll=numbers.roll, exp=numbers.exp, log=numbers.log, sqrt=numbers.sqrt,
            tanh=numbers.tanh, erf=self._jax.scipy.special.erf,
        )  # fmt: skip

    def gradients(
        self, function: Function, arguments: Arrays, wrt: int, seeds: np.ndarray, is_batch: bool
    ) -> Callable[[], Any]:
        """Return a call as `Numgrad.gradients` does.

        The call waits for its results, as JAX computes them on streams of its own.
        """
        jax = self._jax
        leaves = [jax.numpy.asarray(a) for a in arguments]
        rows = jax.numpy.asarray(seeds)

        def compute(rows: Any, *leaves: Any) -> Any:
            given, rest = leaves[:wrt], leaves[wrt:]
            _, pull = jax.vjp(lambda *given: function(self._names, *given, *rest), *given)
            return jax.vmap(pull)(rows) if is_batch else pull(rows)

        compiled = jax.jit(compute)
        return lambda: jax.block_until_ready(compiled(rows, *leaves))

    def read(self, array: Any, step: int) -> np.ndarray:
        """Return every ``step``-th element of an array of the library, copied to the host."""
        return np.asarray(array.reshape(-1)[::step])


def others() -> tuple[list[Any], list[str]]:
    """Return the other libraries that can use the GPU, and for the rest the reasons why not."""
    if is_simulated():
        return [], ["other libraries know nothing of a simulated GPU"]
    found, reasons = [], []
    for make in (Torch, Jax):
        try:
            found.append(make())
        except Skipped as reason:
            reasons.append(str(reason))
    return found, reasons


def forget_memory() -> None:
    """Make all libraries return to the GPU the memory that they hold without using it."""
    gc.collect()
    if is_simulated():
        return
    ng.cuda.synchronize()
    from cuda.bindings import driver

    _, pool = driver.cuDeviceGetMemPool(0)
    driver.cuMemPoolTrimTo(pool, 0)
    if is_there("torch"):
        module_of("torch").cuda.empty_cache()
