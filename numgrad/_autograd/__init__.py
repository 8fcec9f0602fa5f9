"""The public contract: ``grad``, ``backward``, grad modes, ``Function``, anomaly detection."""

from .modes import enable_grad as enable_grad
from .modes import is_grad_enabled as is_grad_enabled
from .modes import no_grad as no_grad
from .modes import set_grad_enabled as set_grad_enabled
from .passes import backward as backward
from .passes import grad as grad
