"""Functions of loops and their derived adjoints as kernels that run without Python.

The machine calls an operator of Python through a callback, which makes arrays of the operands: some
50 us for a function that may take one. `native_loops` and `native_pullback` write code that calls
what Numba has compiled; unusual calls are left to the callback.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from ..targets.cpu.compile.intrinsics import INT64
from .interface import PLACE
from .lent_tapes import BUSY, TAPES, LentTapes
from .native_code import NativeCode


def native_loops(operator: Any, other: int) -> int | None:
    """Return the address of a kernel that calls a function of loops.

    Parameters
    ----------
    operator : Loops
    other : int
        The address of the kernel to which unusual calls are left.

    Returns
    -------
    int or None
        None where the function takes, or returns, what no code can be written for.
    """
    interface, dispatcher = operator.interface, operator.dispatcher
    samples = interface.arguments([core.sample() for core in interface.inputs])
    kinds = tuple([dispatcher.typeof_pyval(sample) for sample in samples])
    compiled = dispatcher.overloads.get(kinds)
    if compiled is None or dispatcher.targetoptions.get("parallel"):
        return None
    if not _is_plain(compiled.signature.return_type):
        return None
    code, first = _code(operator, other), len(interface.inputs)
    values = [code.value(n) for n in range(first)]
    for n, k in zip(interface.written, range(first + len(interface.returned), len(code.cores)),
                    strict=True):  # fmt: skip
        code.copy(k, code.address(n))
        values[n] = code.value(k)
    given = iter(values)
    try:
        arguments = [
            _argument(code, form, kind, given)
            for form, kind in zip(interface.form, kinds, strict=True)
        ]
    except NotImplementedError:  # Numba has no value for a constant among the arguments
        return None
    is_fine, result = code.call(compiled, arguments)
    code.require(is_fine)
    parts = list(_parts(code, compiled.signature.return_type, result))
    for is_expected in [_return(code, n, *part) for n, part in enumerate(parts, first)]:
        code.require(is_expected)
    return code.finish()


def _argument(code: NativeCode, form: Any, kind: Any, given: Any) -> Any:
    """Return the value of an argument: of an operand, of a tuple of them, or of a constant."""
    if form is PLACE:
        return next(given)
    if isinstance(form, tuple) and isinstance(kind, types.BaseTuple):
        inner: Any = kind
        parts = [_argument(code, part, k, given) for part, k in zip(form, inner, strict=True)]
        return code.context.make_tuple(code.builder, kind, parts)
    return code.context.get_constant_generic(code.builder, kind, form)


def _is_plain(kind: Any) -> bool:
    """Whether a result is a number, an array in C order, or a tuple of such."""
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        return all(map(_is_plain, parts))
    is_array = isinstance(kind, types.Array) and kind.layout == "C" and kind.ndim > 0
    return is_array or isinstance(kind, (types.Number, types.Boolean, types.NoneType))


def _parts(code: NativeCode, kind: Any, value: Any) -> Any:
    """Yield the numbers and arrays of a result, with their types."""
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        for n, inner in enumerate(parts):
            yield from _parts(code, inner, code.builder.extract_value(value, n))
    elif not isinstance(kind, types.NoneType):
        yield kind, value


def _return(code: NativeCode, n: int, kind: Any, value: Any) -> Any:
    """Write a part of a result to its output, and give a returned array back to Numba; return
    whether the part has the shape of the output."""
    same: Any = ir.IntType(1)(1)
    if not isinstance(kind, types.Array):
        code.set(n, kind, value)
        return same
    array = cgutils.create_struct_proxy(kind)(code.context, code.builder, value=value)
    shape = cgutils.unpack_tuple(code.builder, array.shape, kind.ndim)
    for extent, expected in zip(shape, code.shapes[n], strict=True):
        same = code.builder.and_(same, code.builder.icmp_signed("==", extent, expected))
    with code.builder.if_then(same):
        code.copy(n, code.builder.ptrtoint(array.data, INT64))
    code.release(array)
    return same


def native_pullback(operator: Any, tapes: LentTapes, other: int) -> int | None:
    """Return the address of a kernel that calls a derived adjoint.

    Parameters
    ----------
    operator : Pullback
    tapes : LentTapes
        The tapes that the calls take turns to use.
    other : int
        The address of the kernel to which unusual calls are left.

    Returns
    -------
    int or None
        None for the adjoint of an adjoint, for one whose loops run on several threads, and for one
        that has shadows which are no outputs.
    """
    derived, first = operator.derived, len(operator.cores)
    is_alone = operator.inner is None and not derived.is_chunked
    if not is_alone or set(derived.shadows) != set(operator.arrays):
        return None
    code = _code(operator, other)
    parameters, starts, seeds = operator.split(range(first))
    for n, axis, least in derived.program.requires:
        extent = code.shapes[parameters[n]][axis]
        code.require(code.builder.icmp_signed(">=", extent, INT64(least)))
    kinds = [code.kind(n) for n in parameters]
    places = [first + operator.arrays.index(n) for n in derived.shadows]
    kinds += [code.kind(n) for n in (*places, *seeds)] + list(_TAPES)
    compiled = getattr(derived.compiled, "overloads", {}).get(tuple(kinds))
    if compiled is None:
        return None
    block = code.builder.inttoptr(INT64(tapes.address), INT64.as_pointer())
    taken = code.builder.atomic_rmw("xchg", code.builder.gep(block, [INT64(BUSY)]), INT64(1),
                                    "acquire")  # fmt: skip
    code.require(code.builder.icmp_signed("==", taken, INT64(0)))
    for n, place in zip(derived.shadows, places, strict=True):
        code.copy(place, code.address(starts[n])) if n in starts else code.clear(place)
    arguments = [code.value(n) for n in (*parameters, *places, *seeds)]
    lent = code.word(INT64(tapes.address), TAPES)
    lengths = [code.word(lent, 1), code.word(lent, 3)]
    for kind, at, length in zip(_TAPES, (0, 2), lengths, strict=True):
        arguments.append(code.array(kind, code.word(lent, at), [length]))
    is_fine, result = code.call(compiled, arguments)
    for n, length in enumerate(lengths):
        needed = code.builder.extract_value(result, n)
        is_enough = code.builder.icmp_signed("<=", needed, length)
        is_fine = code.builder.and_(is_fine, is_enough)
    code.builder.store_atomic(INT64(0), code.builder.gep(block, [INT64(BUSY)]), "release", 8)
    code.require(is_fine)
    numbers = compiled.signature.return_type.types[2:]
    for n, kind in enumerate(numbers):
        code.set(first + len(places) + n, kind, code.builder.extract_value(result, 2 + n))
    return code.finish()


_TAPES = types.Array(types.float64, 1, "C"), types.Array(types.int64, 1, "C")


def _code(operator: Any, other: int) -> NativeCode:
    signature = operator.signature
    names: Sequence[Any] = (*signature.inputs, *signature.outputs)
    return NativeCode((*operator.cores, *operator.out_cores), names, other)
