"""The public contract: ``grad``, ``backward``, grad modes, ``Function``, anomaly detection."""

from .anomaly import detect_anomaly as detect_anomaly
from .anomaly import set_detect_anomaly as set_detect_anomaly
from .custom import Function as Function
from .custom import once_differentiable as once_differentiable
from .modes import enable_grad as enable_grad
from .modes import is_grad_enabled as is_grad_enabled
from .modes import no_grad as no_grad
from .modes import set_grad_enabled as set_grad_enabled
from .passes import backward as backward
from .passes import grad as grad
