"""Names that a loop changes: numbers and exchanged arrays are carried from iteration to iteration,
other arrays become buffers.

A number is carried. An array whose name an iteration binds to another array is carried where the
names exchange their arrays; otherwise it becomes a buffer into which the new elements are copied.
Where the new array has another length, the buffer is a storage with room for more elements, and the
lengths are carried; so is an array that a loop makes and that is read after the loop.
"""

from typing import Any, NamedTuple

import numpy as np

from ..builder.bases import arrays_of, bases, is_given, made_inside, values_of
from ..builder.lists import Parts, as_list, as_tuple
from ..builder.promotion import unified
from ..builder.things import Complex, Poison, Static, Thing, Unkept, tuple_like
from ..ssa.ir import INTEGER, Region, Type, Value
from ..ssa.ranges import differs

Path = tuple[Any, ...]  # a name, and positions in the tuple that it stands for


class Again(Exception):  # noqa: N818
    """Raised when the body of a loop has to be read again, as more is known of its names now."""


class Stored(NamedTuple):
    """An array in a storage, of a type."""

    type: Type


class Carried:
    """The names that the body of a loop assigns, and how the loop carries each.

    Parameters
    ----------
    reader : Rebinding
    known : dict
        What earlier attempts found, by the path of a name or of a part of its tuple: a type,
        the size of a tuple, ``"buffer"``, ``Stored`` or why the name has no value; it is added to.
    names : list of str
    site : tuple
        The loop, for arrays that are read after it.
    unread : set of str
        Those of the names whose value before the loop no iteration reads, nor what follows.
    """

    def __init__(
        self, reader: Any, known: dict[Path, Any], names: list[str], site: tuple,
        unread: set[str],
    ) -> None:  # fmt: skip
        self.reader, self.b, self.known, self.site = reader, reader.b, known, site
        self.outer = {name: as_tuple(thing) for name, thing in reader.names.items()}
        is_lost = {name for name in unread if arrays_of(self.outer.get(name))}
        self.outer |= dict.fromkeys(is_lost)
        self.names = names
        self.starts: dict[Path, Value] = {}
        self.buffers: dict[Path, Value] = {}
        self.storages: dict[Path, Value] = {}
        self.views: dict[Path, Value] = {}  # of the storages, during an iteration
        self.phis: dict[Path, Value] = {}
        self.ends: dict[Path, Value] = {}
        for name in names:
            self._open((name,), self.outer.get(name))

    def inits(self) -> list[Value]:
        """Return the values of the carried things before the first iteration."""
        return list(self.starts.values())

    def _open(self, path: Path, thing: Thing) -> None:
        """Note how the thing of a name, or a part of it, is carried."""
        known = self.known.get(path)
        if isinstance(known, int) and thing is None:
            thing = (None,) * known
        if known is Complex or isinstance(thing, Complex):
            thing = self._parts(thing)
        if isinstance(thing, tuple):
            for position, part in enumerate(thing):
                self._open((*path, position), part)
        elif isinstance(known, Stored):
            self._open_storage(path, thing, known.type)
        elif known == "buffer":
            self.b.is_own = True
            self.buffers[path] = self.b.computed(self.b.lazy(thing), hint=str(path[0]))
            self.b.is_own = False
        elif isinstance(thing, Value) and not thing.type.is_array:
            self._carry(path, thing, known if isinstance(known, Type) else thing.type)
        elif isinstance(known, Type):
            self._carry(path, thing if isinstance(thing, Value) else self.b.zero(known), known)

    def _open_storage(self, path: Path, thing: Thing, kind: Type) -> None:
        storage = self.reader.lists.storage(kind, str(path[0]))
        self.storages[path] = storage
        zero = self.b.constant(0)
        is_new = not isinstance(thing, Value)
        shape = [zero] * (kind.ndim or 0) if is_new else self.reader.lists.fill(storage, thing)
        for axis, length in enumerate(shape):
            self._carry((*path, "length", axis), length, INTEGER)

    def _beginnings(self, values: dict[Path, Value]) -> dict[Path, Value]:
        """Return the arrays at the beginnings of the storages, of carried lengths."""
        found = {}
        for path, storage in self.storages.items():
            axes = range(self.known[path].type.ndim)
            shape = [values[(*path, "length", axis)] for axis in axes]
            found[path] = self.reader.lists.beginning(storage, shape)
        return found

    def _parts(self, thing: Thing) -> tuple[Thing, Thing]:
        """Return the parts of a complex thing, or of a thing that becomes complex."""
        if isinstance(thing, Complex):
            return thing.re, thing.im
        return thing, None if thing is None else self.b.constant(0.0)

    def _carry(self, path: Path, start: Value, kind: Type) -> None:
        if start.constant is not None and start.type != kind:
            start = self.b.constant(np.dtype(kind.dtype).type(start.constant))
        self.starts[path], self.known[path] = start, kind

    def open(self, region: Region) -> None:
        """Give names their values at the start of an iteration."""
        for path, start in self.starts.items():
            self.phis[path] = Value(self.known[path], region, None, str(path[0]) or start.hint)
        region.phis += self.phis.values()
        with self.b.inside(region):
            self.views = self._beginnings(self.phis)
        self._rename({**self.phis, **self.buffers, **self.views})

    def _rename(self, values: dict[Path, Value]) -> None:
        """Bind names to values; a name without a value before the loop has none."""
        for name in self.names:
            thing = self._renamed((name,), self.outer.get(name), values)
            self.reader.names[name] = as_list(thing)
            if thing is None:
                del self.reader.names[name]

    def _renamed(self, path: Path, thing: Thing, values: dict[Path, Value]) -> Thing:
        known = self.known.get(path)
        if isinstance(known, str) and known != "buffer":
            return Poison(known)
        if isinstance(known, int) and thing is None:
            thing = (None,) * known
        if known is Complex or isinstance(thing, Complex):
            pair = enumerate(self._parts(thing))
            return Complex(*(self._renamed((*path, n), part, values) for n, part in pair))
        if isinstance(thing, tuple):
            parts = [self._renamed((*path, n), part, values) for n, part in enumerate(thing)]
            return tuple_like(thing, parts)
        return values.get(path, thing)

    # The end of an iteration

    def check_ends(self) -> None:
        """Compare the things that names stand for at the end of an iteration with the assumptions.

        Raises
        ------
        Again
            If something else was assumed.
        """
        ends = {name: as_tuple(self.reader.names.get(name)) for name in self.names}
        settled = [self._is_settled((name,), end) for name, end in ends.items()]
        if not all(settled):
            raise Again

    def _is_settled(self, path: Path, end: Thing) -> bool:
        known, outer = self.known.get(path), self._outer_at(path)
        if isinstance(known, str) and known != "buffer":
            return True
        if path in self.storages:
            return self._is_settled_storage(path, end)
        if end is None or (end is outer and path not in self.phis and path not in self.buffers):
            return True
        if isinstance(end, Complex) or known is Complex:
            return self._is_settled_complex(path, end, outer)
        if isinstance(end, tuple):
            return self._is_settled_tuple(path, end, outer)
        if isinstance(end, (Poison, Static)):
            return self._is_settled_object(path, end, outer)
        if path in self.buffers:
            self.ends[path] = end
            return True
        return self._is_settled_value(path, end, outer)

    def _is_settled_storage(self, path: Path, end: Thing) -> bool:
        if not isinstance(end, Value) or end.type[:2] != self.known[path].type[:2]:
            return self._poison(path, f"`{path[0]}` stands for different things in a loop")
        self.ends[path] = end
        return True

    def _is_settled_complex(self, path: Path, end: Thing, outer: Thing) -> bool:
        if isinstance(outer, (tuple, Static)):
            return self._poison(path, f"`{path[0]}` stands for a number and for something else")
        is_new = self.known.get(path) is not Complex
        self.known[path] = Complex
        pair = enumerate(self._parts(end))
        parts = [self._is_settled((*path, n), part) for n, part in pair]
        return all(parts) and not is_new

    def _is_settled_tuple(self, path: Path, end: tuple, outer: Thing) -> bool:
        if outer is not None and (not isinstance(outer, tuple) or len(outer) != len(end)):
            return self._poison(
                path, f"`{path[0]}` stands for tuples of different lengths in a loop"
            )
        if isinstance(end, Parts) is not isinstance(outer, Parts):
            return self._poison(path, f"`{path[0]}` is a list that is only made in a loop")
        is_new = outer is None and self.known.get(path) != len(end)
        if is_new:
            self.known[path] = len(end)
        parts = [self._is_settled((*path, n), part) for n, part in enumerate(end)]
        return all(parts) and not is_new

    def _is_settled_object(self, path: Path, end: Poison | Static, outer: Thing) -> bool:
        if isinstance(end, Poison):
            return self._poison(path, end.reason)
        if isinstance(outer, Static) and (outer.value is end.value or outer.value == end.value):
            return True
        return self._poison(path, f"`{path[0]}` stands for different objects in a loop")

    def _poison(self, path: Path, reason: str) -> bool:
        self.known[path] = reason
        return False

    def _is_settled_value(self, path: Path, end: Value, outer: Thing) -> bool:
        known = self.known.get(path)
        if end.type.is_array and not isinstance(outer, Value):
            return self._is_kept(path, end, outer)
        if isinstance(known, int) or isinstance(outer, (tuple, Static)):
            return self._poison(path, f"`{path[0]}` stands for a number and for something else")
        before = known if isinstance(known, Type) else getattr(outer, "type", end.type)
        self.ends[path] = end
        self.known[path] = unified(before, end.type)
        return self.known[path] == known

    def _is_kept(self, path: Path, end: Value, outer: Thing) -> bool:
        """Have an array that only the loop makes stored if the array is read after the loop."""
        is_new = (outer is None or isinstance(outer, Poison)) and not end.type.is_list
        text = f"`{path[0]}` is an array that is only made in a loop: make it before the loop, too"
        reason = Unkept(text, (self.site, path) if is_new else None)
        if reason.key not in self.b.program.read_later:
            return self._poison(path, reason)
        self.known[path] = Stored(end.type)
        return False

    def _outer_at(self, path: Path) -> Thing:
        thing = self.outer.get(path[0])
        for position in path[1:]:
            if isinstance(thing, Complex) or self.known.get(path[:-1]) is Complex:
                thing = self._parts(thing)
            if not isinstance(thing, tuple) or position >= len(thing):
                return None
            thing = thing[position]
        return thing

    def close(self, region: Region) -> None:
        """Set the values that an iteration yields; copy new arrays into buffers."""
        self._require_exchange()
        self._fill_buffers(region)
        region.yields += [self.ends.get(path, phi) for path, phi in self.phis.items()]

    def _require_exchange(self) -> None:
        """Require that carried arrays are exchanged; the names of other arrays get buffers."""
        arrays = {path for path, phi in self.phis.items() if phi.type.is_array}
        exchanged = set(arrays)
        while True:
            phis = {id(self.phis[path]) for path in exchanged}
            ends = [id(self.ends[path]) for path in exchanged]
            outside = {path for path in exchanged if id(self.ends[path]) not in phis}
            if not outside:
                break
            exchanged -= outside
        if len(set(ends)) < len(ends):
            exchanged = set()
        if exchanged != arrays:
            self.known.update(dict.fromkeys(arrays - exchanged, "buffer"))
            raise Again

    def _fill_buffers(self, region: Region) -> None:
        kept = {**self.buffers, **self.views}
        moved = {p: end for p, end in self.ends.items() if p in kept and end is not kept[p]}
        self._require_lengths(region, moved)
        others = {id(kept) for kept in (*self.buffers.values(), *self.storages.values())}
        self._require_by_value(region, moved)
        ready = {}
        for path, end in moved.items():
            ready[path] = self.b.computed(self.b.lazy(end)) if bases(end) & others else end
        for path, end in ready.items():
            if path in self.storages:
                for axis, length in enumerate(self.reader.lists.fill(self.storages[path], end)):
                    self.ends[(*path, "length", axis)] = length
                continue
            message = (
                f"{self.reader.place.file}, line {self.b.line}: `{path[0]}` becomes an array of "
                f"another shape in a loop: append to a list, or fill an array that is long enough"
            )
            self.b.copy_into(self.buffers[path], end, message)

    def _require_lengths(self, region: Region, moved: dict[Path, Value]) -> None:
        """Require that arrays have the lengths of their buffers; others get storages."""
        longer = {
            path: Stored(end.type) for path, end in moved.items()
            if path in self.buffers and not end.type.is_list
            and self._differ(self.buffers[path], end, region)
        }  # fmt: skip
        if longer:
            self.known.update(longer)
            raise Again

    def _differ(self, buffer: Value, array: Value, region: Region) -> bool:
        """Whether an array that an iteration makes may have other lengths than its buffer."""
        lengths = [self.b.extents(array, axis) for axis in range(array.type.ndim or 0)]
        pairs = zip(self.b.shape(buffer), lengths, strict=True)
        return any(differs(one, other, [region]) for one, others in pairs for other in others)

    def _require_by_value(self, region: Region, moved: dict[Path, Value]) -> None:
        """Note the arrays that must not be written, so that copying into a buffer is the same as
        binding a name.

        Nothing else sees the difference where all new arrays are made inside of the loop, or are
        buffers whose names are bound to others, and the first one is known by no other name. Else
        neither the buffer nor what is copied into it
        may be written, by whatever name.
        """
        made = made_inside(region)
        ends = [base for end in moved.values() for base in bases(end)]
        stored = {**self.buffers, **self.storages}
        left = {id(stored[path]) for path in moved}  # which names give to one another
        is_shared = len(set(ends)) < len(ends) or not set(ends) <= made | left
        for path, buffer in stored.items():
            first = self._outer_at(path)
            start = bases(first) if isinstance(first, Value) else set()
            given = bases(moved[path]) if path in moved else set()
            self.b.program.copied[id(buffer)] = buffer, start | given
            if is_shared or (start and self._is_known_otherwise(path)):
                hazards = {id(buffer)} | start | (set(ends) - made)
                self.b.program.by_value.append((hazards, buffer, str(path[0])))

    def _is_known_otherwise(self, path: Path) -> bool:
        """Whether the array that a name has before a loop may be known by another name."""
        first = self._outer_at(path)
        own = bases(first)
        if any(is_given(base) for base in values_of(first)):
            return True
        named = [array for thing in self.outer.values() for array in arrays_of(thing)]
        known = [*named, *self.reader.run_over, *self.reader.known_outside]
        return sum(bool(bases(array) & own) for array in known) > 1

    def after(self, results: list[Value]) -> None:
        """Give names their values after the loop."""
        values = dict(zip(self.phis, results, strict=True))
        self._rename({**values, **self.buffers, **self._beginnings(values)})
