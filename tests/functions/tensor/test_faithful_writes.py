"""Writes of tensors into arrays give what NumPy gives, or are refused and leave all as it was."""

import contextlib
import sys
import threading
import weakref
from collections import namedtuple

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import CaptureError, DetachedError

X = np.array([0.3, 0.6, 1.1])
REFUSED = (CaptureError, DetachedError, TypeError, ValueError)


class Index:
    """An index that is another one each time it is asked."""

    def __init__(self):
        self.count = -1

    def __index__(self):
        self.count += 1
        return self.count


class Bumping:
    """A factor that writes a list as it multiplies."""

    def __init__(self, indices):
        self.indices = indices

    def __mul__(self, other):
        return bumped(self.indices, other)


class Views:
    """Parts of an array, which are written as they are handed out."""

    def __init__(self):
        self.table = np.zeros((2, 3))

    def __getitem__(self, key):
        return self.table[key]

    def __setitem__(self, key, value):
        pass


class Ignoring:
    """A class with an attribute that is stored nowhere."""

    def __set__(self, holder, value):
        pass


class Copying:
    """A class whose dictionary of attributes is a copy each time."""

    __slots__ = ("__weakref__", "own")

    def __init__(self):
        self.own = {"h": np.zeros(3)}

    @property
    def __dict__(self):
        return dict(self.own)

    def __getattr__(self, name):
        return self.own[name]


class Holder:
    ignored = Ignoring()

    def __init__(self):
        self.h, self.kept = np.zeros(3), []
        self.__dict__["ignored"] = np.zeros(3)

    def exchanged(self, value):
        self.h = np.zeros(3)
        self.kept.append(self.h)
        return value


def bumped(indices, value):
    indices[0] += 1
    return value


Triple = namedtuple("Triple", "a b c")

PROGRAMS = {
    "index of the user": "i, h = Index(), np.zeros(3); h[i] = x[0]; out = h, i.count",
    "iterator": "ones, h = iter([1, 1]), np.zeros(3); h[sum(ones)] = x[0]; out = h",
    "function that writes": (
        "i, h = np.zeros((), int), np.zeros(3); h[np.add(i, 1, i)] = x[0]; out = h, i"
    ),
    "function of the user": (
        "calls, h = [], np.zeros(5)\n"
        "h[int(np.apply_along_axis(lambda a: calls.append(1) or len(calls), 0, h))] = x[0]\n"
        "out = h, len(calls)"
    ),
    "class without a module": (
        "class One:\n"
        "    count = 0\n"
        "    def __add__(self, other):\n"
        "        One.count += 1\n"
        "        return One.count\n"
        "one, h = One(), np.zeros(3); h[one + 0] = x[0]; out = h"
    ),
    "array of the value": (
        "holder = Holder(); first = holder.h; holder.h[0] += holder.exchanged(x[0])\n"
        "out = first, holder.h, holder.kept[0]"
    ),
    "array of the value, alone": (
        "holder = Holder(); holder.h[0] += holder.exchanged(x[0]); out = holder.h, holder.kept[0]"
    ),
    "key of the value": (
        "indices, h = [0], np.zeros(3); h[indices[0]] += bumped(indices, x[0]); out = h"
    ),
    "key of an operator": (
        "indices, h = [0], np.zeros(3); h[indices[0]] += Bumping(indices) * x[0]; out = h"
    ),
    "overlapping rows": (
        "h = np.ndarray((2, 2), buffer=np.zeros(2), strides=(0, 8)); h[0, 0] = x[0]; out = h"
    ),
    "weak reference": "h = np.zeros(3); seen = ref(h); h[0] = x[0]; out = seen()",
    "weak reference to a sum": "h = np.zeros(3); seen = ref(h); h += x; out = seen()",
    "too many elements": ("h = np.zeros(3)\ntry: h[0:3] = [x, x]\nexcept REFUSED: pass\nout = h"),
    "too many elements of a function": (
        "h, pair = np.zeros(3), lambda: [x, x]\ntry: h[0:3] = pair()\nexcept REFUSED: pass\nout = h"
    ),
    "too many elements of a function, two": (
        "h, pair = np.zeros(3), lambda: (x, 2.0 * x)\ntry: h[0:3] = pair()\n"
        "except REFUSED: pass\nout = h"
    ),
    "too many elements of a name": (
        "h, pair = np.zeros(3), [x, x]\ntry: h[0:3] = pair\nexcept REFUSED: pass\nout = h"
    ),
    "one element of an array": (
        "h = np.zeros(3)\ntry: h[0] = x[0:1]\nexcept REFUSED: pass\nelse: h[0] = 0.0\nout = h"
    ),
    "named tuple": "h = np.zeros((2, 3)); h[0] = Triple(x[0], x[1], x[2]); out = h",
    "columns first": (
        "h = np.zeros((2, 3), order='F'); h[0] = x; k = np.ones((2, 3), order='F'); k += x\n"
        "out = h.ravel('K'), k.ravel('K')"
    ),
    "variable of a comprehension": (
        "h = g = k = np.ones(3)\n"
        "made = [h for h in [np.zeros(3) for _ in range(1)] for h[0] in [x[0]]]\n"
        "out = h, g, k, made[0]"
    ),
    "part of an object": "views = Views(); views[0] += x; out = views.table",
    "descriptor": "holder = Holder(); holder.ignored[0] = x[0]; out = holder.ignored",
    "descriptor of a sum": "holder = Holder(); holder.ignored += x; out = holder.ignored",
    "copies of attributes": "holder = Copying(); holder.h[0] = x[0]; out = holder.h",
    "cannot be written": (
        "h = np.zeros(3); h.flags.writeable = False\ntry: h += x\nexcept REFUSED: pass\nout = h"
    ),
}


def run(program, x, in_function):
    names = {
        "np": np, "x": x, "ref": weakref.ref, "bumped": bumped, "Index": Index, "Triple": Triple,
        "Bumping": Bumping, "Holder": Holder, "Views": Views, "Copying": Copying,
        "REFUSED": REFUSED,
    }  # fmt: skip
    if in_function:
        exec("def program(x):\n " + program.replace("\n", "\n ") + "\n return out", names)
        return names["program"](x)
    exec(program, names)
    return names["out"]


def assert_equal(found, expected):
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other)
    else:
        found = found.detach().numpy() if isinstance(found, ng.Tensor) else found
        np.testing.assert_array_equal(found, expected)
        assert np.asarray(found).dtype == np.asarray(expected).dtype


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_numpys_or_refused(name, in_function):
    expected = run(PROGRAMS[name], X, in_function)
    try:
        found = run(PROGRAMS[name], ng.tensor(X, requires_grad=True), in_function)
    except REFUSED:
        return
    assert_equal(found, expected)


@pytest.mark.locked
def test_functions_that_bind_what_is_read_before_the_value():
    program = (
        "h, i, kept = np.zeros(3), 0, []\n"
        "def other():\n"
        "    global h, i\n"
        "    {}\n"
        "    return x[0]\n"
        "h[i] += other()\n"
    )
    for change in ("i = 1", "h = np.zeros(3); kept.append(h)"):
        with pytest.raises(REFUSED):
            run(program.format(change) + "out = h", ng.tensor(X, requires_grad=True), False)
    unchanged = program.format("print").replace("global h, i", "h = 0")
    found = run(unchanged + "out = h", ng.tensor(X, requires_grad=True), False)
    assert_equal(found, np.array([0.3, 0.0, 0.0]))

    h = first = np.zeros(3)
    del first

    def exchanged(value):
        nonlocal h
        h = np.zeros(3)
        kept.append(h)
        return value

    kept = []
    with pytest.raises(REFUSED):
        h[0] += exchanged(ng.tensor(X, requires_grad=True)[0])


total = np.zeros(3)


def add_to_global(x):
    global total
    total += x
    return total.sum()


def closure():
    own = np.zeros(3)

    def add(x):
        nonlocal own
        own += x
        return own.sum()

    return add, lambda: own


def resumed(sums):
    def put(x):
        return sums.send(x[0])

    return put


def sums():
    h, i = np.zeros(3), 0
    while True:
        value = yield h.sum()
        h[i] = value
        i += 1


@pytest.mark.parametrize("map_", [ng.jit, lambda f: lambda x: ng.func.vmap(f)(np.stack([x, x]))])
def test_captured_functions_bind_no_variables_that_are_older(map_):
    add, read = closure()
    running = sums()
    next(running)
    for f in (add_to_global, add, resumed(running)):
        with pytest.raises(REFUSED):
            map_(f)(X)
    for kept in (total, read()):
        assert type(kept) is np.ndarray
        np.testing.assert_array_equal(kept, 0)


@pytest.mark.locked
@pytest.mark.parametrize("order", "FC")
def test_captured_functions_keep_the_layout(order):
    def f(x):
        h = np.zeros((2, 3), order=order)
        h[0] = x
        h += x
        return h.ravel("K")

    if order == "C":
        np.testing.assert_array_equal(ng.jit(f)(X), f(X))
    else:
        with pytest.raises(REFUSED):
            ng.jit(f)(X)


@pytest.mark.locked
def test_what_a_program_puts_into_its_variables_stays():
    x = ng.tensor(X, requires_grad=True)
    locals()["other"] = 5
    h = np.zeros(3)
    h[0] = x[0]
    assert type(h) is ng.Tensor
    if sys.version_info < (3, 13):
        assert locals()["other"] == 5


@pytest.mark.locked
def test_looking_at_variables_leaves_no_references():
    class Sum:
        def __init__(self):
            self.total = np.zeros(3)

    x, made, other = ng.tensor(X, requires_grad=True), Sum(), np.zeros(3)
    made.total += x  # which looks at `made`
    other += x
    assert type(made.total) is type(other) is ng.Tensor
    h = np.zeros(3)
    h[0] = x[0]
    seen = weakref.ref(h)
    del h
    assert seen() is None


def test_writes_of_other_threads_are_not_lost():
    x = ng.tensor(X, requires_grad=True)

    def raced():
        h = np.zeros(3)

        def put():
            h[1] = 5.0

        def put_tensor():
            with contextlib.suppress(REFUSED):
                h[0] = x[0]

        threads = [threading.Thread(target=one) for one in (put_tensor, put)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        return float(h[1].detach() if isinstance(h, ng.Tensor) else h[1])

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        assert {raced() for _ in range(200)} == {5.0}
    finally:
        sys.setswitchinterval(before)
