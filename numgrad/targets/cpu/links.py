"""The links of a chain: what its operators do to whole vectors, in the order in which it is done.

An operator whose code is `straight` becomes the instructions of its operations, and calls of the
vector library. Any other one is called as a whole, with vectors in registers; see `vectors`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from numgrad._specs import ElementwiseSpec, FusedSpec

from . import vectors
from .straight import Operation, number


class Link(NamedTuple):
    """One instruction, or one call.

    Attributes
    ----------
    name : str
        An instruction, without the letters for the element, perhaps with a number for it; or
        ``"call"``.
    args : tuple of int
        The values that it is applied to.
    address : int
        Of the function that is called.
    """

    name: str
    args: tuple[int, ...]
    address: int = 0


class Links:
    """The links of a chain.

    Attributes
    ----------
    made : dict
        The links in order, by the number of their value. Inputs have the numbers below ``nin``.
    constants : dict
        The numbers of values that are one number, known here: by its bits.
    outputs : list of int
        The values that are stored.
    """

    def __init__(self, spec: FusedSpec) -> None:
        self.dtype = spec.out_dtypes[0]
        self.nin = len(spec.in_dtypes)
        self.constants: dict[bytes, int] = {}
        self._links: dict[int, Link] = {}
        self._known: dict[Link, int] = {}
        self._count = self.nin
        values = [*range(self.nin)]
        for step, args in spec.steps:
            values.append(self._apply(step, [values[k] for k in args]))
        self.outputs = [values[k] for k in spec.outputs]
        self.made = self._in_order()

    def _apply(self, step: ElementwiseSpec, args: Sequence[int]) -> int:
        """Add the links of an operator and return the number of its result."""
        function = vectors.function(step)
        if isinstance(function, int):
            return self._add(Link("call", tuple(args), function))
        names = dict(zip(function.parameters, args, strict=False))
        for operation in function.operations:
            operands = tuple(
                names[name] if name in names else self._constant(name)
                for name in operation.operands
            )
            names[operation.result] = self._add(self._link(operation, operands))
        result = function.result
        return names[result] if result in names else self._constant(result)

    def _link(self, operation: Operation, operands: tuple[int, ...]) -> Link:
        name = vectors.instruction(operation)
        if name is None:
            return Link("call", operands, vectors.library_function(operation.name) or 0)
        if name == "blend":
            mask, true, false = operands
            return self._blend(mask, false, true)  # the last operand may be in memory
        if name in _MASKS and len(operands) == 1:
            operands = (*operands, self._bits(_MASKS[name][self.dtype.itemsize]))
        return Link(name, operands)

    def _blend(self, mask: int, *others: int) -> Link:
        """Return the link of a selection; AVX-512 compares once more rather than keep the result,
        which is no vector there."""
        made = self._links.get(mask)
        if vectors.vector_bytes() == 64 and made is not None and made.name.startswith("cmp"):
            return Link(made.name.replace("cmp", "choose"), (*made.args, *others))
        return Link("blend", (mask, *others))

    def _add(self, link: Link) -> int:
        """Return the number of a link's value: of the one that there is, if there is one."""
        known = self._known.get(link)
        if known is None:
            known = self._known[link] = self._new()
            self._links[known] = link
        return known

    def _constant(self, text: str) -> int:
        bits = number(text, self.dtype)
        assert bits is not None, text  # `vectors` has looked at them
        return self._bits(bits)

    def _bits(self, bits: bytes) -> int:
        if bits not in self.constants:
            self.constants[bits] = self._new()
        return self.constants[bits]

    def _new(self) -> int:
        self._count += 1
        return self._count - 1

    def _in_order(self) -> dict[int, Link]:
        """Return what the outputs need, that first from which it is the longest way to one.

        So that links which wait for one another are far apart, and values do not wait long.
        """
        behind = dict.fromkeys(self.outputs, 0)  # the longest way from a value to an output
        heights: dict[int, int] = {}
        for value, link in reversed(self._links.items()):
            if value not in behind:
                continue
            height = heights[value] = behind[value] + 1
            for arg in link.args:
                if behind.get(arg, -1) < height:
                    behind[arg] = height
        order = sorted(heights, key=lambda value: (-heights[value], value))
        return {value: self._links[value] for value in order}


_SIGNS = {size: np.array(-0.0, f"f{size}").view(f"u{size}") for size in (4, 8)}
_MASKS = {
    "xor": {size: sign.tobytes() for size, sign in _SIGNS.items()},
    "and": {size: (~sign).tobytes() for size, sign in _SIGNS.items()},
}
"""What changes the sign and what takes it away."""
