"""The engine is handed its target, its class of values and its operators."""

from ._tensor import Tensor
from .engine.graph.runtime import Roles
from .engine.record import apply, device_launch
from .operators.elementwise import arithmetic as _arithmetic
from .operators.elementwise import cast as _cast
from .operators.elementwise import selection as _selection
from .operators.reduction import reductions as _reduction
from .operators.shape import batch_rows as _rows
from .operators.shape import gathering as _gathering
from .operators.shape import indexing as _indexing
from .operators.shape import reshape as _shape
from .targets.cpu import CPUTarget


def _wire() -> None:
    apply.runtime.target = CPUTarget()
    apply.runtime.apply_on_device = device_launch.apply
    apply.runtime.program_on_device = device_launch.program_of
    apply.runtime.maker_in_order = device_launch.maker_in_order
    apply.runtime.value = Tensor
    apply.runtime.roles = Roles(
        add=_arithmetic.add,
        subtract=_arithmetic.subtract,
        negative=_arithmetic.negative,
        maximum=_selection.maximum,
        minimum=_selection.minimum,
        copy=_arithmetic.copy,
        cast=_cast.cast,
        astype=_cast.astype,
        copy_spec=_cast.copy_spec,
        sum_to=_reduction.sum_to,
        broadcast_to=_shape.broadcast_to,
        expand_dims=_shape.expand_dims,
        reshape=_shape.reshape,
        index=_indexing.index,
        element=_indexing.element,
        gather=_gathering.gather,
        put_view=_indexing.put_view,
        put_at=_gathering.put_at,
        split_rows=_rows.split_rows,
        join_rows=_rows.join_rows,
    )


_wire()
