"""Special functions under the names of ``scipy.special``.

There are many: they are made when the first of them is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .functions.special import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name == "__all__" or name[0] != "_":
        from .functions import special

        if name == "__all__" or name in special.__all__:
            value = globals()[name] = getattr(special, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __getattr__("__all__")
