"""The elements of small arrays as values of their own: a store gives an element a new value, and
branches and loops hand the values on."""

import itertools

import numpy as np

from ..builder.promotion import folded, result_dtype
from ..builder.views import base_element
from ..ssa.copying import Constants, converted
from ..ssa.ir import Op, Program, Region, Type, Value

Place = tuple[int, ...]
Known = dict[Value, dict[Place, Value]]  # the values of elements, by array


def extents_of(array: Value) -> list[int]:
    """Return the lengths of an array whose lengths are known."""
    assert array.op is not None
    return [extent.constant for extent in array.op.info["extents"]]


def place_of(op: Op) -> Place | None:
    """Return the index of a load or a store as natural numbers; None where it is unknown or outside
    of the array."""
    found = []
    for index, extent in zip(op.index, extents_of(op.array), strict=True):
        place = index.constant
        if not isinstance(place, int) or not -extent <= place < extent:
            return None
        found.append(int(place) % extent)
    return tuple(found)


class Elements:
    """Replaces arrays by numbers, one for each element.

    Parameters
    ----------
    program : Program
    arrays : list of Value
        Local arrays of known lengths, all of whose indices are known.
    """

    def __init__(self, program: Program, arrays: list[Value]) -> None:
        self.program, self.arrays = program, set(arrays)
        self.constants = Constants(program)
        self._instead: dict[Value, Value] = {}
        self._region: Region = program.body
        self._line = 0

    def run(self) -> None:
        if self.arrays:
            self._walk(self.program.body, {})
            self.program.results = [self._of(value) for value in self.program.results]

    def _of(self, value: Value) -> Value:
        return self._instead.get(value, value)

    def _walk(self, region: Region, known: Known) -> None:
        """Rewrite a region. ``known`` has the elements before the region, and is changed to those
        after it."""
        ops, region.ops = region.ops, []
        outer, self._region = self._region, region
        for op in ops:
            self._line = op.line
            op.args = [self._of(arg) for arg in op.args]
            if "extents" in op.info:
                op.info["extents"] = [self._of(extent) for extent in op.info["extents"]]
            if op.regions:
                (self._if if op.name == "if" else self._loop)(op, known)
            elif not self._is_done(op, known):
                region.ops.append(op)
        region.yields = [self._of(value) for value in region.yields]
        region.go_on = None if region.go_on is None else self._of(region.go_on)
        self._region = outer

    def _is_done(self, op: Op, known: Known) -> bool:
        """Whether numbers have taken the place of an operation."""
        array = op.result if op.name in ("alloc", "copy") else op.args[0] if op.args else None
        if op.name == "copy" and op.args[0] in self.arrays and op.result not in self.arrays:
            self._copied_out(op, known[op.args[0]])
            return True
        if array not in self.arrays or array is None:
            return False
        if op.name == "alloc":
            start = self._converted(self.constants.of(int(op.info["fill"] == "ones")), array)
            known[array] = dict.fromkeys(self._places(array), start)
        elif op.name == "copy":
            known[array] = {place: self._copied(op, place, known) for place in self._places(array)}
        else:
            place = place_of(op)
            assert place is not None
            self._access(op, known[array], place)
        return True

    def _places(self, array: Value) -> list[Place]:
        return list(itertools.product(*map(range, extents_of(array))))

    def _access(self, op: Op, elements: dict[Place, Value], place: Place) -> None:
        if op.name == "load":
            self._instead[op.result] = elements[place]
            return
        value = op.stored
        if op.name == "accum":
            value = self._scalar("sub" if op.info["sign"] == "-" else "add", elements[place], value)
        elements[place] = self._converted(value, op.array)
        if not elements[place].hint and elements[place].constant is None:
            name = op.array.hint or "t"
            elements[place].hint = name + "".join(map(str, place))

    def _converted(self, value: Value, array: Value) -> Value:
        return converted(value, array.type.dtype, self._region, self.constants)

    # Copies

    def _copied(self, op: Op, place: Place, known: Known) -> Value:
        source = op.args[0]
        if source in self.arrays:
            return known[source][place]
        index = [self.constants.of(i) for i in place]
        array, index = base_element(self._scalar, self.constants.of, source, index)
        return self._made("load", [array, *index], source.type.dtype)

    def _copied_out(self, op: Op, elements: dict[Place, Value]) -> None:
        """Return a new array with the numbers as its elements."""
        op.name, op.args = "alloc", list(op.info["extents"])
        op.info["fill"] = "empty"
        self._region.ops.append(op)
        for place, value in elements.items():
            index = [self.constants.of(i) for i in place]
            store = Op("store", [op.result, *index, value], self._region, op.line, sign="")
            self._region.ops.append(store)

    def _scalar(self, name: str, *args: Value) -> Value:
        if (number := folded(name, args)) is not None:
            return self.constants.of(number)
        return self._made(name, list(args), result_dtype(name, args))

    def _made(self, name: str, args: list[Value], dtype: str) -> Value:
        made = Op(name, args, self._region, self._line)
        made.results.append(Value(Type(np.dtype(dtype).name), self._region, made))
        self._region.ops.append(made)
        return made.result

    # Branches and loops

    def _if(self, op: Op, known: Known) -> None:
        ends = []
        for region in op.regions:
            own = {array: dict(elements) for array, elements in known.items()}
            self._walk(region, own)
            ends.append(own)
        for array, elements in known.items():
            for place in elements:
                given = [own[array][place] for own in ends]
                if given[0] is not given[1]:
                    for region, value in zip(op.regions, given, strict=True):
                        region.yields.append(value)
                    elements[place] = self._result(op, array, place)
        self._region.ops.append(op)

    def _loop(self, op: Op, known: Known) -> None:
        body, changed = op.body, self._changed(op, known)
        own = {array: dict(elements) for array, elements in known.items()}
        for array, place in changed:
            phi = Value(Type(array.type.dtype), body, None, _name(array, place))
            op.args.append(known[array][place])
            body.phis.append(phi)
            own[array][place] = phi
        self._walk(body, own)
        for array, place in changed:
            body.yields.append(own[array][place])
            known[array][place] = self._result(op, array, place)
        self._region.ops.append(op)

    def _changed(self, op: Op, known: Known) -> list[tuple[Value, Place]]:
        """Return the elements, of arrays from before a loop, that the loop stores."""
        found: dict[tuple[Value, Place], None] = {}
        for inner in op.body.walk():
            if inner.name in ("store", "accum") and inner.array in known:
                place = place_of(inner)
                assert place is not None
                found[inner.array, place] = None
        return list(found)

    def _result(self, op: Op, array: Value, place: Place) -> Value:
        made = Value(Type(array.type.dtype), self._region, op, _name(array, place))
        op.results.append(made)
        return made


def _name(array: Value, place: Place) -> str:
    return (array.hint or "t") + "".join(map(str, place))
