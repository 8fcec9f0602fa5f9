"""The builtin function that reads arrays by itself: what it takes and what it refuses."""

import ctypes
import pickle
import sys

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower.executable import Executable
from numgrad.engine.record.apply import runtime
from numgrad.ir.kernel_spec import Same, Strided
from numgrad.targets.cpu.machine import entry
from numgrad.targets.cpu.machine.scratch import BASES
from numgrad.targets.cpu.python import object_layout
from tests.engine.fusion.fuse_tools import program_of

pytestmark = pytest.mark.skipif(not object_layout.is_possible(), reason="objects of another layout")
F8 = np.dtype(np.float64)


@pytest.fixture
def bases():
    return np.zeros(8, np.int64)


def address(array):
    return array.__array_interface__["data"][0]


def make(bases, *arguments, constants=()):
    space = np.zeros(BASES + 1, np.int64)
    given = [(dtype, shape, slots, bool(more)) for dtype, shape, slots, *more in arguments]
    return entry.make(given, 0, (address(space), address(bases)), [], space, constants)


def test_addresses_go_to_their_slots(bases):
    function = make(bases, (F8, (3, 2), [1, 4]), (float, (), [2]), (F8, (), [0], True))
    x, out = np.zeros((3, 2)), np.zeros(())
    assert function(x, 0.5, out) is None
    assert bases[1] == bases[4] == address(x)
    assert bases[0] == address(out)
    assert bases[2] == id(0.5) + 16 or bases[2] != 0


def test_a_float_is_read_where_it_lies(bases):
    function = make(bases, (float, (), [2]))
    number = 0.1 + 0.2
    function(number)
    assert np.ctypeslib.ctypes.c_double.from_address(int(bases[2])).value == number


class Subclass(np.ndarray):
    pass


ONES = np.ones((3, 4))
READ_ONLY = np.ones((3, 4))
READ_ONLY.flags.writeable = False
MISALIGNED = np.zeros(12 * 8 + 1, np.uint8)[1:].view(F8).reshape(3, 4)


@pytest.mark.parametrize(
    "wrong",
    [
        1.0, 1, None, "text", [1.0], ONES.tolist(), ONES[:2], ONES.T, ONES.reshape(3, 4, 1),
        np.ones((3, 8))[:, ::2], ONES.astype(np.float32), ONES.astype(">f8"), ONES.view(Subclass),
        ONES.view(np.int64), np.float64(1.0), READ_ONLY, MISALIGNED, ONES[0],
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_not_exactly_as_declared_is_refused(bases, wrong):
    function = make(bases, (F8, (3, 4), [0], True))
    assert function(wrong) is False
    assert function(ONES) is None


OF_OWN = {
    "pickled": lambda x: pickle.loads(pickle.dumps(x)),
    "metadata": lambda x: x.view(np.dtype(x.dtype, metadata={"unit": "m"})),
    "order": lambda x: x.view(x.dtype.newbyteorder("=")),
    "structure": lambda x: x.view([("x", x.dtype)])["x"],
}


@pytest.mark.parametrize("code", [*np.typecodes["AllInteger"], *"?efdFD"])
@pytest.mark.parametrize("make_array", OF_OWN.values(), ids=OF_OWN)
def test_an_equal_dtype_may_be_another_object(bases, code, make_array):
    function = make(bases, (np.dtype(code), (2,), [0], True))
    array = make_array(np.ones(2, code))
    assert function(array) is None
    assert bases[0] == address(array)
    other = np.typecodes["Float"][0] if np.dtype(code) != np.float16 else "d"
    assert function(make_array(np.ones(2, other))) is False


def test_types_of_c_may_be_equal(bases):
    for code, other in ("lq", "ql", "LQ", "QL"):
        expected = None if np.dtype(code) == np.dtype(other) else False
        assert make(bases, (np.dtype(code), (2,), [0]))(np.ones(2, other)) is expected


@pytest.mark.parametrize("other", ["M8[s]", "m8[s]", "V8", "S8", "U2", "O", [("x", "f8")]], ids=str)
def test_a_dtype_of_equal_size_is_refused(bases, other):
    for code in "dlL":
        assert make(bases, (np.dtype(code), (2,), [0]))(np.zeros(2, other)) is False


def test_a_read_only_array_may_be_read(bases):
    assert make(bases, (F8, (3, 4), [0]))(READ_ONLY) is None


def test_the_number_of_arguments(bases):
    function = make(bases, (F8, (3, 4), [0]))
    assert function() is False
    assert function(ONES, ONES) is False
    with pytest.raises(TypeError):
        function(x=ONES)


def test_an_object_is_known_by_identity(bases):
    function = make(bases, (Same("sum"), (), []), (Same(None), (), []), (float, (), [0]))
    assert function("sum", None, 1.0) is None
    assert function("sum", False, 1.0) is False
    assert function("".join(["s", "um"]), None, 1.0) is False


def test_an_array_may_be_declared_by_its_strides(bases):
    columns = np.arange(12.0).reshape(3, 4).T
    function = make(bases, (F8, Strided((4, 3), (8, 32)), [2]))
    assert function(columns) is None
    assert bases[2] == address(columns)
    spread = np.broadcast_to(np.ones(3), (4, 3))
    for other in (columns.copy(), columns[:, :2], np.arange(24.0).reshape(3, 8).T[::2], spread):
        assert function(other) is False
    assert make(bases, (F8, Strided((4, 3), (0, 8)), [2]))(spread) is None


def test_memory_of_strided_arguments_is_not_written(bases):
    memory = np.zeros(20)
    read = memory[::3]
    function = make(bases, (F8, Strided((7,), (24,)), [1]), (F8, (2,), [0], True))
    assert function(read, np.zeros(2)) is None
    for start in range(19):
        assert function(read, memory[start : start + 2]) is False


@pytest.mark.parametrize("number", [0, 1, -1, 5, 257, -1000, 2**30 - 1, 1 - 2**30])
def test_an_int_is_written_as_a_word(bases, number):
    function = make(bases, (int, (1 - 2**30, 2**30 - 1), [3]))  # which keeps the word
    assert function(number) is None
    assert ctypes.c_int64.from_address(int(bases[3])).value == number


@pytest.mark.parametrize("number", [2**30, -(2**30), 2**62, 2**64, True, 1.0, np.int64(1), None])
def test_other_numbers_than_small_ints_are_refused(bases, number):
    assert make(bases, (int, (1 - 2**30, 2**30 - 1), [0]))(number) is False


@pytest.mark.parametrize("limits", [(-3, 4), (-10, -3), (4, 2**40)], ids=str)
def test_an_int_beyond_its_limits_is_refused(bases, limits):
    function = make(bases, (int, limits, [3]))
    found = [n for n in range(-12, 12) if function(n) is None]
    assert found == [n for n in range(-12, 12) if limits[0] <= n <= limits[1]]
    assert function(2**40) is (None if limits[1] == 2**40 else False)
    assert function(2**40 + 1) is function(2**80) is False


@pytest.mark.parametrize("number", [1.5, 2 - 1j, np.float32(3), np.int8(-4), np.bool_(1)], ids=repr)
def test_a_number_is_read_where_it_lies(bases, number):
    function = make(bases, (type(number), (), [2]))
    assert function(number) is None
    dtype = np.dtype(type(number))
    assert ctypes.string_at(int(bases[2]), dtype.itemsize) == np.asarray(number).tobytes()
    assert function(np.float64(1.5)) is False


def test_an_array_without_elements_and_without_axes(bases):
    assert make(bases, (F8, (0, 3), [0]))(np.empty((0, 3))) is None
    assert make(bases, (F8, (), [0]))(np.array(2.0)) is None
    assert make(bases)() is None


def test_no_reference_is_lost_or_kept(bases):
    function = make(bases, (F8, (3, 4), [0]))
    counted = (None, False, ONES, function)
    before = [sys.getrefcount(item) for item in counted]
    for _ in range(1000):
        function(ONES)
        function(1)
    after = [sys.getrefcount(item) for item in counted]
    assert all(abs(a - b) < 50 for a, b in zip(after, before, strict=True))


def test_what_it_points_to_lives_as_long_as_it_does():
    import gc
    import weakref

    class Owner:
        pass

    owner = Owner()
    known = weakref.ref(owner)
    function = entry.make([], 0, (0, 0), [], owner)
    del owner
    gc.collect()
    assert known() is not None
    del function
    gc.collect()
    assert known() is None


def test_an_array_to_write_shares_memory_with_nothing(bases):
    memory = np.zeros(32)
    constant = np.zeros((4, 4))[:, ::2]
    arguments = [(F8, (8,), [0]), (F8, (8,), [1], True), (F8, (8,), [2], True)]
    function = make(bases, *arguments, constants=[constant])
    a, b, c = memory[:8], memory[8:16], memory[16:24]
    assert function(a, b, c) is None
    assert function(memory[1:9], b, c) is False
    assert function(a, a, c) is False
    assert function(a, b, memory[15:23]) is False
    assert function(a, b, b) is False
    whole = constant.base.reshape(-1)
    assert function(a, b, whole[:8]) is False
    assert function(a, whole[8:], c) is False
    assert function(whole[8:], b, c) is None


def test_a_function_keeps_how_it_is_described(bases):
    """Threads that meet each make a description, and the cache drops all but one."""
    function = make(bases, (F8, (), [0]))
    object_layout._method.cache_clear()
    others = [object_layout._Method(b"other", 0, 0, None) for _ in range(1000)]
    assert function.__name__ == "enter"
    assert function(np.zeros(())) is None
    assert len(others) == 1000


@pytest.mark.short_ways
@pytest.mark.parametrize("size", [7, 3000, 9000])
def test_entries_that_share_their_memory_leave_one_another_alone(size):
    """The buffers, tables of bases and failures of programs with spaces of one size."""
    x = np.linspace(1.0, 2.0, size)
    programs = [written, added]
    plans = [Executable(program_of(f, (size,)), runtime.target, "never") for f in programs]
    expected = [plan([x])[0] for plan in plans]
    for _ in range(150):
        for plan, right in zip(plans, expected, strict=True):
            np.testing.assert_array_equal(plan([x])[0], right)
    entries = [plan._entry[1] for plan in plans]
    assert [e(x, np.empty_like(x)) for e in entries] == [None, None]
    spaces = {int(e.__self__[entry.SPACE]) for e in entries}
    assert len(spaces) == 1
    assert len({int(e.__self__[entry.BASES]) for e in entries}) == 2


def written(x):
    return ng.cumsum(ng.sin(x) * x) * ng.cos(x)


def added(x):
    return ng.cumsum(ng.cos(x) + x) * ng.sin(x)
