"""The arrays whose elements an array value may be, and copies that must not be written."""

from ..ssa.ir import Op, Program, Region, Value
from ..ssa.refusal import Refusal
from .things import Complex, Thing


def values_of(array: Value, seen: set[Value] | None = None) -> set[Value]:
    """Return the arrays whose elements an array value may have: of a view its base, of a carried
    array all that the loop exchanges."""
    seen = set() if seen is None else seen
    while array.op is not None and array.op.name == "view":
        array = array.op.args[0]
    if array in seen:
        return set()
    seen.add(array)
    if array.op is not None and array.op.name == "loop":
        array = array.op.body.phis[array.op.results.index(array)]
    if not array.is_phi:
        return {array}
    body, owner = array.region, array.region.owner
    assert owner is not None
    place = body.phis.index(array)
    others = [owner.inits[place], *body.yields[place : place + 1]]
    return set().union(*(values_of(other, seen) for other in others))


def bases(array: Value) -> set[int]:
    return {id(base) for base in values_of(array)}


def is_given(base: Value) -> bool:
    """Whether an array comes from outside of the kernel."""
    return base.op is None


def arrays_of(thing: Thing) -> list[Value]:
    if isinstance(thing, Complex):
        thing = (thing.re, thing.im)
    if isinstance(thing, tuple):
        return [array for part in thing for array in arrays_of(part)]
    return [thing] if isinstance(thing, Value) and thing.type.is_array else []


def require_by_value(program: Program) -> None:
    """Refuse writes into arrays that were copied where a name was bound again.

    Raises
    ------
    Refusal
    """
    ops = list(program.body.walk())
    stores = {op for op in ops if op.name in ("store", "accum") and not op.info["own"]}
    written = {op: _with_starts(program, bases(op.array)) for op in stores}
    made = {id(array): array for op in ops for array in op.results if array.type.is_array}
    for hazards, buffer, name in program.by_value:
        if buffer.op not in ops:  # of an attempt that was given up
            continue
        first = ops.index(buffer.op)
        after = {op for op in ops[first:] if op in stores and written[op] & hazards}
        again = {
            op
            for op in set(ops[:first]) & stores
            if any(_is_again(op, made.get(base), buffer) for base in written[op] & hazards)
        }
        for op in ops:
            if (op in after or op in again) and name.startswith("append "):
                raise Refusal(
                    f"line {op.line}, in {program.name}: {name[7:]} is in a list, and is also "
                    f"written in place: write `.copy()` where it is appended or taken"
                )
            if op in after or op in again:
                raise Refusal(
                    f"line {op.line}, in {program.name}: `{name}` becomes another array, and is "
                    f"also written in place: write `{name}[:] = ...` instead of `{name} = ...`, or "
                    f"begin with a copy"
                )


def _with_starts(program: Program, found: set[int]) -> set[int]:
    """Add the arrays with which buffers begin. Of nested loops the inner buffer begins as a copy of
    the outer one, so a write into it is a write into the array that had the name before the outer
    loop."""
    waiting, found = list(found), set(found)
    while waiting:
        _, start = program.starts.get(waiting.pop(), (None, set()))
        waiting += start - found
        found |= start
    return found


def _is_again(store: Op, base: Value | None, buffer: Value) -> bool:
    """Whether a store before a copy comes again after it, by a loop around both, to an array that
    the loop does not make anew."""
    around = [region for region in buffer.region.ancestors() if region.is_loop]
    loops = [region for region in around if store.region.is_within(region)]
    return any(base is None or not base.region.is_within(region) for region in loops)


def made_inside(region: Region) -> set[int]:
    made = [op for op in region.walk() if op.name in ("alloc", "copy", "given")]
    return {id(array) for op in made for array in op.results}
