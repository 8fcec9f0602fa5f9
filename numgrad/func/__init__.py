"""Function transforms under the names of torch.func and JAX: they take and return functions.

Functions given only NumPy arrays and numbers return NumPy arrays; any tensor argument makes the
results tensors.
"""

from ..names.foreign_names import names_elsewhere as _names_elsewhere
from .batching.vmap import vmap as vmap
from .control.cond import cond as cond
from .forward import jvp as jvp
from .forward import linearize as linearize
from .gradients import grad as grad
from .gradients import grad_and_value as grad_and_value
from .gradients import value_and_grad as value_and_grad
from .gradients import vjp as vjp
from .jacobians.hessian import hessian as hessian
from .jacobians.hessian import hvp as hvp
from .jacobians.hessian import vhp as vhp
from .jacobians.jacobian import jacfwd as jacfwd
from .jacobians.jacobian import jacobian as jacobian
from .jacobians.jacobian import jacrev as jacrev
from .jacobians.jacobian import value_and_jacobian as value_and_jacobian
from .registered_pytrees import register_pytree as register_pytree
from .tracing.jit import jit as jit
from .transposition import linear_transpose as linear_transpose

__all__ = [
    "cond", "grad", "grad_and_value", "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jit",
    "jvp", "linear_transpose", "linearize", "register_pytree", "value_and_grad",
    "value_and_jacobian", "vhp", "vjp", "vmap",
]  # fmt: skip

__getattr__ = _names_elsewhere(__name__)


def __dir__() -> list[str]:
    return __all__
