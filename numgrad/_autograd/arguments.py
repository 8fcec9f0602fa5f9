"""Arguments of ``grad`` and ``backward``: edges and seeds, checked before a pass runs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._errors import (
    ArgTypeError,
    BatchedShapeError,
    DeviceError,
    EmptyInputError,
    GradCountError,
    GradDtypeError,
    GradShapeError,
    ImplicitGradError,
    NoGradError,
    PlaceTypeError,
)
from .._tensor import Tensor, constant, placed
from ..engine.derivatives.batching import batch_of, with_rows
from ..engine.graph.node import NO_EDGE, Edge, Spec, Value
from ..engine.graph.value import CPU, is_movable
from ..engine.record.apply import mode
from ..functions.array.device_transfer import placed_on
from ..graph import GradientEdge


class Place(NamedTuple):
    """Where an output or input lies in the graph: its edge and spec, and the tensor itself.

    The tensor is None for a `GradientEdge`.
    """

    edge: Edge
    spec: Spec
    tensor: Tensor | None


def as_sequence(argument: Any, name: str) -> tuple[Any, ...]:
    """Return a bare tensor or edge as a tuple of one, and any other iterable as a tuple."""
    if isinstance(argument, (Tensor, GradientEdge)):
        return (argument,)
    if argument is None:
        raise ArgTypeError(f"{name} are needed: tensors, GradientEdges or an iterable of them")
    if isinstance(argument, (str, bytes, np.ndarray)) or not isinstance(argument, Iterable):
        if callable(argument):
            raise ArgTypeError(
                f"{name} must be a tensor, a GradientEdge or an iterable of them, got "
                f"{type(argument).__name__}: ng.func.grad differentiates functions, write "
                f"ng.func.grad(f)(x)"
            )
        raise ArgTypeError(
            f"{name} must be a tensor, a GradientEdge or an iterable of them, "
            f"got {type(argument).__name__}, which is not iterable as such"
        )
    return tuple(argument)


def place_of(item: Any, name: str, index: int, *, check: bool = True) -> Place:
    """Return the place of one output or input.

    Raises
    ------
    ArgTypeError
        If the item is neither a tensor nor an edge.
    NoGradError
        If the item does not require grad and ``check`` is true.
    """
    if isinstance(item, GradientEdge):
        node, slot = item.node, item.output_nr
        if not hasattr(node, "outputs") or not 0 <= slot < len(node.outputs):
            raise ArgTypeError(
                f"{name}[{index}] is a GradientEdge that leads to no output of a node"
            )
        return Place(Edge(node, slot), node.outputs[slot], None)
    if not isinstance(item, Tensor):
        raise PlaceTypeError(
            f"all {name} have to be Tensors or GradientEdges, but got {type(item).__name__} at "
            f"position {index}"
        )
    if not item.requires_grad:
        if check:
            raise NoGradError(
                f"element {index} of {name} does not require grad and does not have a grad_fn: "
                f"One of the differentiated Tensors does not require grad"
            )
        return Place(NO_EDGE, item.spec, item)
    return Place(item.edge, item.spec, item)


def places(items: Sequence[Any], name: str, *, check: bool = True) -> list[Place]:
    """Return the places of all outputs or inputs."""
    return [place_of(item, name, index, check=check) for index, item in enumerate(items)]


def input_items(inputs: Any, what: str) -> tuple[tuple[Any, ...], list[Any] | None]:
    """Return the inputs as a tuple, and the keys if the inputs are a dict, else None.

    Raises
    ------
    ArgTypeError
        For a mapping that is not exactly a dict.
    EmptyInputError
        If there are no inputs.
    """
    keys = None
    if type(inputs) is dict:
        keys, inputs = list(inputs), tuple(inputs.values())
    elif isinstance(inputs, Mapping):
        raise ArgTypeError(f"inputs must be a dict, not {type(inputs).__name__}")
    items = as_sequence(inputs, "inputs")
    if not items:
        raise EmptyInputError(f"`inputs` argument to `{what}` cannot be empty.")
    return items, keys


def seed_items(grad_outputs: Any, count: int, name: str = "grad_outputs") -> tuple[Any, ...]:
    """Return the seeds as a tuple with one entry per output."""
    if grad_outputs is None:
        return (None,) * count
    if isinstance(grad_outputs, (Tensor, int, float, complex, np.generic)) or (
        isinstance(grad_outputs, np.ndarray) and count == 1
    ):
        grad_outputs = (grad_outputs,)
    elif isinstance(grad_outputs, (str, bytes)) or not isinstance(grad_outputs, Iterable):
        raise ArgTypeError(
            f"{name}: gradients can be either Tensors or None, but got "
            f"{type(grad_outputs).__name__}"
        )
    elif isinstance(grad_outputs, Mapping):  # whose keys may be numbers, and so count as seeds
        raise ArgTypeError(
            f"{name} must be a sequence, in the order of the {name.removeprefix('grad_')}, got "
            f"{type(grad_outputs).__name__}"
        )
    items = tuple(grad_outputs)
    if len(items) != count:
        is_vector = count == 1 and all(isinstance(item, (int, float, complex)) for item in items)
        remedy = f"; write {name}=[[...]] for a list of numbers" if items and is_vector else ""
        raise GradCountError(f"{name}: got {count} tensors and {len(items)} gradients{remedy}")
    return items


def cotangent(
    item: Any, spec: Spec, name: str, index: int, batched: bool, scale: float | None = None,
    argument: str | None = None,
) -> Value:  # fmt: skip
    """Return one explicit seed, times ``scale``, as a value with dtype and device of its output.

    Raise if the shape is another one. The errors call the seed ``name[index]``; those about its
    type call it ``argument[index]``, by default with the same name.
    """
    if isinstance(item, (str, bytes)):
        raise ArgTypeError(
            f"{argument or name}[{index}]: gradients can be either Tensors or None, but got "
            f"{type(item).__name__}"
        )
    seed = item
    if not isinstance(item, Tensor):
        seed = _converted(item, spec.device, argument or name, index)
    _check_shape(seed.shape, spec.shape, name, index, batched)
    if (seed.dtype.kind == "c") != (spec.dtype.kind == "c"):
        raise GradDtypeError(
            f"{name}[{index}]: For complex Tensors, both grad_output and output are required to "
            f"have the same dtype, "
            f"but got {seed.dtype} for an output of {spec.dtype}"
        )
    if mode.capture is not None and is_movable(seed):  # a replay moves the seed too
        seed = placed_on(seed, spec.device)
    if seed.spec.device != spec.device:
        raise DeviceError(
            f"{name}[{index}] is on {seed.spec.device}, and its output on {spec.device}: move it "
            f"there, with .to({spec.device!r})"
        )
    seed = _scaled(seed.astype(spec.dtype, copy=False), scale)
    return with_rows(seed) if batched else seed


def _converted(item: Any, device: str, name: str, index: int) -> Tensor:
    """Return a seed that is no tensor as a tensor on the device of its output."""
    try:
        return constant(item, None if device == CPU else device)
    except (TypeError, ValueError) as error:
        raise ArgTypeError(
            f"{name}[{index}]: gradients can be either Tensors or None, but got "
            f"{type(item).__name__}: {error}"
        ) from None


def _check_shape(
    got: tuple[int, ...], wanted: tuple[int, ...], name: str, index: int, batched: bool
) -> None:
    other = "input" if name == "grad_inputs" else "output"
    if batched:
        if not got or got[1:] != wanted:
            raise BatchedShapeError(
                f"If `is_grads_batched=True`, we interpret the first dimension of each {name} as "
                f"the batch dimension; "
                f"the others must be the shape of the {other}. Mismatch in shape: {name}[{index}] "
                f"has a shape of "
                f"{got} and {other}[{index}] has a shape of {wanted}."
            )
    elif got != wanted:
        raise GradShapeError(
            f"Mismatch in shape: {name}[{index}] has a shape of {got} and {other}[{index}] has a "
            f"shape of {wanted}."
        )


def _scaled(seed: Tensor, scale: float | None) -> Tensor:
    return seed if scale is None else seed * seed.dtype.type(scale)


def implicit_seed(
    spec: Spec, index: int, scalar_only: bool, batched: bool, scale: float | None = None
) -> Value:
    """Return ones, times ``scale``, as the seed of an output without an explicit seed."""
    if batched:
        raise BatchedShapeError(
            f"is_grads_batched=True needs an explicit grad_output for output {index}: without one "
            f"the size of the "
            f"batch dimension is unknown"
        )
    size = int(np.prod(spec.shape, dtype=np.int64))
    if scalar_only and size != 1:
        raise ImplicitGradError(
            f"grad can be implicitly created only for scalar outputs, but output {index} has "
            f"shape {spec.shape}"
        )
    if scalar_only and spec.dtype.kind == "c":
        raise ImplicitGradError(
            f"grad can be implicitly created only for real scalar outputs but got {spec.dtype}"
        )
    return _scaled(placed(np.ones(spec.shape, spec.dtype), spec.device), scale)


def batch_size(seeds: Sequence[Value | None]) -> int:
    """Return the size of the batch axis of the seeds; raise if they have different sizes."""
    sizes = [batch_of(seed) for seed in seeds if seed is not None]
    if len(set(sizes)) > 1:
        raise BatchedShapeError(
            f"is_grads_batched=True: Expected all tensors to have the same size in the mapped "
            f"dimension, got {sizes}"
        )
    return sizes[0] if sizes else 0


def reject_mixups(**arguments: Any) -> None:
    """Raise if a flag was given an object that is no flag, as by the argument order of another
    library."""
    remedies = {
        "is_grads_batched": "no_grad_vars= (paddle's eighth argument)",
        "materialize_grads": "backward_strategy= (paddle.fluid's ninth argument)",
        "retain_graph": "grad_inputs= (chainer's fourth argument; see numgrad.compat.chainer)",
        "create_graph": "set_grad= (chainer's fifth argument)",
        "only_inputs": "the keyword you mean",
        "allow_unused": "the keyword you mean",
    }
    for name, value in arguments.items():
        if value is None or isinstance(value, (bool, int, float, np.bool_)):
            continue
        raise ArgTypeError(
            f"{name} must be a bool, got {type(value).__name__}; did you mean {remedies[name]}?"
        )
