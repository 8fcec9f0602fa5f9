"""Entries: builtin functions that launch the kernels of a program without Python code.

The words that kernels take are laid out once, when the entry is made. A call reads the addresses of
its arrays from their objects, adds them to the words that point into arrays, and calls the driver's
``cuLaunchKernel`` by its address. Where an argument is not exactly as declared the entry does
nothing, and the caller runs the program from Python. An entry is for one stream; while another one
is current, it calls the entry that was made for that one. The compiled half is in `entry_code`.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ....ir.device_array import DeviceArray
from ....ir.kernel_spec import Same, Strided
from ....ir.program import contiguous_strides
from ....process.bounded_dict import Bounded
from ...cpu.compile import routines
from ...cpu.python import object_layout
from ...cpu.python.object_layout import OWN
from ..compile.kernel import Number
from ..device.driver import Block, array_words
from ..device.memory import Memory, Usage
from ..device.small_blocks import SmallBlocks
from .steps import Launch, LaunchSequence, Place

_CODE = ".cuda.launch.entry_code"
"""The module of the compiled half."""

_STREAMS = 16
"""The most streams for which a program keeps functions."""

ALIGNMENT = 256
"""The alignment of buffers in bytes, which makes the accesses of a GPU fast."""

MOST = 1022
"""The most arguments and results of an entry."""

MOST_WORDS = 512
"""The most words that a kernel of an entry takes."""

(
    NARGS, NOUT, LEFT, NLAUNCH, LAUNCHES, CALL, ADDRESS, STREAM, IS_DEFAULT, ELSEWHERE, USED,
    TARGET, OTHER_MODES, CURRENT, ENTER, ALLOCATE, ARRAY, MEMORY, BLOCK,
) = range(OWN, OWN + 19)  # fmt: skip
"""Words of an entry: the number of arguments, and that of the last ones that are written; the
number of calls left, any number if negative; the number of launches, and the address of the words
that describe them; the address of ``cuLaunchKernel``, that of the entry's stream, and the object of
that stream; whether this is the default stream; what is called in place of the entry while another
stream is current, or 0; a function that notes that the stream uses memory of another one; the
target; a dict that is empty while no thread has chosen a stream, and the function that returns the
chosen one; functions that prepare the calling thread and that allocate memory for the program, each
0 if it is not needed; and types."""

(
    A_MEMORY, A_OFFSET, A_SHAPE, A_STRIDES, A_DTYPE, A_TARGET, M_BLOCK, M_STREAM, S_KEPT, U_NOW,
    U_PEAK,
) = range(BLOCK + 1, BLOCK + 12)  # fmt: skip
"""Words of an entry: places of the attributes of arrays, of memory, and of what counts memory."""

(
    NEW, ROW, SMALL, USAGE, NBYTES, ROUNDED, MEMORY_LIKE, MEMORY_END, ARRAY_LIKE, ARRAY_END,
    ARGUMENTS,
) = range(U_PEAK + 1, U_PEAK + 12)  # fmt: skip
"""Words of an entry that makes its result: the function that allocates the memory for the result;
the list of kept blocks of its size, or 0, what keeps them, what counts memory, the size in bytes,
and the size of the block; templates of memory and of the array, and where the words of each end.
The descriptions of the arguments follow."""

DTYPE, SHAPE, STRIDES, DESCRIPTION = range(4)
"""Words that describe an argument: the dtype, the shape and the strides of an array as objects; or
0, and the object itself."""

FUNCTION, GRID, THREADS, NWORDS, NPLACES, NEXT, LAUNCH_HEAD = range(7)
"""Words that describe a launch: the function, the numbers of blocks and of threads, that of the
words that the kernel takes, that of the words that are addresses, and the distance to the next
launch in words. The words follow, with offsets in place of addresses; then for each address the
number of its word, and that of the argument from 1 on, or 0 for the memory of the program."""

_PLACES = (
    (DeviceArray, ("memory", "offset", "shape", "strides", "dtype", "target")),
    (Memory, ("block", "stream")), (SmallBlocks, ("kept",)), (Usage, ("now", "peak")),
)  # fmt: skip


class Launches(NamedTuple):
    """The launches of a program, in order, with their places in memory.

    Attributes
    ----------
    steps : sequence of Launch or LaunchSequence
    kept : sequence of Memory
        The memory of constants, which have the slots from 1 on.
    nbytes : int
        The bytes of the program's own memory, slot 0.
    slots : dict
        The number of the entry's argument, or result, by the slots that follow.
    begun : Stream, optional
        The stream on which the constants were copied to the device.
    ready : Event, optional
        The event of ``begun`` that happens when the constants are there.
    """

    steps: Sequence[Any]
    kept: Sequence[Any]
    nbytes: int
    slots: dict[int, int]
    begun: Any = None
    ready: Any = None

    def be_ready_on(self, stream: Any) -> None:
        """Let a stream wait for the constants, and let their memory note that the stream uses it.
        """
        if self.ready is not None and stream is not self.begun:
            stream.wait_event(self.ready)
        for memory in self.kept:
            memory.used_by(stream)


def compile_here() -> None:
    """Compile what entries run for the processor of this machine, unless it is on disk."""
    if object_layout.is_possible():
        for name in ("enter", "compute", "empty"):
            routines.address_of(_CODE, name, returns=True)


class OtherStreams:
    """The functions of an entry for streams: one for each stream, made when the stream comes for
    the second time.

    Parameters
    ----------
    target : CUDATarget
    answer : object
        What is returned where there is no function: the caller has to do otherwise then.
    make : callable, optional
        Takes a stream, and returns the function for it, or None.
    """

    __slots__ = ("_answer", "_current", "_found", "_make")

    def __init__(
        self, target: Any, answer: Any, make: Callable[[Any], Any] | None = None
    ) -> None:
        self._current, self._make, self._answer = target.runtime.current, make, answer
        self._found: dict[Any, Any] = Bounded(_STREAMS)  # False for a stream that came once

    def __call__(self, *given: Any) -> Any:
        """Call the function for the current stream."""
        return self.function(self._make)(*given)

    def function(self, make: Any) -> Callable[..., Any]:
        """Return the function for the current stream, from ``make`` if there is none yet."""
        stream = self._current()
        found = self._found.get(stream)
        if found is None or found is False:
            made = self._decline if found is None else make(stream) or self._decline
            self._found[stream] = False if found is None else made
            return made
        return found

    def _decline(self, *given: Any) -> Any:
        return self._answer


def can_enter(steps: Sequence[Any]) -> bool:
    """Whether steps are launches alone, none of which has to be looked at afterwards."""
    return all(
        type(step) is Launch or (type(step) is LaunchSequence and step.host is None)
        for step in steps
    )


def entry_of(
    target: Any,
    launches: Launches,
    arguments: Sequence[Any],
    results: Sequence[Any],
    alive: Any,
    calls: int | None = None,
    stream: Any = None,
) -> tuple[Callable[..., Any] | None, Callable[[], int] | None]:
    """Return a builtin function that runs a program, and a counter of its calls.

    The function takes the arguments and arrays for the results. It returns None after the launches,
    and False if the caller has to run the program. A function without a limit serves all streams,
    unless it is made for one.

    Parameters
    ----------
    target : CUDATarget
    launches : Launches
    arguments : sequence
        For each argument the dtype and shape of an array, with a `Strided` as shape if it is not
        in C order; or a `Same`, and anything.
    results : sequence of (dtype, shape)
    alive : object
        What owns constants and kernels; lives as long as the function.
    calls : int, optional
        The number of calls that the entry answers; the counter returns how many were answered since
        it was last called. Without a number there is no limit, and no counter.
    stream : Stream, optional
        The only stream that the entry serves.

    Returns
    -------
    tuple
        Both are None where the driver cannot be called so, or for too many arguments or words.
    """
    others = None
    if calls is None and stream is None:
        own = target, launches, arguments, results, alive, None
        others = OtherStreams(target, False, lambda stream: entry_of(*own, stream)[0])
    table = _table(target, launches, [*arguments, *results], len(results), stream, others)
    if table is None:
        return None, None
    words, objects = table
    words = words[OWN:]
    function = object_layout.builtin(_CODE, "enter", words, (alive, objects))
    if calls is None:
        return function, None
    found = function.__self__
    found[LEFT] = calls

    def answered() -> int:
        count = calls - int(found[LEFT])
        found[LEFT] = calls
        return count

    return function, answered


def maker_of(
    target: Any, launches: Launches, arguments: Sequence[Any], result: Any, alive: Any,
    stream: Any = None,
) -> Callable[..., Any] | None:  # fmt: skip
    """Return a builtin function of the arrays of arguments that returns the array of a result.

    The function returns None if the caller has to run the program. The parameters are those of
    `entry_of`, for one result.
    """
    others = None
    if stream is None:
        own = target, launches, arguments, result, alive
        others = OtherStreams(target, None, lambda stream: maker_of(*own, stream))
    table = _table(target, launches, arguments, 0, stream, others)
    if table is None:
        return None
    words, objects = table
    dtype, shape = result
    made = _add_result(words, target, dtype, shape, stream)
    objects = (alive, objects, made)
    return object_layout.builtin(_CODE, "compute", words[OWN:], objects)


def empty_of(
    target: Any, shape: tuple[int, ...], dtype: np.dtype, stream: Any = None
) -> Callable[[], Any] | None:
    """Return a builtin function that makes undefined arrays of this shape and dtype in C order.

    The function returns None if the array has to be made in Python. None stands for no such
    function.
    """
    others = None
    if stream is None:
        others = OtherStreams(target, None, lambda stream: empty_of(target, shape, dtype, stream))
    table = _table(target, Launches((), (), 0, {}), (), 0, stream, others)
    if table is None:
        return None
    words, objects = table
    made = _add_result(words, target, dtype, shape, stream)
    return object_layout.builtin(
        _CODE, "empty", words[OWN:], (objects, made)
    )  # fmt: skip


def _add_result(
    words: list[int], target: Any, dtype: np.dtype, shape: Sequence[int], stream: Any
) -> Any:
    """Add the words of the result that an entry makes; return the objects to which they point."""
    array = DeviceArray(target, None, 0, tuple(shape), dtype)
    runtime, nbytes = target.runtime, array.nbytes
    stream = stream or runtime.default
    memory = Memory(runtime, None, nbytes, stream)
    row = memory.row = runtime.row(nbytes) if stream is runtime.default else None
    made = {
        NEW: partial(runtime.allocate, nbytes, stream), USAGE: runtime.usage,
        MEMORY_LIKE: memory, ARRAY_LIKE: array,
    }  # fmt: skip
    if row is not None:
        made |= {ROW: row, SMALL: runtime.small}
        words[ROUNDED] = row.size
    for word, item in made.items():
        words[word] = id(item)
    words[NBYTES] = nbytes
    words[MEMORY_END], words[ARRAY_END] = object_layout.end(Memory), object_layout.end(DeviceArray)
    return made


def _table(
    target: Any, launches: Launches, declared: Sequence[Any], results: int, stream: Any, others: Any
) -> tuple[list[int], Any] | None:
    """Return the words of an entry, and the objects to which they point; None if none is possible.

    ``declared`` are the declarations of all arguments, the last of which are those of ``results``
    results. The entry is for ``stream``, by default the default stream; while another one is
    current, ``others`` is called instead, if there is such a function.
    """
    runtime = target.runtime
    driver, stream = runtime.driver, stream or runtime.default
    if driver.launch_address is None or not object_layout.is_possible() or len(declared) > MOST:
        return None
    places = [object_layout.places(kind, *names) for kind, names in _PLACES]
    nbytes, code = _packed(driver, launches)
    if None in places or code is None:
        return None
    launches.be_ready_on(stream)
    objects = {
        STREAM: stream, TARGET: target, OTHER_MODES: target.other_modes,
        CURRENT: runtime.current, ARRAY: DeviceArray, MEMORY: Memory, BLOCK: Block,
        ENTER: driver.enter_each_time, ELSEWHERE: others,
        USED: lambda memory: memory.used_by(stream),
        ALLOCATE: partial(runtime.allocate, nbytes, stream) if nbytes else None,
    }  # fmt: skip
    words = [0] * ARGUMENTS
    for word, item in objects.items():
        words[word] = 0 if item is None else id(item)
    words[NARGS], words[NOUT], words[LEFT] = len(declared), results, -1
    words[NLAUNCH], words[LAUNCHES] = len(_launches(launches)), code.ctypes.data
    words[CALL], words[ADDRESS] = driver.launch_address, driver.address_of(stream.handle)
    words[IS_DEFAULT] = int(stream is runtime.default)
    words[A_MEMORY:NEW] = [place for found in places for place in found or ()]
    items = [described(*item) for item in declared]
    for item in items:
        words += [0 if item[0] is None else id(item[0]), *map(id, item[1:])]
    return words, (code, objects, items)


def described(dtype: Any, shape: Any) -> tuple[Any, Any, Any]:
    """Return the objects that describe an argument; see `DTYPE`."""
    if isinstance(dtype, Same):
        return None, dtype.value, None
    if isinstance(shape, Strided):
        return np.dtype(dtype), tuple(shape.shape), tuple(shape.strides)
    dtype = np.dtype(dtype)
    return dtype, tuple(shape), contiguous_strides(tuple(shape), dtype.itemsize)


def _launches(launches: Launches) -> list[Launch]:
    """Return the launches of all steps, without those of no elements."""
    found: list[Launch] = []
    for step in launches.steps:
        found += step.launches if isinstance(step, LaunchSequence) else [step]
    return [launch for launch in found if launch.elements]


def _packed(driver: Any, launches: Launches) -> tuple[int, np.ndarray | None]:
    """Return the bytes of memory that the launches need, and the words that describe them.

    The memory of a step of several launches lies behind that of the program. All such steps share
    it, as they run one after the other.
    """
    own = -(-launches.nbytes // ALIGNMENT) * ALIGNMENT
    extra = [step.nbytes for step in launches.steps if isinstance(step, LaunchSequence)]
    code: list[int] = []
    for launch in _launches(launches):
        words, places = _words(driver, launch, launches, own)
        if len(words) > MOST_WORDS:
            return 0, None
        blocks, threads = driver.grid(launch.kernel, launch.elements)
        size = LAUNCH_HEAD + len(words) + 2 * len(places)
        function = driver.function_address(launch.kernel)
        code += [function, blocks, threads, len(words), len(places), size, *words]
        code += [word for place in places for word in place]
    return (own + max(extra) if extra else launches.nbytes), np.array(code, np.int64)


def _words(
    driver: Any, launch: Launch, launches: Launches, own: int
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the words that a kernel takes, and for each address the numbers of word and argument.

    ``own`` is the offset of the memory of steps of several launches.
    """
    words: list[int] = []
    places: list[tuple[int, int]] = []

    def add(place: Place) -> None:
        slot, offset = place
        if 1 <= slot <= len(launches.kept):  # memory that stays where it is
            words.append(launches.kept[slot - 1].block.address + offset)
            return
        places.append((len(words), 1 + launches.slots[slot] if slot > 0 else 0))
        words.append(offset + own if slot < 0 else offset)

    for parameter, argument in zip(launch.kernel.parameters, launch.arguments, strict=True):
        if type(argument) is Place:
            add(argument)
        elif type(argument) is tuple:
            place, shape, strides = argument
            before, after = array_words(parameter.dtype.itemsize, shape, strides)
            words.extend(before)
            add(place)
            words.extend(after)
        elif type(parameter) is Number:
            content = parameter.dtype.type(argument).tobytes().ljust(8, b"\0")
            words.append(int.from_bytes(content, sys.byteorder, signed=True))
        else:
            words.append(int(argument))
    return words, places
