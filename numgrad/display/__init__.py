"""Pictures and tables of graphs and programs, and profiles of programs."""

from .dot import Dot as Dot
from .dot import dot as dot
from .pattern_plot import spy as spy
from .profiling import Profile as Profile
from .profiling import profile as profile

__all__ = ["Dot", "Profile", "dot", "profile", "spy"]


def __dir__() -> list[str]:
    return __all__
