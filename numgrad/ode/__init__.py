"""Initial value problems, solved in one compiled loop."""

from ..names.foreign_names import names_elsewhere as _names_elsewhere
from .integration import odeint as odeint

__all__ = ["odeint"]

__getattr__ = _names_elsewhere(__name__)


def __dir__() -> list[str]:
    return __all__
