"""What every operator is, and the registry of the built-in ones."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .._errors import NotDifferentiableError, OperatorError
from ..process.bounded_dict import Bounded

Specs = Sequence[Any]
Computation = Callable[..., Any] | tuple[Callable[..., Any], Callable[..., Any]] | None
FLOATING = tuple(map(np.dtype, ("float32", "float64", "complex64", "complex128")))
WEAK = (bool, int, float, complex)
MOST_PLANS = 1 << 13  # of one function, such as the elements of a loop; 2 to 5 kB each


class Door:
    """Where the recorder puts itself, so that declarations need not import it."""

    apply: Callable[..., Any]
    alone: Callable[..., list[np.ndarray] | None]  # computes on large arrays, on all threads
    is_many: Callable[..., bool]  # whether operands are as large as that
    unary: Callable[..., Any]
    binary: Callable[..., Any]
    several: Callable[..., Any]  # the short way of any operator, None where it cannot be taken
    learn: Callable[..., None]
    deferred: Callable[..., Any]
    value: type = type(None)
    chosen: Any = ()  # the class of what a mask selects that is known later
    constant: Callable[..., Any]
    sequence: Callable[..., Any]  # what a list of numbers, arrays and tensors is as an operand
    align: Callable[..., Any]
    site: Callable[[], Any]  # the line of user code that is being executed
    influence: Callable[..., Any]  # which elements of a result have a part in its cotangents


door = Door()
registry: dict[str, "Operator"] = {}


def kind_of(arg: Any) -> Any:
    """Return what decides how an argument is promoted: its dtype, or a Python number."""
    if not isinstance(arg, door.value):
        return arg
    return arg.dtype if arg.weak is None else arg.weak


class Operator:
    """A named function of arrays with a derivative.

    Parameters
    ----------
    name : str
        The Array-API name where there is one.
    differentiable : bool
        Whether nodes are recorded for it.
    is_view : bool
        Whether its result shares memory with its first input.
    register : bool
        Whether it joins the registry of built-in operators, which registry-wide tests cover.
    """

    nout = 1
    gives_scalars = False  # whether a result without axes is a value
    reads_elements = False  # whether that is an element, into which nobody writes
    uses_blas = False
    is_linear = False  # whether it is its own tangent, which is simpler than to transpose
    is_replay = False  # whether it stands for many operations, which are recorded as one
    completed: Any = None
    """Of a view of a part of each element: ``(x, part)`` returns ``x`` with another part."""
    converts = False  # whether it may apply itself to other values than it is given
    by_position: Any = None
    """Where it reads or writes a part of its first input, two functions. ``(specs of the inputs,
    static) -> (form, first)`` says what a part has in common with those that begin elsewhere, and
    where it begins; None for one that nothing is known of. ``(specs, form, most) -> (operator,
    static, positions, unit)`` says which operator does the same at positions, its last input: those
    of a part that begins at 0, and the elements in one; None for more than ``most``."""
    ranks: Callable[..., tuple[int, ...]] | None = None
    """``(**static)`` returns how many axes each operand has beside those that it loops over, of an
    operator of which one operand may lack some of these."""
    reads_pieces = False  # whether `lower` takes operands that are several side by side
    reorders = False  # whether the results of operands in C order may lie in another one
    memory_order: Any = None
    """``(miniatures of the inputs, static)`` returns an array for each output, whose axes lie in
    the order of those of the output; see `memory_order`. None for results in C order."""

    def __init__(
        self, name: str, differentiable: bool = True, is_view: bool = False, register: bool = True
    ):
        self.name = name
        self.differentiable = differentiable
        self.is_view = is_view
        self.__name__ = name
        self.kinds: dict[Any, Any] = Bounded(4096)  # of its nodes, as far as they have one
        # By the specs of the inputs, see `engine.dispatch_cache`.
        self.plans: dict[Any, Any] = Bounded(MOST_PLANS)
        self.alike: dict[Any, Any] = Bounded(MOST_PLANS)  # for parameters that were not met before
        self._pullback: Callable[..., Any] | None = None
        self._reads: Callable[..., Any] | None = None
        self.is_pure = register  # whether nobody notices that equal applications are one
        self.has_rule = register  # whether the derivative of a node depends on its kind alone
        if register:
            if name in registry:
                raise ValueError(f"an operator named {name!r} is registered already")
            registry[name] = self

    def __init_subclass__(cls) -> None:
        cls.converts = (cls.prepare, cls.__call__) != (Operator.prepare, Operator.__call__)

    def __call__(self, *args: Any, **static: Any) -> Any:
        """Apply the operator to values, arrays or numbers and record it."""
        result = door.several(self, args, static)
        if result is not None:
            return result
        inputs = self.prepare(args, static)
        outputs = door.apply(self, inputs, static)
        if self.nout > 1:
            return tuple(outputs)
        door.learn(self, args, inputs, static)
        return outputs[0]

    @property
    def has_second(self) -> bool:
        """Whether the derivative has one itself, as all that is made of operators; that of a user
        may be a kernel without."""
        kernel = getattr(getattr(self, "derivative", None), "kernel", None)
        return kernel is None or kernel.is_twice

    def covers(self, specs: Specs, static: dict[str, Any]) -> bool:
        """Return whether nothing remains of the first input, so that no gradient goes there."""
        return False

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        """Return the inputs as values."""
        return tuple(as_values(args))

    # What the engine asks of an operator
    # -------------------------------------------------------------

    def infer(self, specs: Specs, static: dict[str, Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
        """Return shape and dtype of each output."""
        raise NotImplementedError

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        """Compute the outputs now."""
        raise NotImplementedError

    def computation(
        self, target: Any, inputs: Specs, static: dict[str, Any]
    ) -> Computation:
        """Return a function of arrays with these specs that does what `run` does, None where there
        is none. It may raise ``ValueError`` for an array that must be copied first. A pair has a
        faster function, for arrays in C order, behind it."""
        return lambda *arrays: self.run(target, arrays, static)[0]

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]
    ) -> list[Any]:
        """Append instructions to a program and return the operands of the outputs."""
        raise NotImplementedError

    def error(self, where: str) -> Exception:
        """Return the exception for a kernel that failed; ``where`` says at which row and index."""
        return OperatorError(f"the kernel of {self.name} raised{where}")

    def saves(self, needs: Sequence[bool]) -> Sequence[bool]:
        """Return which inputs and outputs the derivative with respect to the needed inputs
        reads."""
        if self._reads is not None:
            return self._reads(needs)
        return (False,) * (len(needs) + self.nout)

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the cotangents of the inputs as values, ``None`` where none is wanted."""
        if self._pullback is None:
            raise NotDifferentiableError(
                f"the operator {self.name}{context.node.where()} has no derivative of this order; "
                f"declare one with @{self.name}.backward"
            )
        cotangents = [
            zeros_of(spec) if g is None else g
            for g, spec in zip(cotangents, context.output_specs, strict=True)
        ]
        gradients = self._pullback(context, *cotangents)
        return gradients if isinstance(gradients, tuple) else (gradients,)

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangents of the outputs for those of the inputs, ``None`` where there is none;
        ``None`` alone lets the engine transpose the derivative."""
        if not self.is_linear:
            return None
        inputs = [
            (context.input(n) if spec.dtype.kind not in "fc" else zeros_of(spec))
            if tangent is None else tangent
            for n, (tangent, spec) in enumerate(zip(tangents, context.input_specs, strict=True))
        ]  # fmt: skip
        return door.apply(self, tuple(inputs), context.static)

    # What a declaration adds
    # ---------------------------------------------------------------------------

    def pullback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Declare the derivative as a function ``(context, g...) -> gradients`` made of
        operators."""
        self._pullback = function
        self.has_rule = registry.get(self.name) is self  # a user's function may do anything
        self._declared()
        return function

    def reads(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Declare which values the pullback reads: ``needs -> (inputs..., outputs...)``."""
        self._reads = function
        self._declared()
        return function

    def _declared(self) -> None:
        """Forget what nodes were like before something was declared."""
        self.kinds.clear()
        self.forget_plans()

    def forget_plans(self) -> None:
        """Work out anew what the operator does with values of certain specs."""
        self.plans.clear()
        self.alike.clear()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def as_values(args: Sequence[Any]) -> list[Any]:
    """Return arguments as values: what is none yet as a constant where the others are."""
    device = device_among(args)
    return [a if isinstance(a, door.value) else door.constant(a, device) for a in args]


def device_among(args: Sequence[Any]) -> str | None:
    """Return the device of the first value among arguments that is not on the CPU."""
    for arg in args:
        if isinstance(arg, door.value) and arg.spec.device != "cpu":  # type: ignore[attr-defined]
            return arg.spec.device  # type: ignore[attr-defined]
    return None


def zeros_of(spec: Any) -> Any:
    """Return a zero cotangent for an output that received none."""
    return door.constant(np.broadcast_to(np.zeros((), spec.dtype), spec.shape))


def arrived(context: Any, cotangents: Sequence[Any], outputs: Iterable[int]) -> list[Any]:
    """Return the cotangents of some outputs, zeros for those that received none."""
    return [
        zeros_of(context.output_specs[n]) if cotangents[n] is None else cotangents[n]
        for n in outputs
    ]
