"""The words of an entry's table, and where CPython and NumPy keep what it looks at.

``self`` is a table of words, an array that keeps itself alive:

=====================  ========================================================================
8 words                number of arguments, address of the table of bases, address of `work`, of
                       the worker's state, of the header of the space, number of parts, the
                       objects None and False
1 word                 whether None and False count their references
1 word                 how many calls it answers; negative for any number
1 word                 address of `work_in_parallel`
3 words                addresses of the functions of CPython that give back its lock, take it, and
                       look at signals; 0 where the lock is kept
1 word                 whether a call has given back the lock and works
3 words                what an int says of its size if it is positive, negative and 0, and small
1 word                 which bits of that to look at
parts x 2 words        address of the program block, number of threads
for each argument      its type, its kind, the dtype or the object itself (where an int's number
                       is written to), flags that must be set, number of dimensions, of slots; then
                       the sizes and the slots
2 words                number of arrays to write, of arrays to read
each of those          slot, size in bytes
1 word                 number of constants
each of those          where it begins and ends
=====================  ========================================================================
"""

(
    NARGS, TABLE, WORK, STATE, SPACE, NPARTS, NONE, FALSE, COUNTED, LEFT, LAUNCH, UNLOCK, LOCK,
    SIGNALS, BUSY, POSITIVE, NEGATIVE, ZERO, BITS, HEAD,
) = range(20)  # fmt: skip
OBJECT = 2  # words of the head of an object: references and type
DATA, NDIM, SIZES, DTYPE, FLAGS = OBJECT, OBJECT + 1, OBJECT + 2, OBJECT + 5, OBJECT + 6
C_ORDER, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
LOW = 0xFFFFFFFF
ARRAY, NUMBER, SAME, INTEGER = range(4)  # kinds of arguments
DIGIT = (1 << 30) - 1  # the bits of one of an int
