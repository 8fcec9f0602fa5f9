"""Checks of derivatives, for numgrad's own operators and for those of users.

The catalogue of calls that the tests of built-in operators run over is `numgrad.testing.scenarios`.
"""

from .._errors import GradcheckError as GradcheckError
from ..names.numpy_names import _names_of
from .derivatives import gradcheck as gradcheck
from .derivatives import gradgradcheck as gradgradcheck
from .operators import check_operator as check_operator

__all__ = ["GradcheckError", "check_operator", "gradcheck", "gradgradcheck"]

__getattr__ = _names_of("numpy.testing", __name__)


def __dir__() -> list[str]:
    return __all__
