"""The arrays whose elements an array value may be, and copies that must not be written."""

from ..ssa.ir import Op, Program, Region, Value
from ..ssa.refusal import Refusal
from .things import Complex, Thing
from .views import unviewed


def carried_from(array: Value) -> list[Value]:
    """Return the arrays with which a loop begins and of which a carried array is one: those that
    names exchange. While the loop is read, these may be all of its arrays; an array that no loop
    carries has none."""
    if array.op is not None and array.op.name == "loop":
        array = array.op.body.phis[array.op.results.index(array)]
    if not array.is_phi:
        return []
    body, owner = array.region, array.region.owner
    assert owner is not None
    if len(body.yields) < len(body.phis):
        return [init for init in owner.inits if init.type.is_array]
    places = [body.phis.index(array)]
    while (following := body.phis.index(body.yields[places[-1]])) not in places:
        places.append(following)
    return [owner.inits[place] for place in places]


def values_of(array: Value) -> set[Value]:
    """Return the arrays whose elements an array value may have: of a view its base, of a carried
    array all that the loop exchanges."""
    array = unviewed(array)
    begun = carried_from(array)
    return set().union(*map(values_of, begun)) if begun else {array}


def are_exchanged(one: Value, other: Value) -> bool:
    """Return whether a loop carries two arrays and exchanges them; such arrays never share memory.
    """
    if one is other or not (one.is_phi and other.is_phi) or one.region is not other.region:
        return False
    owner = one.region.owner
    assert owner is not None
    arrays = [init for init in owner.inits if init.type.is_array]
    made = [init for init in arrays if init.op is None or init.op.name in ("alloc", "copy")]
    return len(made) == len(set(arrays)) and not any(init.is_phi for init in arrays)


def may_share(one: Value, other: Value) -> bool:
    """Return whether two arrays may have elements in common."""
    one, other = unviewed(one), unviewed(other)
    return not are_exchanged(one, other) and bool(values_of(one) & values_of(other))


def written_by(program: Program) -> list[int]:
    """Return the positions of the parameters whose elements a program may write: by a store into
    an array that is the parameter or may be, not into one that a name exchanges with it."""
    stores = {op.array for op in program.body.walk() if op.name in ("store", "accum")}
    written = set().union(*map(values_of, stores))
    return [n for n, value in enumerate(program.parameters) if value in written]


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
    direct = {op: bases(op.array) for op in stores}
    written = {op: _with_copied(program, found) for op, found in direct.items()}
    made = {id(array): array for op in ops for array in op.results if array.type.is_array}
    used = _used(program, ops)
    for hazards, buffer, name in program.by_value:
        if buffer.op not in ops:  # of an attempt that was given up
            continue
        if buffer.type.is_array and buffer not in used:
            continue
        first = ops.index(buffer.op)
        after = {op for op in ops[first:] if op in stores and written[op] & hazards}
        again = {
            op
            for op in set(ops[:first]) & stores
            if any(
                _is_again(op, made.get(base) if base in direct[op] else None, buffer)
                for base in written[op] & hazards
            )
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


def _used(program: Program, ops: list[Op]) -> set[Value]:
    """Return the arrays whose elements are read, or written by the user; not those into which names
    that no statement reads any more are copied."""
    regions = [region for op in ops for region in op.regions]
    used = {*program.results, *(end for region in regions for end in region.ends())}
    for op in reversed(ops):
        is_own = op.name in ("store", "accum") and op.info["own"]
        if op.name == "view":
            used |= set(op.args[:1]) if op.result in used else set()
        elif op.name != "shape":
            used |= set(op.args[1:] if is_own else op.args)
    return used


def _with_copied(program: Program, found: set[int]) -> set[int]:
    """Add the arrays that buffers stand for. Of nested loops the inner buffer begins as a copy of
    the outer one, so a write into it is a write into the array that had the name before the outer
    loop."""
    waiting, found = list(found), set(found)
    while waiting:
        _, sources = program.copied.get(waiting.pop(), (None, set()))
        waiting += sources - found
        found |= sources
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
