"""Slopes that the kernel computes anyway: if it has the sine and the cosine of one number, the
slope of the sine is that cosine."""

from ..ssa.ir import Op, Program, Value
from ..ssa.partials import SCALARS

_SLOPES = {"sin": "cos", "cos": "sin", "sinh": "cosh", "cosh": "sinh", "expm1": "exp"}


class Companions:
    """Finds the values of a kernel that are slopes of its operations.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self._known: dict[tuple[str, Value], list[Op]] = {}
        for op in program.body.walk():
            if op.name in _SLOPES.values():
                self._known.setdefault((op.name, op.args[0]), []).append(op)

    def of(self, op: Op) -> Value | None:
        """Return the value that is the slope of an operation; None where the kernel computes no
        such value."""
        others = self._known.get((_SLOPES.get(op.name, ""), op.args[0] if op.args else None), [])  # type: ignore[arg-type]
        around = [other for other in others if op.region.is_within(other.region)]
        return around[0].result if around else None

    def adds(self, op: Op, place: int) -> str:
        """Return the text that an operation adds to the cotangent of an argument; ``{c}`` stands
        for the value that is the slope."""
        pattern = str(SCALARS[op.name].adds[place])
        if op.name not in _SLOPES or self.of(op) is None:
            return pattern
        return pattern.replace(f"np.{_SLOPES[op.name]}({{0}})", "{c}")
