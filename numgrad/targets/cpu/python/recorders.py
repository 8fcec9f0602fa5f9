"""Recorders and finders: builtin functions that record operations without Python code.

A recorder records the operation of a plan; a finder stands for a function of tensors and options,
and looks up recorders. Their code is compiled once, see `recorder_code` and `finder_code`; each has
a table of words, whose places are declared here.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....ir.device_array import DeviceArray
from . import object_layout
from .object_layout import OWN

MOST = 4
"""The most inputs of an operation whose derivative reads values."""

MOST_INPUTS = 64
"""The most inputs of any operation."""

MOST_STEPS, MOST_CONSTANTS = 16, 16
"""The most recorders that a finder calls where each says which values it reads, and the most
constants that they read."""

VALUE_TYPE = OWN
"""The first word of both kinds of tables."""

(
    NIN, FLOWS, STEP, COMPUTE, IN_ORDER, AS_ARRAY, FROM_SCALAR, SCALAR_TYPE, UNWRITTEN,
    STORAGE_TYPE, VIEW_TYPE, VALUE, VALUE_END, NODE, NODE_END, STORAGE, STORAGE_END,
) = range(OWN + 1, OWN + 18)  # fmt: skip
"""Words of a recorder: the number of inputs, whether gradients flow, the steps from a base to its
view or 0; the function that computes, a faster one for arrays in C order or 0, the function that
makes an array of a result, and a faster
one for scalars of one type, or 0; the versions of saved values; types; templates of new objects,
and where the words of each end."""

FRAME_AT, DEPTH, IS_OURS, NEXT_NUMBER, ACCUMULATOR_OF, STORAGE_OF, SAVED, FILE_NAME = range(
    STORAGE_END + 1, STORAGE_END + 9
)
"""Words of a recorder: objects that locate the user's code, and Python functions that it calls."""

(
    V_ARRAY, V_VIEW, V_STORAGE, V_REQUIRES, V_NODE, V_SLOT, V_EXPR, V_KEPT, N_PARENTS, N_SLOTS,
    N_NUMBER, N_SAVED, N_VERSIONS, N_CODE, N_INSTRUCTION, S_VERSION, S_KEPT, W_BASE, W_NODE, W_EXPR,
    W_CHAIN, READS,
) = range(FILE_NAME + 1, FILE_NAME + 23)  # fmt: skip
"""Words of a recorder: places of the attributes of values, nodes, storages and views; and, for each
set of inputs that require grad, the inputs and the result that the derivative reads, as bits."""

_END = READS + (1 << MOST)
DEVICE_ARRAY, TARGET, D_SHAPE, D_DTYPE, D_TARGET = range(_END, _END + 5)
"""Words of a recorder for a device, else 0: the type of arrays of devices, the target of this one,
and places of the attributes of such arrays."""

INPUTS = D_TARGET + 1
"""The first word of the descriptions of the inputs, see `_words_of_input`."""

(
    CONSTANTS, CAPTURED_TYPE, EXPR, EXPR_END, E_INPUTS, E_NUMBER, E_SITE, E_TOKEN, V_OUTPUT,
    SAVED_LIKE,
) = range(INPUTS, INPUTS + 10)  # fmt: skip
"""Words of a recorder of expressions: the inputs that are constants, as bits; a type of storages;
the template of an expression, where its words end, and places of its attributes; the place of the
number of an output in a value; and the first of the templates of saved values, one for each input
and one for the result."""

MOST_READ = 2 * MOST
"""The most saved values that a rule reads."""

COUNT = SAVED_LIKE
GRADIENTS, SOURCES, POSITIONS = (COUNT + 1 + n * MOST for n in range(3))
"""Words of a rule: the number of inputs of a node; for each the gradient where that is always the
same, or the template of a value; what the gradient is; and the positions of the saved values that
the rule reads."""

SAME, COTANGENT, FIRST, LATER = range(4)
"""What a gradient is: always the same object, the cotangent, the expression of the rule, or a value
for a later output of the expression."""

V_SPEC, F_ARRAY, F_VIEW, F_REQUIRES, OTHER_MODES, KNOWN, GENERAL, VALUE_ERROR, SCALAR_MARK = range(
    OWN + 1, OWN + 10
)
"""Words of a finder: places of the attributes of values; a dict that must be empty, the dict of
known recorders, the general function, the error after which it is called; and the type that marks
a value as a scalar, or 0 where the marks of values do not count."""

_VALUE = ("array", "_view", "_storage", "_requires_grad", "node", "slot", "expr", "_kept")
_NODE = ("parents", "slots", "number", "saved", "versions", "code", "instruction")
_VIEW = ("base", "node", "expr", "chain")


def recorder(
    compute: Callable[..., Any],
    value: Any,
    node: Any,
    storage: Any,
    view: type,
    reads: Sequence[Sequence[bool] | None],
    inputs: Sequence[Any],
    unwritten: tuple[int, ...],
    step: tuple[Any, ...],
    tools: tuple[Any, ...],
    in_order: Callable[..., Any] | None = None,
    target: Any = None,
) -> Any:
    """Return a builtin function that records an operation of a plan, or None.

    The function is ``(inputs..., arrays...) -> value or None``: None where the operation must be
    recorded by Python code. There is no function for more than `MOST` inputs, or `MOST_INPUTS` if
    the derivative reads nothing, nor where Python's objects cannot be read.

    Parameters
    ----------
    compute : callable
        Takes the arrays of the inputs.
    value, node, storage : object
        Templates of the objects to make, without the attributes that differ between them.
    view : type
        The type of the object that makes a value a view of another one.
    reads : sequence of (sequence of bool) or None
        An item for each set of inputs that may require grad; the bits of the item's index are the
        set. The item says for each input, and then for the result, whether the derivative reads it.
        Empty where gradients do not flow, and for more than `MOST` inputs, though it is true then
        if gradients flow.
    inputs : sequence of Spec
        The specs of the inputs.
    unwritten : tuple
        What a new node stores as the versions of its saved values: none has been written to.
    step : tuple
        The steps from a base to its view; empty if the result is not a view.
    tools : tuple
        ``frame_at(depth)`` and the depth of the first frame that may be the user's; a dict from
        file names to whether they belong to numgrad; ``next_number()``, ``accumulator_of(leaf)``,
        ``storage_of(value)``; and ``saved(value)``, what a node saves of a value whose memory was
        written.
    in_order : callable, optional
        What takes the arrays instead of ``compute``, if all are in C order. On a device the
        function returns None for arrays that are not.
    target : object, optional
        The target of the device on which the operation is; by default it is on the processor.
    """
    if len(inputs) > (MOST if len(reads) else MOST_INPUTS):
        return None  # compiled code has room for so many arrays
    kinds = ((type(value), _VALUE), (type(node), _NODE), (type(storage), ("version", "kept")))
    places = [object_layout.places(kind, *names) for kind, names in (*kinds, (view, _VIEW))]
    on_device = object_layout.places(DeviceArray, "shape", "dtype", "target")
    if None in places or on_device is None:
        return None
    objects = {
        COMPUTE: compute, AS_ARRAY: np.asarray, SCALAR_TYPE: value.spec.dtype.type,
        VALUE_TYPE: type(value), STORAGE_TYPE: type(storage), VIEW_TYPE: view,
        VALUE: value, NODE: node, STORAGE: storage, UNWRITTEN: unwritten, FILE_NAME: "co_filename",
        **dict(zip(range(FRAME_AT, FILE_NAME), tools, strict=True)),
    }  # fmt: skip
    if step:
        objects[STEP] = step
    if in_order is not None:
        objects[IN_ORDER] = in_order
    if target is not None:
        objects |= {DEVICE_ARRAY: DeviceArray, TARGET: target}
    words = np.zeros(INPUTS, np.int64)
    words[list(objects)] = [id(item) for item in objects.values()]
    words[[NIN, FLOWS]] = len(inputs), bool(reads)
    words[[VALUE_END, NODE_END, STORAGE_END]] = [object_layout.end(kind) for kind, _ in kinds]
    words[FROM_SCALAR] = object_layout.from_scalar()
    words[V_ARRAY:READS] = [place for found in places for place in found or ()]
    words[READS : READS + len(reads)] = list(map(_bits, reads))
    words[D_SHAPE:INPUTS] = on_device
    described = [w for x in inputs for w in _words_of_input(x, target)]
    described = [*words[OWN:], *described]
    alive = objects, inputs
    return object_layout.builtin("python.recorder_code", "record", described, alive)


def capturing(
    value: Any,
    node: Any,
    expr: Any,
    saved: Sequence[Any],
    types: tuple[type, type, type],
    constants: int,
    reads: Sequence[Sequence[bool] | None],
    unwritten: tuple[int, ...],
    tools: tuple[Any, ...],
) -> Any:
    """Return a builtin function that records an operation whose result is still to be computed.

    The function is ``(inputs..., site, token, grad) -> value or None``: the site and the token of
    the new expression, and whether gradients are recorded. None stands for an operation that Python
    code must record. There is no function for more than `MOST` inputs, nor where Python's objects
    cannot be read.

    Parameters
    ----------
    value, node, expr : object
        Templates of the objects to make, without the attributes that differ between them.
    saved : sequence
        Templates of the values that a node saves: one for each input, and one for the result.
    types : tuple of type
        The types of views, of storages, and of storages of values that were made while a function
        is captured.
    constants : int
        The inputs that are numbers, as bits: nobody can write their arrays.
    reads, unwritten, tools
        As in `recorder`, but of the functions only the first five.
    """
    view, storage, captured = types
    if len(saved) - 1 > MOST:
        return None
    kinds = ((type(value), _VALUE), (type(node), _NODE), (storage, ("version", "kept")))
    places = [object_layout.places(kind, *names) for kind, names in (*kinds, (view, _VIEW))]
    made = object_layout.places(type(expr), "inputs", "number", "site", "token")
    output = object_layout.places(type(value), "expr_slot")
    if None in places or made is None or output is None:
        return None
    objects = {
        VALUE_TYPE: type(value), VIEW_TYPE: view, STORAGE_TYPE: storage, CAPTURED_TYPE: captured,
        VALUE: value, NODE: node, EXPR: expr, UNWRITTEN: unwritten, FILE_NAME: "co_filename",
        **dict(zip(range(FRAME_AT, STORAGE_OF), tools, strict=True)),
        **dict(enumerate(saved, SAVED_LIKE)),
    }  # fmt: skip
    words = np.zeros(SAVED_LIKE + len(saved), np.int64)
    words[list(objects)] = [id(item) for item in objects.values()]
    words[[NIN, FLOWS, CONSTANTS]] = len(saved) - 1, bool(reads), constants
    words[[VALUE_END, NODE_END]] = [object_layout.end(kind) for kind, _ in kinds[:2]]
    words[EXPR_END], words[V_OUTPUT] = object_layout.end(type(expr)), output[0]
    words[E_INPUTS:V_OUTPUT] = made
    words[V_ARRAY:READS] = [place for found in places for place in found or ()]
    words[READS : READS + len(reads)] = list(map(_bits, reads))
    return object_layout.builtin("python.capture_code", "record", words[OWN:], objects)


def applying(
    value: type, expr: Any, gradients: Sequence[tuple[int, Any]], reads: Sequence[int],
    next_number: Callable[[], int],
) -> Any:  # fmt: skip
    """Return a builtin function that applies a rule, or None.

    The function is ``(cotangent, saved values, site, token) -> gradients or None``: a tuple, or
    None where Python code must apply the rule. There is no function for nodes of more than `MOST`
    inputs, nor for rules that read more than `MOST_READ` values, nor where Python's objects cannot
    be read.

    Parameters
    ----------
    value : type
        The type of values.
    expr : object
        The template of the expression of the rule, without the attributes that differ between
        expressions; None for a rule without outputs.
    gradients : sequence of (int or None, object)
        For each input of a node the source of its gradient: 0 for the cotangent, ``~n`` for output
        ``n`` of the expression, None for one that is always the same. And that gradient, or the
        template of the value of a later output than the first.
    reads : sequence of int
        The positions of the saved values that the rule reads.
    next_number : callable
        Returns the number of a new expression.
    """
    if len(gradients) > MOST or len(reads) > MOST_READ:
        return None
    found = object_layout.places(value, "expr", "expr_slot")
    made: Any = (0,) * 4
    if expr is not None:
        made = object_layout.places(type(expr), "inputs", "number", "site", "token")
    if made is None or found is None:
        return None
    objects = {VALUE_TYPE: value, NEXT_NUMBER: next_number}
    if expr is not None:
        objects[EXPR] = expr
    objects |= {GRADIENTS + n: item for n, (_, item) in enumerate(gradients)}
    words = np.zeros(POSITIONS + len(reads), np.int64)
    words[list(objects)] = [id(item) for item in objects.values()]
    words[[V_EXPR, V_OUTPUT]] = found
    words[NIN], words[COUNT] = len(reads), len(gradients)
    words[EXPR_END], words[VALUE_END] = object_layout.end(type(expr)), object_layout.end(value)
    words[E_INPUTS:V_OUTPUT], words[POSITIONS:] = made, reads
    known = {None: SAME, 0: COTANGENT, -1: FIRST}
    sources = [known.get(source, LATER) for source, _ in gradients]
    words[SOURCES : SOURCES + len(sources)] = sources
    return object_layout.builtin("python.capture_code", "apply", words[OWN:], objects)


def _bits(read: Sequence[bool] | None) -> int:
    """Return which values a derivative reads, as bits."""
    return sum([bool(r) << n for n, r in enumerate(read or ())])


def _words_of_input(spec: Any, target: Any) -> list[int]:
    """Return the words with which compiled code checks the array of an input.

    For an array of a device these are 0, the dtype and the shape as objects of the spec; for others
    see `object_layout.words_of_array`.
    """
    if target is not None and spec.device == target.name:
        return [0, id(spec.dtype), id(spec.shape)]
    return object_layout.words_of_array(spec.dtype, spec.shape, 0)


def finder(
    kind: type,
    other_modes: dict[Any, Any],
    known: dict[Any, Any],
    general: Callable[..., Any],
    scalar_mark: type | None = None,
) -> Any:
    """Return a builtin function that looks up recorders by its arguments and calls them, or None.

    The function is ``(values and options...) -> result``. None stands for a Python whose objects
    cannot be read.

    Parameters
    ----------
    kind : type
        The type of values.
    other_modes : dict
        Recorders are used only while this dict is empty.
    known : dict
        For each key of specs and options, a tuple of the recorders to call one after the other: the
        first with the values among the arguments, each later one with the result before. Or what
        `numbered` returns.
    general : callable
        The function that is called where no recorder is known or answers.
    scalar_mark : type, optional
        The type of ``_view`` by which a value is a scalar. With this parameter the key has after
        the spec of each value whether it requires grad, whether it is a scalar, and the type and
        number of each one before it that is the same value; and recorders are called only if all
        arrays are in C order and no two other values have the same one.
    """
    found = object_layout.places(kind, "spec", "array", "_view", "_requires_grad")
    if found is None:
        return None
    objects = (other_modes, known, general, ValueError)
    marked = 0 if scalar_mark is None else id(scalar_mark)
    words = [id(kind), *found, *map(id, objects), marked]
    alive = (kind, scalar_mark, *objects)
    return object_layout.builtin("python.finder_code", "step", words, alive)


def numbered(
    constants: Sequence[Any],
    called: Sequence[Callable[..., Any]],
    reads: Sequence[Sequence[int]],
    last: Sequence[Sequence[int]],
) -> tuple[Any, ...] | None:
    """Return functions for a finder to call one after the other, each with the values that it
    reads; None if they are too many.

    Parameters
    ----------
    constants : sequence
        Values that are numbered behind those among the arguments; the results are numbered last.
    called : sequence of callable
        Recorders, or other functions of up to `MOST_INPUTS` values that return a value.
    reads, last : sequence of (sequence of int)
        For each function the numbers of its operands, and of those among them that no later
        function reads.
    """
    if len(called) > MOST_STEPS or len(constants) > MOST_CONSTANTS:
        return None
    if max(map(len, reads)) > MOST_INPUTS:
        return None
    steps: list[tuple[Any, ...]] = []
    for function, numbers, dropped in zip(called, reads, last, strict=True):
        places = [
            ~n if n in dropped and n not in numbers[k + 1 :] else n for k, n in enumerate(numbers)
        ]
        steps.append((function, *places))
    return tuple(constants), *steps
