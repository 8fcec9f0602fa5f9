"""Functions whose slope is another function that the kernel computes too, of the same argument: the
cosine is that of the sine."""

from ..ssa.ir import Op, Program, Value
from ..ssa.partials import SCALARS

_SLOPES = {"sin": "cos", "cos": "sin", "sinh": "cosh", "cosh": "sinh", "expm1": "exp"}


class Companions:
    """Finds the values that slopes are.

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
        """Return the value of the slope of an operation; None where the kernel does not have it."""
        others = self._known.get((_SLOPES.get(op.name, ""), op.args[0] if op.args else None), [])  # type: ignore[arg-type]
        around = [other for other in others if op.region.is_within(other.region)]
        return around[0].result if around else None

    def adds(self, op: Op, place: int) -> str:
        """Return what an operation adds to the cotangent of an argument, with ``{c}`` for the value
        that the slope is."""
        pattern = str(SCALARS[op.name].adds[place])
        if op.name not in _SLOPES or self.of(op) is None:
            return pattern
        return pattern.replace(f"np.{_SLOPES[op.name]}({{0}})", "{c}")
