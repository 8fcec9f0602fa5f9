"""The compiled half of profiling: a stand-in for the machine's `loops` that times each instruction.

`profiler` makes measured runs, whose program blocks have the address of this stand-in.
"""

import platform

from llvmlite import ir
from numba.core import types

from ..compile.intrinsics import INT64, call_function, intrinsic, load_word, stack_words, store_word
from .scratch import (  # fmt: skip
    CAPACITY,
    ITS_INSTRUCTION,
    LOG,
    LOOPS_TIMED,
    SPACE,
    STATES,
    STRIDE,
    TIMES,
    TIMES_STRIDE,
)

_MACHINE = platform.machine().lower()
_MONOTONIC = 6 if platform.system() == "Darwin" else 1
_NANOSECONDS = 1_000_000_000


@intrinsic
def _read_counter(typingctx):
    """Return the processor's cycle counter, which takes a few nanoseconds to read."""

    def codegen(context, builder, signature, args):
        function = builder.module.declare_intrinsic(
            "llvm.readcyclecounter", (), ir.FunctionType(INT64, [])
        )
        return builder.call(function, [])

    return types.int64(), codegen


@intrinsic
def _read_virtual_counter(typingctx):
    """Return the virtual counter of an ARM processor, which any program may read."""

    def codegen(context, builder, signature, args):
        module, name = builder.module, "llvm.read_volatile_register.i64"
        function = module.globals.get(name) or ir.Function(
            module, ir.FunctionType(INT64, [ir.MetaDataType()]), name
        )
        register = ir.MetaDataString(module, "cntvct_el0")
        return builder.call(function, [module.add_metadata([register])])

    return types.int64(), codegen


_clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.int64))

if _MACHINE in ("x86_64", "amd64"):

    def now():
        """Return the time in ticks, whose length `profiler.seconds_of_tick` measures."""
        return _read_counter()

elif _MACHINE in ("aarch64", "arm64"):

    def now():
        """Return the time in ticks, whose length `profiler.seconds_of_tick` measures."""
        return _read_virtual_counter()

else:  # POSIX

    def now():
        """Return the time in ticks, whose length `profiler.seconds_of_tick` measures."""
        words = stack_words(2)
        _clock_gettime(_MONOTONIC, words)
        return load_word(words, 0) * _NANOSECONDS + load_word(words, 1)


def loops(block, state, p, row, rows):
    """Call the machine's `loops` for one instruction, and note when the call began and ended.

    The worker's table of times has for each instruction the sum of its ticks and the number of its
    calls, and then a log of single calls, as far as there is room.
    """
    began = now()
    status = call_function(load_word(block, LOOPS_TIMED), (block, state, p, row, rows))
    ended = now()
    k = load_word(state, ITS_INSTRUCTION)
    offset = state - load_word(state, SPACE) - 8 * STATES
    table = load_word(block, TIMES) + offset // load_word(block, STRIDE) * load_word(
        block, TIMES_STRIDE
    )
    store_word(table, 2 * k, load_word(table, 2 * k) + ended - began)
    store_word(table, 2 * k + 1, load_word(table, 2 * k + 1) + 1)
    log = table + load_word(block, LOG)
    count = load_word(log, 0)
    if count < load_word(block, CAPACITY):
        store_word(log, 4 * count + 1, k)
        store_word(log, 4 * count + 2, row)
        store_word(log, 4 * count + 3, began)
        store_word(log, 4 * count + 4, ended)
        store_word(log, 0, count + 1)
    return status
