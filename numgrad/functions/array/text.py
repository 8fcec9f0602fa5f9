"""How a tensor is written: ``repr``, and ``format`` of a single number."""

from typing import Any

import numpy as np

from .operands import as_tensor

# Dtypes that literals give need no mention, as long as there are elements to tell them by.
_EVIDENT = tuple(map(np.dtype, ("float64", "int64", "bool", "complex128")))


def represent(tensor: Any) -> str:
    """Return ``tensor(...)`` with values, what the values do not tell, and the place in the graph.

    ``numpy.set_printoptions`` governs digits, line width, and from which size on values are cut.
    """
    facts = _graph_facts(tensor)
    if tensor.array is None:
        return f"tensor(shape={tensor.shape}, dtype={tensor.dtype}, not computed{_list(facts)})"
    array = tensor._on_host()
    values = np.array2string(array, prefix="tensor(", separator=", ", suffix=")")
    known = []
    if (array.size == 0 and array.shape != (0,)) or array.size > np.get_printoptions()["threshold"]:
        known.append(f"shape={array.shape}")
    if array.dtype not in _EVIDENT or array.size == 0:
        known.append(f"dtype={array.dtype}")
    if tensor.device != "cpu":
        known.append(f"device={tensor.device!r}")
    return f"tensor({values}{_list(known + facts, values)})"


def written(tensor: Any) -> str:
    """Return ``str(tensor)``. While a function is captured a number cannot be written: a program
    may go by its text."""
    if not tensor.shape:
        tensor._computed()
    return represent(tensor)


def _graph_facts(tensor: Any) -> list[str]:
    if not tensor.requires_grad:
        return []
    if tensor.node is None:
        return ["requires_grad=True"]
    return [f"grad_fn=<{tensor.node.name()}>"]


def _list(facts: list[str], values: str = "") -> str:
    """Return the facts to append, on a line of their own where they would overrun the line."""
    if not facts:
        return ""
    text = ", ".join(facts)
    last = len("tensor(") if "\n" not in values else 0
    last += len(values) - (values.rfind("\n") + 1)
    if last + len(text) + 3 > np.get_printoptions()["linewidth"]:
        return ",\n" + " " * len("tensor(") + text
    return ", " + text


def format_number(tensor: Any, specification: str) -> str:
    """Return ``format(tensor, specification)``; only a 0-d tensor takes a specification."""
    if not specification:
        return written(tensor)
    if tensor.shape:
        raise TypeError(
            f"format specification {specification!r} is for 0-d tensors, not for {tensor.shape}; "
            f"loop over the elements"
        )
    return format(tensor._on_host().item(), specification)


def array_repr(
    arr: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Return ``repr(arr)`` with other print options; what ``np.array_repr`` gives for a tensor."""
    options = {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small}
    with np.printoptions(**{name: value for name, value in options.items() if value is not None}):
        return repr(arr)


def array_str(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Return the values alone as text; what ``np.array_str`` gives for a tensor."""
    return np.array_str(as_tensor(a)._on_host(), max_line_width, precision, suppress_small)
