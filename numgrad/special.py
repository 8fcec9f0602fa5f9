"""Special functions under the names of ``scipy.special``.

There are many: they are made when the first of them is asked for. Others are SciPy's own.
"""

from typing import TYPE_CHECKING, Any

from .names.numpy_names import _names_of

if TYPE_CHECKING:
    from .functions.special.special import *  # noqa: F403

_scipys = _names_of("scipy.special", __name__)


def __getattr__(name: str) -> Any:
    if name == "__all__" or name[0] != "_":
        from .functions.special import special

        if name == "__all__" or name in special.__all__:
            value = globals()[name] = getattr(special, name)
            return value
    return _scipys(name)


def __dir__() -> list[str]:
    return __getattr__("__all__")
