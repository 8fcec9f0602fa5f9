"""Specs: what is known of a value without its numbers. Equal specs are one object."""

from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]
from collections.abc import Iterable
from math import prod
from typing import Any, Self
from weakref import KeyedRef

import numpy as np

from ...process.bounded_dict import Bounded

Shape = tuple[int, ...]
_Key = tuple[Shape, np.dtype, bool, str]

CPU = "cpu"
"""The device of NumPy's arrays."""


class Spec:
    """Shape, dtype and device of a value, and whether the value has rows.

    The array of a value with rows has a leading batch axis, with one row for each seed of a pass.
    The batch axis is not part of the shape. Metadata that the dtype of an array may have are left
    out.

    Specs with equal fields are the same object as long as one of them is in use. So specs are
    compared by identity, which also makes a key of specs cheap to hash.
    """

    __slots__ = ("__weakref__", "device", "dtype", "rows", "shape")

    shape: Shape
    dtype: np.dtype
    rows: bool
    device: str

    def __new__(
        cls, shape: Shape, dtype: np.dtype, rows: bool = False, device: str = CPU
    ) -> Self:
        return spec_of(shape, dtype, rows, device)  # type: ignore[return-value]

    def __reduce__(self) -> Any:
        return Spec, (self.shape, self.dtype, self.rows, self.device)

    def __repr__(self) -> str:
        return f"Spec({self.shape}, {self.dtype}, rows={self.rows}, device={self.device!r})"


recent_specs: dict[_Key, Spec] = Bounded(4096)
"""Specs by their fields, for a fast look-up; `spec_of` finds those that are missing here, too."""

_in_use: dict[_Key, KeyedRef[_Key, Spec]] = {}  # all of them


def spec_of(shape: Shape, dtype: np.dtype, rows: bool = False, device: str = CPU) -> Spec:
    """Return the spec with these fields."""
    return recent_specs.get((shape, dtype, rows, device)) or _interned(shape, dtype, rows, device)


def _interned(shape: Shape, dtype: np.dtype, rows: bool, device: str) -> Spec:
    """Return the spec with these fields that is in use, else a new one.

    Threads need no lock: a dict adds an item if there is none, and `_remove_dead_weakref` removes
    an item if its spec is gone, each in one step.
    """
    made: Any = object.__new__(Spec)
    made.shape, made.dtype, made.rows, made.device = shape, np.dtype(dtype.str), rows, device
    key = (shape, made.dtype, rows, device)
    reference = KeyedRef(made, _forget, key)
    while (spec := _in_use.setdefault(key, reference)()) is None:
        _remove_dead_weakref(_in_use, key)
    recent_specs[key] = spec
    return spec


def _forget(reference: Any) -> None:
    _remove_dead_weakref(_in_use, reference.key)


def device_of(specs: Iterable[Spec]) -> str:
    """Return the device of an operation on values with these specs.

    That is the first device that is not the CPU, as constants of the CPU are used on every device.
    """
    for spec in specs:
        if spec.device != CPU:
            return spec.device
    return CPU


def is_movable_spec(spec: Spec) -> bool:
    """Whether a value with this spec may be moved from the CPU to another device implicitly.

    That is so for a single number, and for integers and booleans, which are positions and masks as
    a rule.
    """
    return spec.device == CPU and (prod(spec.shape) == 1 or spec.dtype.kind not in "fc")
