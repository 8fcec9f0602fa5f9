"""Gufunc signatures: ``"(m,k),(k,n)->(m,n)"`` to tuples of dimension names."""

import re
from typing import NamedTuple

_CORE = r"\(\s*(?:[A-Za-z_]\w*\s*(?:,\s*[A-Za-z_]\w*\s*)*)?\)"
_LIST = rf"{_CORE}(?:\s*,\s*{_CORE})*"
_SIGNATURE = re.compile(rf"\s*(?P<inputs>{_LIST})\s*->\s*(?P<outputs>{_LIST})\s*")


class Signature(NamedTuple):
    """Core dimensions of each input and output, and all distinct names in order of appearance."""

    inputs: tuple[tuple[str, ...], ...]
    outputs: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]

    @property
    def scalar(self) -> bool:
        """Whether no operand has core dimensions."""
        return not self.names

    def __str__(self) -> str:
        def side(cores: tuple[tuple[str, ...], ...]) -> str:
            return ",".join("(" + ",".join(core) + ")" for core in cores)

        return f"{side(self.inputs)}->{side(self.outputs)}"


def parse_signature(text: str, computed: bool = False) -> Signature:
    """Parse a gufunc signature.

    Parameters
    ----------
    text : str
    computed : bool
        Whether outputs may have dimensions that no input has.

    Raises
    ------
    ValueError
        When the text is no signature, or an output has a dimension that it must not have.
    """
    match = _SIGNATURE.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is not a gufunc signature; write for example '(m,k),(k,n)->(m,n)' or "
            f"'(),()->()'"
        )
    inputs, outputs = (_cores(match[side]) for side in ("inputs", "outputs"))
    names = tuple(dict.fromkeys(name for core in (*inputs, *outputs) for name in core))
    known = {name for core in inputs for name in core}
    unknown = [name for name in names if name not in known]
    if unknown and not computed:
        raise ValueError(
            f"signature {text!r}: output dimension {unknown[0]!r} is in no input, so its size is "
            f"unknown"
        )
    return Signature(inputs, outputs, names)


def _cores(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(name.strip() for name in core.strip("() \t").split(",") if name.strip())
        for core in re.findall(_CORE, text)
    )
