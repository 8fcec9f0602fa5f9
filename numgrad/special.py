"""Special functions under the names of ``scipy.special``."""

from .functions.special import digamma as digamma
from .functions.special import erf as erf
from .functions.special import erfc as erfc
from .functions.special import expit as expit
from .functions.special import gammaln as gammaln
from .functions.special import lgamma as lgamma
from .functions.special import log_expit as log_expit
from .functions.special import logit as logit
from .functions.special import ndtr as ndtr
from .functions.special import polygamma as polygamma
from .functions.special import psi as psi
from .functions.special import sigmoid as sigmoid
from .functions.special import xlogy as xlogy

__all__ = [
    "digamma",
    "erf",
    "erfc",
    "expit",
    "gammaln",
    "lgamma",
    "log_expit",
    "logit",
    "ndtr",
    "polygamma",
    "psi",
    "sigmoid",
    "xlogy",
]
