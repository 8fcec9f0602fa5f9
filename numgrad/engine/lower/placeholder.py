"""Placeholders: operators of expressions that stand for the arguments of a captured function."""

from typing import Any, NoReturn

from ..._errors import CaptureError

LEFT_BEHIND = (
    "this tensor belongs to a call of a function that ng.jit has captured, and has no value: it "
    "was kept outside (in a list or an attribute, say), or another thread computes with it. Return "
    "it from the function, which one thread has to record, instead."
)


class Placeholder:
    """The operator of a placeholder's expression; it cannot be lowered."""

    name = "argument"
    is_view = reads_pieces = has_rule = reorders = False
    memory_order = None

    def lower(self, *_: Any) -> NoReturn:
        """Raise an error, as arguments of a captured function have values in a replay only."""
        raise CaptureError(LEFT_BEHIND)


ARGUMENT = Placeholder()
