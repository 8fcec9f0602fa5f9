"""Copying and pickling tensors: only values leave, never a part of the graph."""

from types import FrameType
from typing import Any

import numpy as np

from ... import _devices
from ..._tensor import Tensor
from ...engine.capture import escapes
from ...engine.graph.value import CPU
from ...engine.record.apply import runtime


def rebuild(array: np.ndarray, requires_grad: bool, device: str = CPU) -> Tensor:
    """Return the leaf that was pickled."""
    return Tensor(runtime.placed(array, _devices.name_of(device)), requires_grad)


def reduce_leaf(tensor: Tensor) -> tuple[Any, ...]:
    """Return how `pickle` makes the tensor again; ``grad`` and hooks stay behind."""
    _require_leaf(tensor, "pickling", "Pickle what the function returns.")
    return rebuild, (
        np.ascontiguousarray(tensor._on_host()).reshape(tensor.shape),
        tensor.requires_grad,
        tensor.spec.device,
    )


def deepcopy_leaf(tensor: Tensor, memo: dict[int, Any]) -> Tensor:
    """Return an independent leaf with copies of the values and of ``grad``."""
    if id(tensor) in memo:
        return memo[id(tensor)]
    _require_leaf(tensor, "copy.deepcopy", "x.clone() is a copy in the graph.")
    copy = rebuild(tensor._on_host().copy(), tensor.requires_grad, tensor.spec.device)
    memo[id(tensor)] = copy
    if tensor.grad is not None:
        copy.grad = deepcopy_leaf(tensor.grad, memo)
    return copy


def is_for_fields(caller: FrameType | None) -> bool:
    """Return whether ``dataclasses.asdict`` or ``astuple`` copies what fields hold: they make a
    container of it, through which gradients flow."""
    while caller is not None and caller.f_globals.get("__name__") == "copy":
        caller = caller.f_back
    return caller is not None and caller.f_globals.get("__name__") == "dataclasses"


def _require_leaf(tensor: Tensor, what: str, instead: str) -> None:
    escapes.refuse_escape_in_transform(tensor, what, instead)
    if tensor.requires_grad and tensor.node is not None:
        leaf = f"that is not a leaf (it is a result of {tensor.node.name()})"
        raise escapes.graph_cut_error(f"{what} of a tensor {leaf}", instead)
