"""Initial value problems, solved in one compiled loop."""

from .integration import odeint as odeint

__all__ = ["odeint"]


def __dir__() -> list[str]:
    return __all__
