"""The engine is handed its target, its class of values and its operators."""

from ._declare import registry
from ._tensor import Tensor
from .engine.record import apply, device_launch
from .operators.elementwise import cast as _cast
from .operators.reduction import reductions as _reduction
from .operators.shape import batch_rows as _rows
from .operators.shape import gathering as _gathering
from .operators.shape import reshape as _shape
from .targets.cpu import CPUTarget


def _wire() -> None:
    apply.runtime.target = CPUTarget()
    apply.runtime.apply_on_device = device_launch.apply
    apply.runtime.program_on_device = device_launch.program_of
    apply.runtime.value = Tensor
    apply.runtime.roles = {
        **{name: registry[name] for name in ("add", "subtract", "negative", "copy")},
        **{name: registry[name] for name in ("maximum", "minimum")},
        "sum_to": _reduction.sum_to,
        "cast": _cast.cast,
        "astype": _cast.astype,
        "copy_spec": _cast.copy_spec,
        "broadcast_to": _shape.broadcast_to,
        "expand_dims": _shape.expand_dims,
        **{name: registry[name] for name in ("index", "element", "put_view")},
        "put_at": _gathering.put_at,
        "gather": _gathering.gather,
        "reshape": _shape.reshape,
        "split_rows": _rows.split_rows,
        "join_rows": _rows.join_rows,
    }


_wire()
