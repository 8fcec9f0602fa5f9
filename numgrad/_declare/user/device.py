"""Kernels for CUDA, which users may declare for their operators besides those for the CPU."""

from __future__ import annotations

from typing import Any

from ..._errors import DeclarationError
from ...ir.kernel_spec import CUDAKernel
from ..source import Source, split_parameters
from .operator import UserOperator

_MOST_THREADS = 1024  # of a block, on every GPU


def declare_cuda(owner: UserOperator, function: Any, threads: int | None) -> Any:
    """Declare the kernel for CUDA of an operator; see `UserOperator.cuda`."""
    what = f"the CUDA kernel of {owner.label}"
    if owner.on_cuda is not None:
        raise DeclarationError(f"{what} was declared already, as {owner.on_cuda.function.__name__}")
    if owner.has_specs:
        raise DeclarationError(f"{what} must be declared before the operator is called")
    if threads is not None and (type(threads) is not int or not 0 < threads <= _MOST_THREADS):
        raise DeclarationError(
            f"{what}: threads must be an integer from 1 to {_MOST_THREADS}, got {threads!r}"
        )
    source = Source(function, what)
    _check_parameters(owner, source, what)
    owner.on_cuda = CUDAKernel(source.plain, f"{what}, {source.name}", threads)
    return function


def _check_parameters(owner: UserOperator, source: Source, what: str) -> None:
    groups = owner.groups()
    if owner.signature.scalar:  # the kernel for the CPU returns its results instead
        groups = [*groups, (owner.nout, "array to write")]
    found = split_parameters(source, what, groups, owner.static)
    if found != owner.static:
        raise DeclarationError(
            f"{what}: {source.name} must take the static parameters of the kernel, in its order: "
            f"({', '.join(owner.static)}), but it takes ({', '.join(found)})"
        )
