"""Initial value problems, solved in one compiled loop."""

from ..names.foreign_names import names_elsewhere as _names_elsewhere
from .events import Event as Event
from .events import odeint_event as odeint_event
from .integration import odeint as odeint

__all__ = ["Event", "odeint", "odeint_event"]

__getattr__ = _names_elsewhere(__name__)


def __dir__() -> list[str]:
    return __all__
