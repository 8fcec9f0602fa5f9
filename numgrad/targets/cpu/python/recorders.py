"""Ways to record operations that take no Python: builtin functions for plans, and for functions of
tensors and options.

What they do is compiled once, see `recorder_code` and `finder_code`; what they are told is in
tables of words, which are declared here.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import object_layout
from .object_layout import OWN

MOST = 4
"""Inputs of an operation."""

VALUE_TYPE = OWN
"""The first word of both kinds of tables."""

(
    NIN, FLOWS, STEP, COMPUTE, AS_ARRAY, FROM_SCALAR, SCALAR_TYPE, UNWRITTEN, STORAGE_TYPE,
    VIEW_TYPE, VALUE, VALUE_END, NODE, NODE_END, STORAGE, STORAGE_END,
) = range(OWN + 1, OWN + 17)  # fmt: skip
"""Words of a recorder: the number of inputs, whether gradients flow, what leads from a base to its
view or 0; what computes, what makes an array of a result, and faster of a scalar of one type, or 0;
the versions of saved values; types; what new objects are like, and where their words end."""

FRAME_AT, DEPTH, IS_OURS, NEXT_NUMBER, ACCUMULATOR_OF, STORAGE_OF, FILE_NAME = range(
    STORAGE_END + 1, STORAGE_END + 8
)
"""What tells the place in the user's code, and what else is done in Python."""

(
    V_ARRAY, V_VIEW, V_STORAGE, V_REQUIRES, V_NODE, V_SLOT, V_EXPR, V_KEPT, N_PARENTS, N_SLOTS,
    N_NUMBER, N_SAVED, N_VERSIONS, N_CODE, N_INSTRUCTION, S_VERSION, S_KEPT, W_BASE, W_NODE, W_EXPR,
    W_CHAIN, READS,
) = range(FILE_NAME + 1, FILE_NAME + 23)  # fmt: skip
"""Where values, nodes, storages and views keep what; and, for each set of inputs that require grad,
what is read of the inputs and the result, as bits."""

INPUTS = READS + (1 << MOST)
"""Behind these words come what `object_layout.words_of_array` says of each input."""

V_SPEC, UNUSUAL, KNOWN, GENERAL, VALUE_ERROR = range(OWN + 1, OWN + 6)
"""Words of a finder: where a value keeps its spec; a dict that must be empty, the dict of what is
known, the function that does the rest, and the error after which it does."""

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
    ordered: bool,
) -> Any:
    """Return ``(inputs..., arrays...) -> value or None``; None where Python's objects cannot be
    read.

    Parameters
    ----------
    compute : callable
        Takes the arrays of the inputs.
    value, node, storage : object
        Objects like those that are made, without the attributes that each has of its own.
    view : type
        Of what makes a value a view of another one.
    reads : sequence of (sequence of bool) or None
        By which inputs require grad, as bits: what the derivative reads of the inputs and the
        result. Empty where gradients do not flow.
    inputs : sequence of Spec
        Of the inputs, at most `MOST`.
    unwritten : tuple
        The versions of saved values.
    step : tuple
        What leads from a base to its view; empty for what is none.
    tools : tuple
        ``frame_at(depth)`` and the depth of the frame that may be the user's; a dict that tells of
        file names whether they are ours; ``next_number()``, ``accumulator_of(leaf)``,
        ``storage_of(value)``.
    ordered : bool
        Whether the arrays must be in C order.
    """
    kinds = ((type(value), _VALUE), (type(node), _NODE), (type(storage), ("version", "kept")))
    places = [object_layout.places(kind, *names) for kind, names in (*kinds, (view, _VIEW))]
    if None in places:
        return None
    objects = {
        COMPUTE: compute, AS_ARRAY: np.asarray, SCALAR_TYPE: value.spec.dtype.type,
        VALUE_TYPE: type(value), STORAGE_TYPE: type(storage), VIEW_TYPE: view,
        VALUE: value, NODE: node, STORAGE: storage, UNWRITTEN: unwritten, FILE_NAME: "co_filename",
        **dict(zip(range(FRAME_AT, FILE_NAME), tools, strict=True)),
    }  # fmt: skip
    if step:
        objects[STEP] = step
    words = np.zeros(INPUTS, np.int64)
    words[list(objects)] = [id(item) for item in objects.values()]
    words[[NIN, FLOWS]] = len(inputs), bool(reads)
    words[[VALUE_END, NODE_END, STORAGE_END]] = [object_layout.end(kind) for kind, _ in kinds]
    words[FROM_SCALAR] = object_layout.from_scalar()
    words[V_ARRAY:READS] = [place for found in places for place in found or ()]
    for wanted, read in enumerate(reads):
        words[READS + wanted] = sum(bool(r) << n for n, r in enumerate(read or ()))
    flags = object_layout.C_ORDER if ordered else 0
    described = [w for x in inputs for w in object_layout.words_of_array(x.dtype, x.shape, flags)]
    described = [*words[OWN:], *described]
    return object_layout.builtin("python.recorder_code", "record", described, objects)


def finder(
    kind: type, unusual: dict[Any, Any], known: dict[Any, Any], general: Callable[..., Any]
) -> Any:
    """Return ``(values and options...) -> result``; None where Python's objects cannot be read.

    Parameters
    ----------
    kind : type
        Of values.
    unusual : dict
        Recorders are used where it is empty.
    known : dict
        The recorders to be used one after the other, as a tuple, by specs and options.
    general : callable
        Does what is not known.
    """
    spec = object_layout.places(kind, "spec")
    if spec is None:
        return None
    objects = (unusual, known, general, ValueError)
    words = [id(kind), *spec, *map(id, objects)]
    return object_layout.builtin("python.finder_code", "step", words, (kind, *objects))
