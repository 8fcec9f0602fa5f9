"""The words of the tables that the machine's compiled half and Python share."""

# Words of the program block, constant from run to run.
BLOCK_WORDS = 14
CODE, STARTS, FIRST, LAST, ROWS, TILE, TILES = range(7)
STRIDE, POINTERS, ODOMETER, ARENA, LOOPS, WORK, BUDGET = range(7, BLOCK_WORDS)
# And of a run that is measured: the function that is timed, the table of times of the first worker
# and how far the next one's is, where the log of single events begins in it, and how many it holds.
TIMED_WORDS = BLOCK_WORDS + 5
LOOPS_TIMED, TIMES, TIMES_STRIDE, LOG, CAPACITY = range(BLOCK_WORDS, TIMED_WORDS)
# Words of the space that a run borrows. The counter and the flags, which workers write, are each
# on a cache line of its own.
BLOCK, MODE, WORKERS, BASES, NEXT, FAILED, UNFINISHED, STATES = 0, 1, 2, 3, 8, 16, 24, 32
# The slot of the table of base addresses that means the worker's own arena.
ARENA_SLOT = 0
# Words of a worker's state, at the head of its part of the space.
SPACE, ITS_TILE, ITS_ROW, ITS_INSTRUCTION, STATUS = range(5)
STATE_WORDS = 8

START_ALONE, START, RESUME = range(3)

# Words at the head of a chain, before the numbers of its operands in memory, those of its operands
# that are one number, and its constants: how many inputs, operands in memory, such numbers,
# constants and blocks of its own there are, the bytes of a step and of an element, and where its
# code is.
CHAIN_NIN, CHAIN_MOVING, CHAIN_NUMBERS, CHAIN_CONSTANTS, CHAIN_SLOTS, CHAIN_STEP = range(6)
CHAIN_ITEMSIZE, CHAIN_CODE, CHAIN_HEAD = range(6, 9)
