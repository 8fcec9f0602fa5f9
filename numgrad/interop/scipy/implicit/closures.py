"""Tensors that a user's function closes over, found as edges to which the graph of its results
leads while the function is called."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...._errors import ArgTypeError, DetachedError, DtypeError, InplaceError
from ...._tensor import Tensor, tensor
from ....engine.graph.node import Edge, connect
from ....engine.graph.traversal import edges_outside
from ....engine.graph.value import next_number
from ....engine.record.apply import mode
from ....func.gradients import Evaluation, pull


class Closure:
    """The tensors that require grad and that a function closes over.

    They are found in the graph of its results, however the function reads them: as variables
    outside, as globals, as attributes. Each is known by its edge, and a tensor of zeros with this
    edge stands for it among the inputs of a `numgrad.Function`. For derivatives the function itself
    is called again, and reads the tensor as before.
    """

    def __init__(self, what: str) -> None:
        self.what, self.first = what, next_number()
        self.places: dict[Edge, Tensor] = {}
        self.versions: dict[Edge, int] = {}
        self.is_settled, self.is_followed = False, mode.grad

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors of zeros that stand for the closed-over tensors."""
        return list(self.places.values())

    def settle(self) -> None:
        """End the search: the tensors noted so far are all."""
        self.is_settled = True

    def look(self, results: Iterable[Tensor]) -> None:
        """Note the closed-over tensors to which results lead; after `settle`, raise for a new one.
        """
        for edge in edges_outside(results, self.first):
            if edge not in self.places and self.is_settled:
                if self.is_followed:
                    raise self._unknown()
            elif edge not in self.places:
                spec = edge.spec
                self.versions[edge] = _version(edge)
                stand_in = tensor(np.zeros(spec.shape, spec.dtype))
                connect(stand_in, edge)
                self.places[edge] = stand_in

    def given(self, params: Sequence[Any]) -> Sequence[Any]:
        """Return the parameters without the tensors that stand for closed-over ones, which come
        last."""
        return params[: len(params) - len(self.places)]

    def require_known(self, at: Evaluation) -> None:
        """Raise if a call has read a tensor that was not noted before, or that was written since.
        """
        variables = at.variables
        found = edges_outside(at.leaves, variables.first, variables.leaves)
        for edge in found:
            if self.versions.get(edge, 0) != _version(edge):
                raise InplaceError(
                    f"{self.what}: a tensor that the function closes over has been written since "
                    f"the value was found; call backward before it is written, or pass a copy of "
                    f"it in args"
                )
        if all(edge in self.places for edge in found):
            return
        raise self._unknown()

    def _unknown(self) -> DetachedError:
        return DetachedError(
            f"{self.what}: the function depends on a tensor that requires grad, is none of its "
            f"arguments, and was not met while the value was found: another one by now, or one "
            f"that is read at some points only; pass the tensor in args: "
            f"{self.what}(lambda x, p: ..., ..., args=(p,))"
        )

    def pulled(
        self,
        outputs: Sequence[Tensor],
        arguments: Sequence[Tensor],
        seeds: Sequence[Tensor],
        graph: bool,
        batched: bool,
    ) -> list[Tensor]:
        """Return a vector-Jacobian product with respect to the closed-over tensors. Paths through
        ``arguments``, which may depend on the same tensors, do not count."""
        cut = [x for x in arguments if x.requires_grad]
        leaves = [x for edge, x in self.places.items() if _is_leaf(edge)]
        inner = [x for edge, x in self.places.items() if not _is_leaf(edge)]
        # A tensor that depends on another tensor is held fixed where the other one varies.
        pulled = pull(outputs, leaves, seeds, graph, batched, cut + inner)
        found = dict(zip(map(id, leaves), pulled, strict=True))
        for x in inner:
            others = [other for other in inner if other is not x]
            (found[id(x)],) = pull(outputs, [x], seeds, graph, batched, cut + others)
        return [found[id(x)] for x in self.tensors]


def _version(edge: Edge) -> int:
    """Return the number of writes into a leaf, 0 for other tensors."""
    return edge.node.variable.storage.version if _is_leaf(edge) else 0  # type: ignore[union-attr]


def _is_leaf(edge: Edge) -> bool:
    return edge.node is not None and edge.node.is_accumulator


class Met(Evaluation):
    """A call of a function on variables, whose vector-Jacobian product includes the closed-over
    tensors: their cotangents come last."""

    def __init__(
        self, f: Callable[..., Any], args: Sequence[Any], places: Sequence[int], closure: Closure
    ) -> None:
        super().__init__(f, args, places, closure.what)
        self.closure = closure
        closure.require_known(self)

    def pulled(self, seeds: Sequence[Any], batched: bool = False) -> list[Any]:
        """Return the vector-Jacobian product, ready for the caller."""
        graph = self.outer_graph(*seeds)
        outer = self.closure.pulled(self.leaves, self.variables.leaves, seeds, graph, batched)
        return [*super().pulled(seeds, batched), *map(self.variables.deliver, outer)]


class Scalar:
    """A function with one real result, called with numbers; its closed-over tensors are noted."""

    def __init__(self, f: Callable[..., Any], closure: Closure) -> None:
        self.f, self.closure = f, closure
        self.met: Any = None  # the first point, the value there, and whether gradients counted
        self.returns_tensors = False

    def __call__(self, x: Any, *args: Any) -> Any:
        """Return the result as a number."""
        found = self.f(x, *args)
        if isinstance(found, Tensor):
            self.returns_tensors = True
            if mode.grad:
                self.closure.look([found])
            found = found.detach().numpy()
        found = one_number(found, self.closure.what)
        self.met = self.met or (x, found, mode.grad)
        return found


def one_number(found: Any, what: str) -> Any:
    """Return the result of a function as one number."""
    found = np.asarray(found)
    if found.size != 1:
        raise ArgTypeError(
            f"{what}: the function must return one number, and returned an array of shape "
            f"{found.shape}"
        )
    return found.item()


def require_real(found: Any, what: str) -> Any:
    """Return a number; raise for a complex one."""
    if isinstance(found, complex):
        raise DtypeError(f"{what} takes real functions, and the function returned {found!r:.40}")
    return found
