"""What a function reads that requires grad and is none of its arguments: places in the graph that
its results lead to, found while it is called."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..._errors import ArgTypeError, DetachedError, DtypeError
from ..._tensor import Tensor, tensor
from ...engine.graph import Edge, connect
from ...engine.record import mode
from ...engine.select import edges_outside
from ...engine.values import next_number
from ...func.gradients import Called, pull


class Closure:
    """The tensors that a function closes over, as far as they require grad.

    They are seen in the graph of what it returns, however it reads them: as variables outside, as
    globals, as attributes. Each is known by its place in the graph, at which a tensor of
    zeros stands for it among the inputs of a `numgrad.Function`: the function itself is called
    again for derivatives, and reads the tensor as before.
    """

    def __init__(self, what: str) -> None:
        self.what, self.first = what, next_number()
        self.places: dict[Edge, Tensor] = {}

    @property
    def tensors(self) -> list[Tensor]:
        """What stands for the tensors."""
        return list(self.places.values())

    def look(self, results: Iterable[Tensor]) -> None:
        """Note what results lead to."""
        for edge in edges_outside(results, self.first):
            if edge not in self.places:
                spec = edge.spec
                stand_in = tensor(np.zeros(spec.shape, spec.dtype))
                connect(stand_in, edge)
                self.places[edge] = stand_in

    def require_known(self, at: Called) -> None:
        """Raise if a call has read a tensor that no call before it has read."""
        variables = at.variables
        found = edges_outside(at.leaves, variables.first, variables.leaves)
        if all(edge in self.places for edge in found):
            return
        raise DetachedError(
            f"{self.what}: the function depends on a tensor that requires grad, is none of its "
            f"arguments, and was not met while the value was found: another one by now, or one "
            f"that is read at some points only; pass the tensor in args"
        )

    def pulled(
        self,
        outputs: Sequence[Tensor],
        arguments: Sequence[Tensor],
        seeds: Sequence[Tensor],
        graph: bool,
        batched: bool,
    ) -> list[Tensor]:
        """Return a vector-Jacobian product with respect to the tensors, and not by way of
        arguments, which may depend on the same ones."""
        if not self.places:
            return []
        cut = [x for x in arguments if x.requires_grad]
        return pull(outputs, self.tensors, seeds, graph, batched, cut)


class Scalar:
    """A function that returns one real number, called with numbers; notes what it closes over."""

    def __init__(self, f: Callable[..., Any], closure: Closure) -> None:
        self.f, self.closure = f, closure
        self.met: Any = None  # the first point, and the value there
        self.returns_tensors = False

    def __call__(self, x: Any, *args: Any) -> Any:
        """Return the number."""
        found = self.f(x, *args)
        if isinstance(found, Tensor):
            self.returns_tensors = True
            if mode.grad:
                self.closure.look([found])
            found = found.detach().numpy()
        found = one_number(found, self.closure.what)
        self.met = self.met or (x, found)
        return found


def one_number(found: Any, what: str) -> Any:
    """Return what a function has returned as one number."""
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
