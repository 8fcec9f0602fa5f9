"""The compiled half of the machine: the loops over tiles, instructions and dimensions.

Workers take tiles from a shared counter, so a slow core does not hold up the others. A worker notes
in a table, its state, how far it has come. A worker returns when its budget of work is used up, so
that Python can handle signals, and is called again with the mode `RESUME`.

The three functions call one another by address, as they call kernels: each is compiled once and on
its own, which takes a fifth of the time that Numba needs to link and optimise them together.
"""

from llvmlite import ir
from numba import prange, types

from ..compile.intrinsics import INT64, call_function, intrinsic, load_word, store_word
from .scratch import (  # fmt: skip
    ARENA,
    ARENA_SLOT,
    BASES,
    BLOCK,
    BUDGET,
    CODE,
    FAILED,
    FIRST,
    ITS_INSTRUCTION,
    ITS_ROW,
    ITS_TILE,
    LAST,
    LOOPS,
    MODE,
    NEXT,
    ODOMETER,
    POINTERS,
    RESUME,
    ROWS,
    SPACE,
    START,
    START_ALONE,
    STARTS,
    STATES,
    STATUS,
    STRIDE,
    TILE,
    TILES,
    UNFINISHED,
    WORK,
    WORKERS,
)

_NO_TILE = -1
_CALL_WORK = 32  # the price of an instruction that declares no work: some 10 ns


@intrinsic
def _take_next(typingctx, address):
    """Return the word at ``address``, and increment the word in memory atomically."""

    def codegen(context, builder, signature, args):
        counter = builder.inttoptr(args[0], INT64.as_pointer())
        return builder.atomic_rmw("add", counter, ir.Constant(INT64, 1), "monotonic")

    return types.int64(types.int64), codegen


_c_get_num_threads = types.ExternalFunction("get_num_threads", types.intp())
_c_set_num_threads = types.ExternalFunction("set_num_threads", types.void(types.int32))


def loops(block, state, p, row, rows):
    """Call an instruction's kernel for every combination of its outer loop dimensions.

    Parameters
    ----------
    block, state : int
        Addresses of the program block and of the worker's state; `scratch` numbers their words.
    p : int
        The word of the program's code where the instruction begins.
    row, rows : int
        The first row of the tile, and how many rows the tile has.

    Returns
    -------
    int
        The kernel's status: 0, or after a failure 1 more than the position in the innermost loop.
        The odometer, which is in the state, then has the positions in the outer loops.
    """
    code = load_word(block, CODE)
    nops, row_dim = load_word(code, p + 1), load_word(code, p + 3)
    inner = load_word(code, p + 2) - 1
    pointers, odometer = state + load_word(block, POINTERS), state + load_word(block, ODOMETER)
    bases = load_word(load_word(state, SPACE), BASES)
    arena = state + load_word(block, ARENA)
    for j in range(nops):
        q = p + 8 + 3 * j
        slot = load_word(code, q)
        base = load_word(bases, slot) + row * load_word(code, q + 2)
        base = arena if slot == ARENA_SLOT else base
        store_word(pointers, j, base + load_word(code, q + 1))
    counts = p + 8 + 3 * nops
    core = counts + inner + 1
    outer = core + load_word(code, p + 4)
    steps = outer + inner * nops
    n = load_word(code, counts + inner) * (rows if row_dim == inner else 1)
    for d in range(inner):
        store_word(odometer, d, 0)
        n *= load_word(code, counts + d) > 0
    status = odometer + 8 * inner
    store_word(status, 0, 0)
    # Most kernels loop over the second innermost dimension themselves.
    row_entry = load_word(code, p + 7) if inner > 0 else 0
    row_steps = outer + (inner - 1) * nops
    inner_rows = load_word(code, counts + inner - 1) * (rows if row_dim == inner - 1 else 1)
    d = inner if n > 0 else -1
    while d >= 0:
        if row_entry != 0:
            table = code + 8 * row_steps
            call_function(row_entry, (pointers, n, inner_rows, code + 8 * steps, status, table))
            store_word(odometer, inner - 1, inner_rows - 1)
        else:
            call_function(
                load_word(code, p), (pointers, n, code + 8 * core, code + 8 * steps, status)
            )
        if load_word(status, 0) != 0:
            break
        d = inner - 1
        while d >= 0:
            count = load_word(code, counts + d) * (rows if row_dim == d else 1)
            position = load_word(odometer, d) + 1
            forward = 1 if position < count else 1 - count
            for j in range(nops):
                stride = load_word(code, outer + d * nops + j)
                store_word(pointers, j, load_word(pointers, j) + forward * stride)
            store_word(odometer, d, position if position < count else 0)
            if position < count:
                break
            d -= 1
    if row_entry != 0 and load_word(status, 0) != 0:
        failed = load_word(status, 0) - 1
        store_word(odometer, inner - 1, failed // n)
        store_word(status, 0, 1 + failed % n)
    return load_word(status, 0)


def work(state):
    """Take tiles and run their instructions until no tile is left.

    Return 0 when no tile is left. Return 1 if the budget is used up, or if a kernel has failed on
    this worker or another one. ``state`` is the address of the worker's state.
    """
    space = load_word(state, SPACE)
    block = load_word(space, BLOCK)
    code, budget = load_word(block, CODE), load_word(block, BUDGET)
    mode = load_word(space, MODE)
    if mode == START_ALONE:
        store_word(space, NEXT, 0)
        store_word(space, FAILED, 0)
        store_word(space, UNFINISHED, 0)
    if mode != RESUME:
        store_word(state, ITS_TILE, _NO_TILE)
        store_word(state, STATUS, 0)
    while True:
        tile = load_word(state, ITS_TILE)
        if tile == _NO_TILE:
            if load_word(space, FAILED) != 0:
                return 1
            tile = _take_next(space + 8 * NEXT)
            if tile >= load_word(block, TILES):
                return 0
            store_word(state, ITS_TILE, tile)
            store_word(state, ITS_INSTRUCTION, load_word(block, FIRST))
        row = tile * load_word(block, TILE)
        rows = min(load_word(block, TILE), load_word(block, ROWS) - row)
        k = load_word(state, ITS_INSTRUCTION)
        while k < load_word(block, LAST):
            store_word(state, ITS_INSTRUCTION, k)
            if budget <= 0:
                store_word(space, UNFINISHED, 1)
                return 1
            p = load_word(load_word(block, STARTS), k)
            status = call_function(load_word(block, LOOPS), (block, state, p, row, rows))
            if status != 0:
                # Tiles are taken in ascending order: those before this one run to their end, so
                # the lowest row that fails is found.
                store_word(state, STATUS, status)
                store_word(state, ITS_ROW, row)
                store_word(state, ITS_TILE, _NO_TILE)
                store_word(space, FAILED, 1)
                return 1
            budget -= _CALL_WORK + rows * load_word(code, p + 6)
            k += 1
        store_word(state, ITS_TILE, _NO_TILE)


def work_in_parallel(space):
    """Run `work` on as many threads as the header of the run's ``space`` says.

    Return 1 if a kernel has failed or a budget is used up, else 0.
    """
    block, workers = load_word(space, BLOCK), load_word(space, WORKERS)
    stride = load_word(block, STRIDE)
    if load_word(space, MODE) == START:
        store_word(space, NEXT, 0)
        store_word(space, FAILED, 0)
        store_word(space, UNFINISHED, 0)
    for worker in range(workers):
        store_word(space + 8 * STATES + worker * stride, SPACE, space)
    before = _c_get_num_threads()
    _c_set_num_threads(workers)
    for worker in prange(workers):
        call_function(load_word(block, WORK), (space + 8 * STATES + worker * stride,))
    _c_set_num_threads(before)
    return load_word(space, FAILED) | load_word(space, UNFINISHED)
