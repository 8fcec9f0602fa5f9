"""The engine is handed its target, its class of values and its operators; declarations their
recorder."""

from ._declare import door, registry
from ._tensor import Tensor, align, constant
from .engine import alone, deferred, dispatch, elsewhere, influence, record
from .operators import cast as _cast
from .operators import gathering as _gathering
from .operators import reduction as _reduction
from .operators import rows as _rows
from .operators import shape as _shape
from .targets.cpu import CPUTarget


def _wire() -> None:
    record.runtime.target = CPUTarget()
    record.runtime.elsewhere = elsewhere.apply
    record.runtime.program_elsewhere = elsewhere.program_of
    record.runtime.value = Tensor
    record.runtime.roles = {
        **{name: registry[name] for name in ("add", "subtract", "negative", "copy")},
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
    door.value, door.constant, door.align = Tensor, constant, align
    door.apply = record.apply
    door.alone, door.is_many = alone.alone, alone.is_many
    door.unary, door.binary = dispatch.unary, dispatch.binary
    door.several, door.learn = dispatch.several, dispatch.learn
    door.deferred = deferred.elementwise
    door.site = record.user_site
    door.influence = influence.influence


_wire()
