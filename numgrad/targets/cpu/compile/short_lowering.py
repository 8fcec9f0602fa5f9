"""Numba's lowering, with less LLVM code for what loops are full of: the same operations.

For each element of an array, each loop over a range and the end of each variable Numba writes the
general case, which LLVM then has to read and to simplify.
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, ir, types
from numba.core.ir_utils import get_definition, guard
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.np.arrayobj import fix_integer_index, load_item, store_item

from ..platform.numba_internals import has

_OF_LOWERING = ("_blk_local_varmap", "_singly_assigned_vars")


class ShortLower(Lower):
    """The lowering of one function."""

    def delvar(self, name: str) -> None:
        """Give up what a variable refers to; a number refers to nothing."""
        owns = self._model(self.typeof(name)).contains_nrt_meminfo()
        if owns or getattr(self, "_disable_sroa_like_opt", True) or not has(self, *_OF_LOWERING):
            super().delvar(name)
        elif name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)

    def _model(self, kind: Any) -> Any:
        return self.context.data_model_manager[kind]

    # Elements

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        place = self._place(value, index, signature)
        if place is None or signature.return_type != signature.args[0].dtype:
            return super().lower_getitem(resty, expr, value, index, signature)
        number = load_item(self.context, self.builder, signature.args[0], place())
        return self.context.cast(self.builder, number, signature.return_type, resty)

    def lower_setitem(
        self, target_var: Any, index_var: Any, value_var: Any, signature: Any
    ) -> Any:
        place = self._place(target_var, index_var, signature)
        kind = self.typeof(value_var.name)
        if place is None or not isinstance(kind, types.Number | types.Boolean):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        array, _, given = signature.args
        number = self.context.cast(self.builder, self.loadvar(value_var.name), kind, given)
        number = self.context.cast(self.builder, number, given, array.dtype)
        return store_item(self.context, self.builder, array, number, place())

    def _place(self, variable: Any, index: Any, signature: Any) -> Any:
        """Return a function that writes the code for the address of an element of an array; None
        for anything else."""
        array, kind = signature.args[:2]
        kinds: Any = kind if isinstance(kind, types.BaseTuple) else (kind,)
        is_element = (
            type(array) is types.Array and array == self.typeof(variable.name)
            and isinstance(array.dtype, types.Number | types.Boolean) and len(kinds) == array.ndim
            and all(isinstance(k, types.Integer) for k in kinds)
        )  # fmt: skip
        if not is_element or self.context.enable_boundscheck:
            return None
        return functools.partial(self._address, variable, index, array, kind)

    def _address(self, variable: Any, index: Any, array: Any, kind: Any) -> Any:
        context, builder = self.context, self.builder
        given = context.cast(builder, self.loadvar(index.name), self.typeof(index.name), kind)
        kinds: Any = (kind,)
        numbers = [given]
        if isinstance(kind, types.BaseTuple):
            kinds, numbers = kind, cgutils.unpack_tuple(builder, given)
        whole, model = self.loadvar(variable.name), self._model(array)
        data, shape, strides = (
            model.get(builder, whole, name) for name in ("data", "shape", "strides")
        )
        shape = cgutils.unpack_tuple(builder, shape)
        places = [
            fix_integer_index(context, builder, k, place, extent)
            for k, place, extent in zip(kinds, numbers, shape, strict=True)
        ]
        return cgutils.get_item_pointer2(
            context, builder, data, shape, cgutils.unpack_tuple(builder, strides), array.layout,
            places,
        )  # fmt: skip

    # Ranges

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if expr.op == "getiter" and isinstance(resty, types.RangeIteratorType):
            step = guard(self._step, expr.value)
            if step in (1, -1):
                return self._iterator(resty, expr.value, step)
        return super().lower_expr(resty, expr)

    def _step(self, variable: Any) -> int | None:
        """Return the step of a range, if that is known."""
        call = get_definition(self.func_ir, variable)
        if not isinstance(call, ir.Expr) or call.op != "call" or call.vararg or call.kws:
            return None
        if len(call.args) < 3:
            return 1
        step = get_definition(self.func_ir, call.args[2])
        return step.value if isinstance(step, ir.Const) else None

    def _iterator(self, kind: Any, variable: Any, step: int) -> Any:
        """Return an iterator over a range with the step 1 or -1."""
        builder: Any = self.builder
        given = self.loadvar(variable.name)
        start, stop = builder.extract_value(given, 0), builder.extract_value(given, 1)
        zero = llvm.Constant(start.type, 0)
        distance = builder.sub(stop, start)
        count = distance if step == 1 else builder.sub(zero, distance, flags=["nsw"])
        is_above = builder.icmp_signed(">", distance, zero)
        pair = (count, zero) if step == 1 else (zero, count)
        count = builder.select(is_above, *pair)
        held = {
            "iter": cgutils.alloca_once(builder, start.type), "stop": stop,
            "step": llvm.Constant(start.type, step),
            "count": cgutils.alloca_once(builder, start.type),
        }  # fmt: skip
        builder.store(start, held["iter"])
        builder.store(count, held["count"])
        model = self._model(kind)
        made = llvm.Constant(model.get_value_type(), llvm.Undefined)
        for name, value in held.items():
            made = model.set(builder, made, value, name)
        return made


@contextmanager
def used() -> Iterator[None]:
    """Let Numba lower functions so within the ``with`` block; the caller holds Numba's lock."""
    kind: Any = NativeLowering
    before = kind.lowering_class
    kind.lowering_class = ShortLower
    try:
        yield
    finally:
        kind.lowering_class = before
