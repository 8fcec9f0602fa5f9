"""``ng.scan``: a loop whose step is captured once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import ArgTypeError, DeviceError
from .._tensor import Tensor
from ..engine.graph.value import CPU
from ..func.pytree import require_function
from ..functions.creation.from_data import asarray
from ..functions.shape.joining import concat
from .body import captured, tried
from .containers import Spec, Tree, line_of, results_of
from .devices.placement import brought, device_among
from .loop import loop_over
from .recording import applied
from .steps import Sizes
from .storage import Storage, storage_in

_MOST_ROUNDS = 4  # of capturing, until the dtypes of numbers agree


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int = 1,
    checkpoint: Any = "auto",
    storage: Any = None,
) -> tuple[Any, Any]:
    """Call a function for each step of a loop, whose derivatives are loops as well.

    The result is that of this loop of Python, with one operation for all steps::

        carry, ys = init, []
        for x in xs:
            carry, y = f(carry, x)
            ys.append(y)
        return carry, ng.stack(ys)

    Parameters
    ----------
    f : callable
        ``f(carry, x)`` returns ``(carry, y)``: what the next step is given, with the structure,
        shapes and dtypes of ``init``, and what the step yields, any container of tensors or None.
        ``f`` is called once, with placeholders; its operations must be those of tensors, as for
        `jit`. ``f`` may close over tensors, which get gradients.
    init : array_like or container of them
        The ``carry`` that the first step is given.
    xs : array_like or container of them, optional
        Arrays whose first axis is that of the steps; a step is given its element of each.
    length : int, optional
        The number of steps; needed without ``xs``.
    reverse : bool
        Whether to take the steps from the last ``x`` to the first; ``y`` is where ``x`` was.
    unroll : int
        How many steps become one program.
    checkpoint : "auto", None or int
        How many states the reverse pass keeps; it computes the others again. "auto" keeps as many
        as fit into the memory that ``set_flags(loop_memory=...)`` grants, None keeps all.
    storage : str or os.PathLike, optional
        A folder. The reverse pass computes all states once more and keeps them there, in a file
        that is gone afterwards. A file pays where a step takes longer than to write its state.

    Returns
    -------
    carry, ys
        The ``carry`` that the last step returned, and what all steps have yielded, with an axis of
        the steps in front. Arrays are tensors, on the device of the loop: that of the tensors in
        ``init`` and ``xs``, or that ``f`` closes over.

    Raises
    ------
    ArgTypeError
        If what ``f`` returns does not have the structure, shapes or dtypes of ``init``.
    DeviceError
        If floating tensors are on several devices, or ``storage`` is given for a loop on one.
    OSError
        If ``storage`` is no folder, or the reverse pass finds no room for the states there.
    CaptureError
        If ``f`` wants to see a value (``if x > 0``, ``float(x)``), or changes something outside.

    See Also
    --------
    fori_loop : A loop over integers.
    while_loop : A loop that ends by a condition.

    Examples
    --------
    >>> import numgrad as ng
    >>> def step(total, x):
    ...     return total + x, total * x
    >>> ng.scan(step, 0.0, ng.tensor([1.0, 2.0, 3.0]))
    (tensor(6.), tensor([0., 2., 9.]))
    >>> k = ng.tensor(0.5, requires_grad=True)
    >>> last, _ = ng.scan(lambda x, _: (k * x, None), 8.0, length=3)
    >>> last.detach(), ng.grad(last, k)
    (tensor(1.), (tensor(6.),))
    """
    step: Any = require_function(f, "scan")
    first, given = Tree(init, "scan: init"), Tree(xs, "scan: xs")
    count = _length(given, length)
    if type(unroll) is not int or unroll < 1:
        raise ArgTypeError(f"scan: unroll must be a positive int, got {unroll!r}")
    snapshots = _snapshots(checkpoint) if storage is None else storage_in(storage, checkpoint)
    if not first.leaves and not given.leaves:
        first, counting = Tree((init, np.zeros(())), "scan: init"), step
        step = _without_carry(counting)
        (carry, _), ys = _scanned(step, first, given, count, reverse, unroll, snapshots)
        return carry, ys
    return _scanned(step, first, given, count, reverse, unroll, snapshots)


def _without_carry(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step that carries a number beside a carry without arrays.

    An operation needs an operand, and this loop would have none.
    """

    def step(carry: Any, x: Any) -> Any:
        result = _pair(f(carry[0], x), f)
        return (result[0], carry[1]), result[1]

    return step


def _scanned(
    f: Callable[..., Any], first: Tree, given: Tree, count: int, reverse: bool, unroll: int,
    snapshots: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """Run a loop whose program does ``unroll`` steps at a time.

    Steps that are left over are run by a second loop.
    """
    unroll = min(unroll, max(count, 1))
    rest = count % unroll
    if unroll == 1:
        return _loop(f, first, given, count, reverse, snapshots)
    xs = [asarray(x) for x in given.tensors()]
    # The steps that are left over come last, which in reverse are those at the front.
    front = rest if reverse else count - rest
    parts = [[x[:front] for x in xs], [x[front:] for x in xs]]
    whole, left = (parts[1], parts[0]) if reverse else parts
    turns = (count - rest) // unroll
    grouped = [x.reshape(turns, unroll, *x.shape[1:]) for x in whole]
    several = _several(f, unroll, given.structure.num_leaves == 0, reverse)
    tree = Tree(given.rebuild(grouped), "scan: xs") if grouped else given
    carry, ys = _loop(several, first, tree, turns, reverse, snapshots)
    made, structure = Tree(ys, "scan: ys").leaves, Tree(ys, "scan: ys")
    flat = [y.reshape(turns * unroll, *y.shape[2:]) for y in made]
    if rest:
        other = Tree(given.rebuild(left), "scan: xs") if left else given
        carry, tail = _loop(f, Tree(carry, "scan: init"), other, rest, reverse, snapshots)
        tails = Tree(tail, "scan: ys").leaves
        pairs = zip(flat, tails, strict=True)
        flat = [concat([b, a] if reverse else [a, b]) for a, b in pairs]
    return carry, structure.rebuild(flat)


def _several(
    f: Callable[..., Any], unroll: int, without_xs: bool, reverse: bool
) -> Callable[..., Any]:
    """Return a function that takes ``unroll`` steps at once."""
    from ..functions.shape.joining import stack

    def steps(carry: Any, xs: Any) -> Any:
        tree = Tree(xs, "scan: xs")
        found: list[Any] = [None] * unroll
        for n in range(unroll)[::-1] if reverse else range(unroll):
            x = xs if without_xs else tree.rebuild([leaf[n] for leaf in tree.leaves])
            carry, found[n] = _pair(f(carry, x), f)
        trees = [Tree(y, "scan: ys") for y in found]
        columns = zip(*[t.tensors() for t in trees], strict=True)
        return carry, trees[0].rebuild([stack(list(column)) for column in columns])

    return steps


def _loop(
    f: Callable[..., Any], first: Tree, given: Tree, count: int, reverse: bool, snapshots: Any
) -> tuple[Any, Any]:
    """Run a loop; return the carry at the end and what the steps have yielded."""
    step = Step(f, first, given.specs(), given)
    sizes = Sizes(len(first.leaves), len(given.leaves))
    loop = loop_over(step.body, sizes, count, reverse, snapshots)
    device = step.body.device
    if device != CPU and isinstance(snapshots, Storage):
        raise DeviceError(
            f"scan: storage keeps the states in files of the host, and the loop computes on "
            f"{device}; leave storage out, and say with checkpoint how many states are kept"
        )
    own = brought([*first.tensors(step.dtypes), *given.tensors()], device, "ng.scan")
    values = [*own, *step.closed_over]
    found = applied(loop, values)
    carried = sizes.carried
    return first.rebuild(found[:carried]), step.yielded.rebuild(found[carried:])


class Step:
    """The step of a loop as a body: captured, and checked to keep the specs of the carried arrays.

    Numbers of Python that are carried take the dtypes that a step gives them, so the function may
    be captured several times.
    """

    def __init__(
        self, f: Callable[..., Any], first: Tree, own: Sequence[Spec], given: Tree,
        name: str = "scan",
    ) -> None:  # fmt: skip
        self._f, self._first, self._given, self._name = f, first, given, name
        self.dtypes = [dtype for _, dtype in first.specs()]
        self.yielded: Any = None
        each = [(shape[1:], dtype) for shape, dtype in own]
        device = device_among([*first.named(), *given.named()])
        if any(first.weak):
            strong = [s for s, weak in zip(first.specs(), first.weak, strict=True) if not weak]
            tried(f"ng.{name}", self._try, [*strong, *each], device)
        shapes = [shape for shape, _ in first.specs()]
        self._left = _MOST_ROUNDS
        while self._left:
            specs = [*zip(shapes, self.dtypes, strict=True), *each]
            self._left, self._wider = self._left - 1, self.dtypes
            self.body, self.closed_over = captured(f"ng.{name}", self._call, specs, f, device)
            if self._wider == self.dtypes:
                break
            self.dtypes = self._wider

    def _try(self, *placeholders: Tensor) -> None:
        """Call the function to find the dtypes that a step gives to carried numbers of Python."""
        left, first = iter(placeholders), self._first
        carry = [x if w else next(left) for x, w in zip(first.leaves, first.weak, strict=True)]
        result, _ = _pair(self._f(first.rebuild(carry), self._given.rebuild(list(left))), self._f)
        tree = Tree(result, f"{self._name}: the carry that the function returns")
        if tree.structure == first.structure:
            self.dtypes = [
                made if weak and not new else dtype
                for (_, made), dtype, weak, new in zip(
                    tree.specs(), self.dtypes, first.weak, tree.weak, strict=True)
            ]  # fmt: skip

    def _call(self, *placeholders: Tensor) -> list[Tensor]:
        count = len(self.dtypes)
        carry = self._first.rebuild(placeholders[:count])
        x = self._given.rebuild(placeholders[count:])
        result, yielded = _pair(self._f(carry, x), self._f)
        found, tree = results_of(result, f"{self._name}: the carry that the function returns")
        self._require_alike(found, tree)
        ys, self.yielded = results_of(yielded, f"{self._name}: what the function yields")
        return [*found, *ys]

    def _require_alike(self, found: list[Tensor], tree: Tree) -> None:
        """Raise unless a step returns the structure, shapes and dtypes of the carried arrays."""
        name, f = self._name, self._f
        if tree.structure != self._first.structure:
            raise ArgTypeError(
                f"{name}: the function returns a carry of another structure than init "
                f"({line_of(found[0], f) if found else ''}): {tree.structure} instead of "
                f"{self._first.structure}"
            )
        wider = list(self.dtypes)
        for n, (shape, _) in enumerate(self._first.specs()):
            if found[n].shape == shape and found[n].dtype == self.dtypes[n]:
                continue
            is_alike = found[n].shape == shape
            is_number = tree.weak[n] and _takes(self.dtypes[n], tree.leaves[n])
            if is_alike and is_number:
                found[n] = Tensor(np.asarray(tree.leaves[n], self.dtypes[n]))
                continue
            if is_alike and self._first.weak[n] and self._left:
                wider[n] = found[n].dtype
                continue
            raise ArgTypeError(
                f"{self._first.place(n)} has dtype {self.dtypes[n]} and shape {shape}, and the "
                f"function returns there {found[n].dtype} of shape {found[n].shape}, made at "
                f"{line_of(found[n], f)}: what is carried must keep both. "
                f"{_advice(found[n], shape)}"
            )
        self._wider = wider


def _takes(dtype: np.dtype, number: Any) -> bool:
    """Whether an array of a dtype keeps its dtype in an operation with a Python number."""
    return np.result_type(dtype, number) == dtype


def _advice(found: Tensor, shape: tuple[int, ...]) -> str:
    if found.shape != shape:
        return f"Write init with the shape {found.shape}, or bring the result to {shape}"
    return f"Write init with the dtype {found.dtype}, or convert the result with .astype"


def _pair(result: Any, f: Callable[..., Any]) -> tuple[Any, Any]:
    if isinstance(result, (tuple, list)) and len(result) == 2:
        return result[0], result[1]
    code = getattr(f, "__code__", None)
    where = "" if code is None else f" ({code.co_filename}, line {code.co_firstlineno})"
    raise ArgTypeError(
        f"scan: the function{where} must return a pair (carry, y), got {type(result).__name__}; "
        f"write y = None if the steps yield nothing"
    )


def _length(given: Tree, length: int | None) -> int:
    if length is not None and (isinstance(length, bool) or not hasattr(length, "__index__")):
        raise ArgTypeError(f"scan: length must be an int, got {length!r}")
    found = {}
    for n, (shape, _) in enumerate(given.specs()):
        if not shape:
            raise ArgTypeError(f"{given.place(n)} has no axis of steps: it is a number")
        found.setdefault(shape[0], n)
    if len(found) > 1:
        said = " and ".join([f"{size} ({given.place(n)})" for size, n in found.items()])
        raise ValueError(f"scan: the first axes of xs differ: {said}")
    if length is None and not found:
        raise ArgTypeError("scan: without xs, length says how many steps there are")
    count = next(iter(found)) if found else int(length)  # type: ignore[arg-type]
    if length is not None and int(length) != count:
        raise ValueError(f"scan: length is {length}, and xs has {count} steps")
    if count < 0:
        raise ValueError(f"scan: length must not be negative, got {length}")
    return count


def _snapshots(checkpoint: Any) -> Any:
    if checkpoint is None or checkpoint == "auto":
        return checkpoint
    if isinstance(checkpoint, bool) or not isinstance(checkpoint, (int, np.integer)):
        raise ArgTypeError(
            f"scan: checkpoint must be 'auto', None or the number of states to keep, got "
            f"{checkpoint!r}"
        )
    if checkpoint < 1:
        raise ValueError(f"scan: checkpoint must be at least 1, got {checkpoint}")
    return int(checkpoint)


__all__ = ["Step", "scan"]
