"""The words of respelled sources, as intrinsics of Numba.

A row is a pointer into a tape. Numba counts no references to a pointer, and takes an index as it
is.
"""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import cgutils, imputils, types
from numba.core.errors import TypingError
from numba.extending import register_jitable
from numba.np import arrayobj

if TYPE_CHECKING:

    def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
        """Stand in for Numba's decorator when a type checker reads this module.

        The decorator removes the first parameter of a function, the typing context.
        """
        ...
else:
    from numba.extending import intrinsic


# Rows of tapes


@intrinsic
def row_at(typingctx, tape, start):
    """Return a pointer to an element of a tape."""
    kind, start = types.CPointer(tape.dtype), types.unliteral(start)

    def codegen(context, builder, signature, args):
        data = args[0]
        if isinstance(tape, types.Array):
            data = arrayobj.make_array(tape)(context, builder, value=data).data
        row = builder.gep(data, [_place(context, builder, start, args[1])])
        return _hidden(builder, row)

    return kind(tape, start), codegen


def _hidden(builder, pointer):
    """Return a pointer of which LLVM does not know how it comes about.

    A loop is vectorised for the case that its arrays are apart. If LLVM saw how a row moves from
    one step of an outer loop to the next, it would compare once, before the outer loop, what all of
    its steps touch; the rows of one step are those of others, and the loop would stay scalar.
    """
    kind = ir.FunctionType(pointer.type, [pointer.type])
    return builder.asm(kind, "", "=r,0", [pointer], False)


@intrinsic
def taken(typingctx, row, place):
    """Return the number at a place of a row."""
    place = types.unliteral(place)

    def codegen(context, builder, signature, args):
        at = builder.gep(args[0], [_place(context, builder, place, args[1])])
        return context.unpack_value(builder, row.dtype, at)

    return row.dtype(row, place), codegen


@intrinsic
def lay(typingctx, row, place, number):
    """Write a number at a place of a row."""
    place, number = types.unliteral(place), types.unliteral(number)

    def codegen(context, builder, signature, args):
        at = builder.gep(args[0], [_place(context, builder, place, args[1])])
        value = context.cast(builder, args[2], number, row.dtype)
        context.pack_value(builder, row.dtype, value, at)
        return context.get_dummy_value()

    return types.none(row, place, number), codegen


def _place(context, builder, kind, value):
    return context.cast(builder, value, kind, types.intp)


# Elements of arrays


def _changed(typingctx: Any, function: Any, array: Any, number: Any, index: tuple) -> Any:
    """Return the signature and the code of a change of an element by a function of the element and
    a number."""
    index = tuple(map(types.unliteral, index))
    is_element = isinstance(array, types.Array) and array.ndim == len(index)
    if not (is_element and all(isinstance(kind, types.Integer) for kind in index)):
        raise TypingError(f"{array} has no element at {index}")
    number = types.unliteral(number)
    own = typingctx.resolve_function_type(function, (array.dtype, number), {})

    def codegen(context, builder, signature, args):
        pairs = zip(index, args[2:], strict=True)
        places = [context.cast(builder, value, kind, types.intp) for kind, value in pairs]
        whole = arrayobj.make_array(array)(context, builder, value=args[0])
        at = cgutils.get_item_pointer(
            context, builder, array, whole, places, wraparound=True,
            boundscheck=context.enable_boundscheck,
        )  # fmt: skip
        held = arrayobj.load_item(context, builder, array, at)
        operands = [
            context.cast(builder, held, array.dtype, own.args[0]),
            context.cast(builder, args[1], number, own.args[1]),
        ]
        found = context.get_function(function, own)(builder, operands)
        found = context.cast(builder, found, own.return_type, array.dtype)
        arrayobj.store_item(context, builder, array, found, at)
        return context.get_dummy_value()

    return types.none(array, number, *index), codegen


@intrinsic
def add_1(typingctx, array, number, i):
    """Add a number to an element of an array with one axis."""
    return _changed(typingctx, operator.add, array, number, (i,))


@intrinsic
def add_2(typingctx, array, number, i, j):
    """Add a number to an element of an array with two axes."""
    return _changed(typingctx, operator.add, array, number, (i, j))


@intrinsic
def add_3(typingctx, array, number, i, j, k):
    """Add a number to an element of an array with three axes."""
    return _changed(typingctx, operator.add, array, number, (i, j, k))


@intrinsic
def subtract_1(typingctx, array, number, i):
    """Subtract a number from an element of an array with one axis."""
    return _changed(typingctx, operator.sub, array, number, (i,))


@intrinsic
def subtract_2(typingctx, array, number, i, j):
    """Subtract a number from an element of an array with two axes."""
    return _changed(typingctx, operator.sub, array, number, (i, j))


@intrinsic
def subtract_3(typingctx, array, number, i, j, k):
    """Subtract a number from an element of an array with three axes."""
    return _changed(typingctx, operator.sub, array, number, (i, j, k))


# Whole arrays


@intrinsic
def sum_of(typingctx, array, other):
    """Return ``array`` with ``other``, of the same shape, added in place; or a sum of numbers."""
    if not isinstance(array, types.Array):
        return _sum_of_numbers(typingctx, array, other)
    own = typingctx.resolve_function_type(operator.add, (array.dtype, other.dtype), {})

    def codegen(context, builder, signature, args):
        to, given = (
            arrayobj.make_array(kind)(context, builder, value=value)
            for kind, value in zip((array, other), args, strict=True)
        )
        shapes = [cgutils.unpack_tuple(builder, whole.shape) for whole in (to, given)]
        for one, another in zip(*shapes, strict=True):
            with builder.if_then(builder.icmp_signed("!=", one, another), likely=False):
                context.call_conv.return_user_exc(builder, ValueError, ("shapes differ",))
        add, intp = context.get_function(operator.add, own), context.get_value_type(types.intp)
        with cgutils.loop_nest(builder, shapes[0], intp) as places:
            at = cgutils.get_item_pointer(context, builder, array, to, places)
            origin = cgutils.get_item_pointer(context, builder, other, given, places)
            pair = (
                (array, arrayobj.load_item(context, builder, array, at)),
                (other, arrayobj.load_item(context, builder, other, origin)),
            )
            operands = [
                context.cast(builder, value, kind.dtype, wide)
                for (kind, value), wide in zip(pair, own.args, strict=True)
            ]
            found = add(builder, operands)
            found = context.cast(builder, found, own.return_type, array.dtype)
            arrayobj.store_item(context, builder, array, found, at)
        return imputils.impl_ret_borrowed(context, builder, array, args[0])

    return array(array, other), codegen


def _sum_of_numbers(typingctx: Any, one: Any, other: Any) -> Any:
    own = typingctx.resolve_function_type(operator.add, (one, other), {})

    def codegen(context, builder, signature, args):
        return context.get_function(operator.add, own)(builder, args)

    return own, codegen


@intrinsic
def copied(typingctx, array):
    """Return a copy of an array, whose elements lie row by row as in NumPy's copies; Numba's
    copies of LAPACK's results lie column by column."""
    kind = array.copy(layout="C", readonly=False)

    def codegen(context, builder, signature, args):
        whole = arrayobj.make_array(array)(context, builder, value=args[0])
        shape = cgutils.unpack_tuple(builder, whole.shape)
        made = _allocated(context, builder, kind, shape)
        if array.layout == "C":
            cgutils.raw_memcpy(builder, made.data, whole.data, whole.nitems, made.itemsize)
        else:
            intp = context.get_value_type(types.intp)
            with cgutils.loop_nest(builder, shape, intp) as places:
                at = cgutils.get_item_pointer(context, builder, kind, made, places)
                origin = cgutils.get_item_pointer(context, builder, array, whole, places)
                number = arrayobj.load_item(context, builder, array, origin)
                arrayobj.store_item(context, builder, kind, number, at)
        return made._getvalue()

    return kind(array), codegen


def _allocated(context, builder, kind, shape):
    """Return a new array, whose elements are undefined."""
    element = context.get_data_type(kind.dtype)
    itemsize = context.get_constant(types.intp, context.get_abi_sizeof(element))
    nbytes, is_large = itemsize, context.get_constant(types.boolean, False)
    strides = [itemsize] * len(shape)
    axes = range(len(shape)) if kind.layout == "F" else reversed(range(len(shape)))
    for axis in axes:
        strides[axis] = nbytes
        product = builder.smul_with_overflow(nbytes, shape[axis])
        nbytes = builder.extract_value(product, 0)
        is_large = builder.or_(is_large, builder.extract_value(product, 1))
    with builder.if_then(is_large, likely=False):
        context.call_conv.return_user_exc(builder, ValueError, ("array is too big",))
    align = context.get_constant(types.uint32, context.get_preferred_array_alignment(kind.dtype))
    meminfo = context.nrt.meminfo_alloc_aligned(builder, nbytes, align)
    data = builder.bitcast(context.nrt.meminfo_data(builder, meminfo), element.as_pointer())
    made = arrayobj.make_array(kind)(context, builder)
    arrayobj.populate_array(made, data, shape, strides, itemsize, meminfo)
    return made


def _new(lengths: tuple) -> Any:
    """Return the signature and the code of new zeros."""
    lengths = tuple(map(types.unliteral, lengths))
    kind = types.Array(types.float64, len(lengths), "C")

    def codegen(context, builder, signature, args):
        pairs = zip(lengths, args, strict=True)
        shape = [context.cast(builder, n, given, types.intp) for given, n in pairs]
        for n in shape:
            with builder.if_then(builder.icmp_signed("<", n, n.type(0)), likely=False):
                error = ValueError, ("negative dimensions not allowed",)
                context.call_conv.return_user_exc(builder, *error)
        made = _allocated(context, builder, kind, shape)
        nbytes = builder.mul(made.nitems, made.itemsize)
        cgutils.memset(builder, made.data, nbytes, 0)
        return made._getvalue()

    return kind(*lengths), codegen


@intrinsic
def _new_1(typingctx, n):
    return _new((n,))


@intrinsic
def _new_2(typingctx, n, m):
    return _new((n, m))


# Compiled apart: where LLVM sees from the beginning how an array comes about, it simplifies other
# expressions with its length, and finds no more that indices of loops over it are not negative.


@register_jitable
def zeros_1(n: Any) -> Any:
    """Return zeros with one axis."""
    return _new_1(n)


@register_jitable
def zeros_2(n: Any, m: Any) -> Any:
    """Return zeros with two axes."""
    return _new_2(n, m)


WORDS = {
    word.__name__: word
    for word in (
        row_at, taken, lay, add_1, add_2, add_3, subtract_1, subtract_2, subtract_3,
        sum_of, copied, zeros_1, zeros_2,
    )
}  # fmt: skip
