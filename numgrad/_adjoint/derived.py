"""Derived adjoints: from a kernel to the source of its reverse mode."""

import hashlib
import linecache
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .analyses.activity import Activity
from .analyses.comparisons import compared_only
from .analyses.dependence import Dependence
from .analyses.keep import Keeping, extents_of
from .analyses.simplify import Liveness, remove_dead, simplify
from .analyses.small_arrays import numbers_for_arrays
from .analyses.totals import reduces
from .builder.things import tuple_like
from .frontend.reading import Known, read
from .generation.chunks import Chunks
from .generation.exchanges import arrays_again
from .generation.fission import Fission
from .generation.forward import Forward, zero_text
from .generation.order import Order
from .generation.races import Races
from .generation.reverse import Reverse
from .generation.roots import Roots
from .generation.snapshots import Snapshots
from .generation.tape import Tape
from .generation.threads import UndefinedError, functions_of, on_one_thread
from .generation.writing import Names, Writer, tidied
from .respelling import respelled
from .respelling.apart import APART, compiled_apart
from .ssa.ir import Classes, Op, Program, Type, Value
from .ssa.refusal import AdjointError


@dataclass(frozen=True)
class Options:
    """Switches of the optimisations, all on; tests turn them off one by one.

    Attributes
    ----------
    common : bool
        Equal operations and loads are done once.
    cut : bool
        The least is kept on the tape; else all that is needed.
    compare : bool
        Indices are compared to see which loads stay valid.
    slice : bool
        The forward sweep has only what is needed.
    reorder : bool
        Loops whose steps commute are reversed upwards; sums stay in registers.
    split : bool
        Loops that add to neighbours are reversed by several, which vectorise.
    checked : bool
        The length of the tape is checked. Deriving again needs a source without: its tape is
        long enough.
    snapshots : bool
        Outer loops run their steps again from snapshots, for a tape of a bounded length.
    small : bool
        Small local arrays whose indices are known are numbers.
    whole : bool
        Arrays that loops in a step load again and again are kept whole.
    roots : bool
        Divisions by one square root are a division and products.
    threads : bool
        Loops over ``prange`` run in chunks, on several threads where the caller allows that.
    long : int
        From how many statements on a source is several functions; no limit is infinite.
    """

    common: bool = True
    cut: bool = True
    compare: bool = True
    slice: bool = True
    reorder: bool = True
    split: bool = True
    checked: bool = True
    snapshots: bool = False
    small: bool = True
    whole: bool = True
    roots: bool = True
    threads: bool = True
    long: float = 250


@dataclass
class Surroundings:
    """Functions that the callers of derived adjoints supply once.

    Attributes
    ----------
    kept : callable
        Gives the dispatcher of a derived function a cache.
    kept_part : callable
        Gives the dispatcher of a part of a derived function a cache.
    memory : callable
        Gives the bytes that a tape may take.
    team : callable
        Gives a context in which a call may run on several threads, or None for one thread.
    """

    kept: Callable[[Any], Any] = lambda dispatcher: dispatcher
    kept_part: Callable[[Any], Any] = lambda dispatcher: dispatcher
    memory: Callable[[], int] = lambda: 64 << 20
    team: Callable[[], AbstractContextManager | None] = lambda: None


surroundings = Surroundings()


class Text(NamedTuple):
    """The source of an adjoint, the names of its tapes and of the shadows of arrays, and whether
    steps run again from snapshots."""

    source: str
    tapes: list[str]
    shadows: list[str]
    has_snapshots: bool


class Derived:
    """The adjoint of a kernel for arguments of certain types.

    Its function takes the arguments of the kernel (constants left out, tuples taken apart), the
    shadows of the active arrays, the cotangents of the results and two tapes. It adds to the
    shadows of arrays; that of an array which the kernel writes holds the cotangent of its last
    elements before and that of its first elements after. It returns the lengths that the tapes
    need and the cotangents of the active numbers. Where a length is larger than that of its tape,
    nothing else was done: call it again with longer ones.

    Attributes
    ----------
    source : str
        The text of the function.
    name : str
    parameters : list of str
        The names of the arguments of the kernel.
    shadows : list of int
        The positions of the arguments that have shadows.
    numbers : list of int
        The positions of the numbers whose cotangents are returned.
    results : list of Type
        The types of what the kernel returns, with the dtypes of `take_results`.
    cotangents : list of int
        The positions of the results that have cotangents.
    structure : str
        Whether the kernel returns ``"none"``, ``"one"`` or a ``"tuple"``.
    written : list of int
        The positions of the arrays that the kernel writes.
    compared_only : list of tuple
        The names of active arguments that reach the results through comparisons only, and the
        lines of the first ones.
    file : str
        Where the kernel stands.
    exceeding : list or None
        The shapes of arrays and the numbers for which the tapes took more at the last call.
    has_snapshots : bool
        Whether the function takes an array ``control`` after the tapes: see ``snapshots``.
    request : tuple
        The function, the types of its arguments and the active ones.
    lengths : tuple of int
        The lengths of the tapes that sufficed at the last call, for the next one to begin with.
    first : Derived or None
        The adjoint that this one is the adjoint of.
    general : Derived
        The adjoint that takes no slice to be as long as it says.
    """

    exceeding: Any = None
    request: tuple[Any, Sequence[Any], Sequence[int]]
    lengths: tuple[int, int] = (1024, 1024)
    first: "Derived | None" = None
    general: "Derived"

    def __init__(self, program: Program, active: Sequence[int], options: Options) -> None:
        self.program, self.options = program, options
        self.name = f"{program.name}_adjoint"
        self.file = program.file
        self.parameters = [value.hint for value in program.parameters]
        self.structure = program.structure
        self.results = [value.type for value in program.results]
        self._derive(list(active))

    def _derive(self, active: list[int]) -> None:
        program, options = self.program, self.options
        if options.small:
            numbers_for_arrays(program)
        if options.common:
            simplify(program)
        remove_dead(program)
        classes = Classes(program.body)
        self.written = program.written
        self._refuse_racing()
        variables = [program.parameters[n] for n in active]
        outputs = [*program.results, *(program.parameters[n] for n in self.written)]
        self.activity = Activity(program, classes, variables, outputs)
        silent = compared_only(program, classes, self.activity, variables, outputs)
        self.compared_only = [(value.hint, line) for value, line in silent]
        dependence = Dependence(program, classes, options.compare)
        self.keeping = Keeping(
            program, classes, self.activity, dependence, options.cut, options.whole
        )
        self._number(active)
        self._classes = classes

    def _refuse_racing(self) -> None:
        """Refuse a parallel loop whose iterations hand a number on, unless they only sum it up or
        the like: Numba gives the next iteration the value from before the loop."""
        for op in self.program.body.walk():
            if op.info.get("is_parallel") and not all(reduces(*pair) for pair in _numbers(op)):
                raise AdjointError(
                    f"{self.program.name}, line {op.line}: an iteration of prange reads a number "
                    f"that another one sets, which Numba does not carry; write a reduction, such "
                    f"as s = max(s, a[i]), or range"
                )

    def _number(self, active: list[int]) -> None:
        """Number the arguments and results that have cotangents."""
        places = enumerate(self.program.parameters)
        self.shadows = [n for n, v in places if v.type.is_array and v in self.activity]
        self.numbers = [n for n in active if not self.program.parameters[n].type.is_array]
        self.cotangents = [n for n, v in enumerate(self.program.results) if v.type.is_real]

    def take_results(self, kinds: Sequence[Any], start: int = 0) -> None:
        """Let the results, from number ``start`` on, have the dtypes of ``kinds``.

        Compiled code may return other dtypes than the source lets one expect. The cotangent of a
        result lies in memory that has the dtype of the result.
        """
        for n, kind in enumerate(kinds, start):
            self.results[n] = self.results[n]._replace(dtype=np.dtype(kind.dtype).name)

    @cached_property
    def _text(self) -> "Text":
        """The text of the function; an adjoint that is not called needs none."""
        try:
            return self._generate(self._classes)
        except UndefinedError:
            self.options = replace(self.options, threads=False)
            return self._generate(self._classes)

    @cached_property
    def source(self) -> str:
        return self._text.source

    @property
    def has_snapshots(self) -> bool:
        return self._text.has_snapshots

    def _generate(self, classes: Classes) -> "Text":
        program, options = self.program, self.options
        self._names = names = Names(set(program.namespace))
        for value in program.parameters:
            names.of(value)
        for array, name in program.global_arrays.items():
            names.give(array, name)
        live = self._live(classes)
        writer = Writer()
        leave = "".join(f", {zero_text(program.parameters[n].type)}" for n in self.numbers)
        shadows = [names.cotangent(program.parameters[n]) for n in self.shadows]
        seeds = [names.fresh("g" if len(self.results) == 1 else f"g{n}") for n in self.cotangents]
        tape = Tape(self.keeping, names, writer, leave, self.options.checked)
        snapshots = Snapshots(
            program, classes, self.keeping, live, names, writer, tape, options.snapshots
        )
        order = Order(self.activity, self.keeping.dependence, tape, options.reorder)
        races = Races(program, self.keeping, order, tape, set(snapshots.states), options.threads)
        chunks = Chunks(races, names, writer, tape, live.ops, surroundings.memory())
        forward = Forward(
            program, self.keeping, live, names, writer, tape, snapshots, chunks
        )
        snapshots.forward = forward
        arguments = [names.of(v) for v in program.parameters] + shadows + seeds
        arguments += [*tape.tapes.values()] + ([snapshots.control] if options.snapshots else [])
        header = f"def {self.name}({', '.join(arguments)}):"
        with writer.block(header):
            tape.start()
            forward.run()
            fission = Fission(self.keeping, order, tape, names, writer, options.split)
            roots = Roots(program, self.keeping, names, writer, options.roots)
            sweep = Reverse(
                program, self.activity, self.keeping, names, writer, tape, order, snapshots,
                fission, chunks, roots,
            )  # fmt: skip
            self._reverse(sweep, seeds)
        tapes = list(tape.tapes.values())
        source = tidied("\n".join(writer.lines), options.long, tapes)
        return Text(source, tapes, names.shadows(), bool(snapshots.states))

    def _live(self, classes: Classes) -> Liveness:
        """Return the values, operations and arrays that the forward sweep has to compute."""
        program, live = self.program, Liveness(self.program, classes)
        if not self.options.slice:
            live.need(ops=list(program.body.walk()))
        again = arrays_again(program, self.keeping)
        live.need(values=list(self.keeping.needed))
        live.need(values=list(again))
        for plan in self.keeping.plans.values():
            live.need(values=plan.taped)
            live.need(values=[v for a in plan.arrays for v in [a, *extents_of(a)]])
            for value in plan.again:
                if value.op is not None and value.op.name == "load":
                    live.need_elements(classes.of(value.op.array))
        live.need(ops=[op for op in program.body.walk() if op.name in ("check", "raise", "enough")])
        live.need(ops=list(self.keeping.trips))
        return live

    def _reverse(self, reverse: Reverse, seeds: list[str]) -> None:
        """Write the reverse sweep, from the cotangents of the results to those of the arguments."""
        body = self.program.body
        reverse.prepare(body)
        for seed, place in zip(seeds, self.cotangents, strict=True):
            value = self.program.results[place]
            if value not in self.activity:
                continue
            if value.type.is_array:
                reverse.writer.line(f"{self._names.cotangent(value)} += {seed}")
            elif value.region is body:
                reverse.add(value, seed)
        reverse.region(body)
        numbers = [self.program.parameters[n] for n in self.numbers]
        given = [reverse.take(number, 1) or zero_text(number.type) for number in numbers]
        sizes = [f"{tape}.size" for tape in reverse.tape.tapes.values()]
        reverse.writer.line(f"return ({', '.join(sizes + given)})")

    # The function

    @cached_property
    def namespace(self) -> dict[str, Any]:
        """The globals of the generated source, by name."""
        given = {k: v for k, v in self.program.namespace.items() if k}
        return {"np": np, "math": math, **given, "__name__": __name__}

    @cached_property
    def plain(self) -> Any:
        """The derived function, as Python runs it; `inspect` finds its source."""
        return self._defined(on_one_thread(self.source))[self.name]

    def _defined(self, source: str) -> dict[str, Any]:
        """Execute a source; return the names that it defines."""
        digest = hashlib.sha256(source.encode()).hexdigest()[:16]
        file = f"<{self.name} {digest}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        space = dict(self.namespace)
        exec(compile(source, file, "exec"), space)
        space[self.name].is_derived = True
        for name in functions_of(source):  # symbols of other code are others
            space[name].__qualname__ = f"{name}_{digest}"
        return space

    @cached_property
    def compiled(self) -> Any:
        """The derived function, compiled by Numba at its first call. A division by 0 raises
        nothing, so an infinite slope is infinite in the result."""
        return self._compiled(on_one_thread(self.source))

    @cached_property
    def is_chunked(self) -> bool:
        """Whether loops over ``prange`` run in chunks."""
        return on_one_thread(self.source) != self.source

    @cached_property
    def threaded(self) -> Any:
        """The compiled function whose chunks run on all threads, with the same bits."""
        return self._compiled(self.source)

    def _compiled(self, source: str) -> Any:
        from numba import njit, prange

        options = getattr(self.request[0], "targetoptions", {})
        kept = {name: options[name] for name in ("fastmath", "boundscheck") if name in options}
        kept |= {"error_model": "numpy", "nogil": self.options.snapshots}
        kept |= {"no_cfunc_wrapper": True}  # it takes time to compile, and nobody calls by address
        words: dict[str, str] = {}
        if not kept.get("boundscheck"):  # of rows as pointers no bounds are known
            apart = not kept.get("fastmath")
            source, words = respelled(source, self._text.tapes, self._text.shadows, apart)
        names = functions_of(source)
        space = self._defined(source)
        space |= {name: self._word(word) for name, word in words.items()}
        space["prange"] = prange
        for name in names:
            own = {**kept, "no_cpython_wrapper": True}
            if "prange" in space[name].__code__.co_names:
                own["parallel"] = True
            if name.startswith(f"{self.name}_chunk_"):  # on threads and without, the same code
                space[name] = self._chunks.setdefault(name, njit(space[name], **own))
            else:
                space[name] = surroundings.kept_part(njit(space[name], **own))
        made = njit(space[self.name], **kept)
        return surroundings.kept(made) if hasattr(made, "py_func") else made

    def _word(self, word: str) -> Any:
        """Return what a word of a respelled source stands for."""
        from .respelling.words import WORDS  # Numba is not needed where nothing is compiled

        return compiled_apart(word, surroundings.kept) if word in APART else WORDS[word]

    @cached_property
    def _chunks(self) -> dict[str, Any]:
        """The compiled functions that run a chunk each."""
        return {}

    @cached_property
    def sparing(self) -> "Derived | None":
        """The adjoint whose outer loops run again from snapshots; None for a kernel without such a
        loop."""
        function, arguments, active = self.request
        made = derive(function, arguments, active, replace(self.options, snapshots=True))
        return made if made.has_snapshots else None

    # Lengths of slices that are taken to be what they say

    def suits(self, shapes: Sequence[tuple[int, ...]]) -> bool:
        """Return whether arguments of these shapes are as long as the slices that the kernel takes
        of them."""
        is_first_suited = self.first is None or self.first.suits(shapes)
        required = self.program.requires
        return is_first_suited and all(shapes[n][axis] >= least for n, axis, least in required)

    def suited(self, shapes: Sequence[tuple[int, ...]]) -> "Derived":
        """Return the adjoint for arguments of these shapes: this adjoint, or a more general one."""
        if self.suits(shapes):
            return self
        if self.first is not None and not self.first.suits(shapes):
            return self.first.general.again(self.request[2]).suited(shapes)
        return self.general

    def again(self, active: Sequence[int] | None = None) -> "Derived":
        """Return the adjoint of this adjoint, for derivatives of the second order; it is made once.

        The kernel of the new adjoint is this one with tapes that are long enough, as those of a
        call are. The tapes have shadows too, whose values mean nothing.

        Parameters
        ----------
        active : sequence of int, optional
            As in `derive`.
        """
        key = None if active is None else tuple(active)
        if key not in self._again:
            made = derive(*self._kernel, active)
            made.first = made.general.first = self
            self._again[key] = made
        return self._again[key]

    @cached_property
    def _again(self) -> "dict[tuple[int, ...] | None, Derived]":
        return {}

    @cached_property
    def _kernel(self) -> tuple[Any, list[Any]]:
        """Return this adjoint as a kernel, and the types of its arguments."""
        function, arguments, active = self.request
        options = replace(
            self.options, checked=False, split=False, threads=False, long=math.inf
        )
        first = derive(function, arguments, active, options)
        types: list[Any] = [value.type for value in first.program.parameters]
        types += [types[n] for n in first.shadows]
        types += [self.results[n] for n in self.cotangents]
        return first.plain, [*types, Type("float64", 1), Type("int64", 1)]


def _numbers(op: Op) -> list[tuple[Value, Value]]:
    """Return the numbers that a loop carries, each with the value that an iteration yields for it.
    """
    pairs = zip(op.body.phis, op.body.yields, strict=True)
    return [(phi, given) for phi, given in pairs if not phi.type.is_array]


def type_of(argument: Any) -> Any:
    """Return the type of an argument, as ``derive`` takes it.

    Parameters
    ----------
    argument : array, number, tuple or other constant

    Returns
    -------
    Type, tuple or Known
    """
    if isinstance(argument, np.ndarray):
        names = argument.dtype.names
        return Type(argument.dtype.name if names is None else "void", argument.ndim)
    if isinstance(argument, (bool, np.bool_, int, float, complex, np.number)):
        return Type(np.asarray(argument).dtype.name)
    if isinstance(argument, tuple):
        return tuple_like(argument, [type_of(part) for part in argument])
    return Known(argument)


def derive(
    function: Any,
    arguments: Sequence[Any],
    active: Sequence[int] | None = None,
    options: Options | None = None,
) -> Derived:
    """Derive the adjoint of a kernel.

    Parameters
    ----------
    function : callable
        A function or a dispatcher of Numba.
    arguments : sequence
        For each parameter a ``Type``, a tuple of them, or a ``Known`` constant.
    active : sequence of int, optional
        The positions of the arguments to differentiate, tuples taken apart; all floats by default.
    options : Options, optional

    Returns
    -------
    Derived

    Raises
    ------
    AdjointError
        If a statement is not understood, with its file, line and text.
    """
    options = options or Options()
    made = _without_text(function, arguments, active, options)
    if made.program.requires:
        general = _without_text(function, arguments, active, replace(made.options, small=False))
        made.general = general
        if general.shadows != made.shadows:  # those who call it hand over the same
            made = general
    _ = made.source  # what cannot be generated is refused now
    return made


def _without_text(
    function: Any, arguments: Sequence[Any], active: Sequence[int] | None, options: Options
) -> Derived:
    """Return an adjoint whose text is generated when it is asked for."""
    program = read(function, arguments)
    if active is None:
        active = [n for n, v in enumerate(program.parameters) if v.type.is_real]
    if getattr(function, "targetoptions", {}).get("boundscheck"):  # threads raise no errors
        options = replace(options, threads=False)
    made = Derived(program, active, options)
    made.general, made.request = made, (function, arguments, active)
    return made
