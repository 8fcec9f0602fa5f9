"""Ways out of the graph: where the elements of a value become numbers or arrays of NumPy.

Nothing flows back through those. What would lose a gradient without a word raises.
"""

from .._blocks import Block
from .._errors import DetachedError
from .record import changing, mode
from .values import Value


class Derivative:
    """One call of `grad`, `jvp`, `jacobian`, ...

    Attributes
    ----------
    first : int
        What is made in it has a greater number.
    """

    __slots__ = ("first",)

    def __init__(self, first: int) -> None:
        self.first = first

    @property
    def is_running(self) -> bool:
        """Whether its function is running, in this thread."""
        return any(call is self for call in mode.derivatives)


def differentiated(first: int) -> Block:
    """Run the function of a transformation inside the block, with gradients; nodes from ``first``
    on are its."""
    return changing(grad=True, derivatives=(*mode.derivatives, Derivative(first)))


def derivative_of(value: Value) -> Derivative | None:
    """Return the innermost call in which a value that requires grad was made."""
    if not mode.derivatives or not value.requires_grad:
        return None
    number = value.leaf.number if value.node is None else value.node.number
    return next((c for c in reversed(mode.derivatives) if c.first < number), None)


def detached(what: str, instead: str, constant: str = "x.detach()") -> DetachedError:
    """Return the error for what would cut the graph.

    Parameters
    ----------
    what : str
        What does.
    instead : str
        What keeps the gradients, as a sentence.
    constant : str
        What gives the same without gradients.
    """
    return DetachedError(
        f"{what} would cut the graph. {instead} If no gradient is to flow through it, write "
        f"{constant}."
    )


def refuse(value: Value, what: str, instead: str, constant: str = "x.detach()") -> None:
    """Raise if gradients flow to a value that is to become what has none: ``what``, as users call
    it, does that."""
    if value.requires_grad and mode.grad:
        where = ", in a function that is being differentiated," if mode.derivatives else ""
        raise detached(f"{what} of a tensor that requires grad{where}", instead, constant)


def refuse_inside(value: Value, what: str, instead: str, constant: str = "x.detach()") -> None:
    """Raise where that is no way out of a derivative, as it is elsewhere: a function of `func`
    returns zeros for what has left the graph, and nobody would know why."""
    if mode.derivatives:
        refuse(value, what, instead, constant)


ELEMENT = (
    "Where array[i] = x asks for it, write into a tensor, made with ng.zeros, or collect the "
    "values and call ng.stack."
)
NUMBERS = {
    "float": "Where math.exp(x) asks for it, write ng.exp(x) or np.exp(x); where '%.3f' % x does, "
    f"write f'{{x:.3f}}'. {ELEMENT}",
    "complex": f"Write x.astype(complex), or ng.exp(x) for cmath.exp(x). {ELEMENT}",
    "int": "Write math.trunc(x) for a number, or ng.trunc(x) or x.astype(int) for tensors: their "
    f"derivative is 0. {ELEMENT}",
    "index": "An index has no gradient: write x.astype(int).",
}
"""What to write where Python asks for a number."""

ARRAY = (
    "Write ng.asarray, or ng.stack for a list of tensors; NumPy's functions that numgrad has too "
    "take the tensor itself, and np.r_ and np.c_ are ng.r_ and ng.c_; those of SciPy's special "
    "functions, linear algebra, distributions and convolutions that have derivatives are in "
    "ng.special, ng.linalg, ng.stats and ng.signal, draws of generators in ng.random; write into "
    "a tensor, made with ng.zeros, instead of into an array."
)
WHOLE = "Write x.astype({dtype!r}): the derivative of that is 0."
VALUES = "Compute with the tensor itself; it can be compared and printed."
"""What to write instead of asking for all elements."""

__all__ = [
    "ARRAY", "NUMBERS", "VALUES", "WHOLE", "Derivative", "derivative_of", "detached",
    "differentiated", "refuse", "refuse_inside",
]  # fmt: skip
