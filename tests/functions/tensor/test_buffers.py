"""``array[key] = tensor``: the name is bound to a tensor where nobody else has the array; where
somebody has, there is an error, and nothing is written."""

import gc
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import CaptureError, DetachedError
from tests.sampling import one_in

X = np.array([0.3, 0.6, 1.1])
REFUSED = (DetachedError, ValueError, TypeError)


def recurrence(x):
    h = np.zeros(4)
    h[0] = x[0] * x[1]
    for t in range(1, 4):
        h[t] = h[t - 1] * x[1] + x[2]
    return h


def homogeneous(x):
    c, s = np.cos(x[0]), np.sin(x[0])
    A = np.eye(4)
    A[:3, :3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    A[:3, 3] = x
    return A


def rows_of_lists(x):
    c, s = np.cos(x[0]), np.sin(x[0])
    A = np.empty((3, 3))
    A[0] = [c, -s, 0]
    A[1, :] = (s, c, 0.0)
    A[2] = 0, 0, x[1]
    return A


def nested_lists(x):
    c, s = np.cos(x[0]), np.sin(x[0])
    A, B = np.zeros((2, 2)), np.zeros((2, 2, 2))
    A[...] = [[c, -s], [s, c]]
    B[:] = [[[c, 1.0], [s, c]], A]
    return B


def with_a_list_that_has_a_name(x):
    A = np.zeros((2, 3))
    row = [x[0], 2.0, x[1]]
    A[1] = row
    return A


def broadcast(x):
    A = np.zeros((2, 3))
    A[:] = x[0]
    A[:, 1] = x[1]
    B = np.ones((2, 3))
    B[0] = 2 * x[2] - 1
    return A + B


def at_arrays_of_indices(x):
    A, B, C = np.zeros(4), np.zeros(4), np.zeros((3, 3))
    A[[0, 2]] = x[:2]
    B[B == 0] = x[1]
    B[~(np.arange(4) < 2)] = 2 * x[0]
    C[np.ix_([0, 2], [1, 2])] += np.outer(x[:2], x[1:])
    C[np.arange(3), np.arange(3)] = x
    return np.sum(A) + B.sum() + C


def augmented_by_slices(x):
    h = np.zeros(4)
    h[1:] += x
    for _ in range(2):
        flux = np.full((2, 3), 0.5)
        flux[1, ::-1] *= x
        flux[:, 1:] -= x[1:] * h[2:]
        h[1:] += flux.sum(axis=0)
    return h


def augmented(x):
    A = np.ones((3, 2))
    A[0, 1] += x[0]
    A[1] -= x[:2]
    A[1:] *= x[1]
    A[:, 0] /= x[2]
    return A


def of_functions(x):
    def slope(y):
        return [y[1], -y[0] * x[2]]

    k = np.zeros((4, 2))
    for i in range(4):
        k[i] = slope(x[:2] + 0.1 * k[i - 1])
    return k


def shared(x):
    total, count = np.zeros(3), 0

    def add(i):
        nonlocal count
        total[i] = x[i] * count
        count += 1

    for i in range(3):
        add(i)
    return total


def handed_over(x):
    def filled(h):
        h[1] = x[0] * x[1]
        return h

    return filled(np.zeros(3))


class Structure:
    size = 3

    def __init__(self):
        self.K = np.zeros((self.size, self.size))
        self.place = 1

    def add(self, k):
        for i in range(2):
            self.K[i, self.place] += k * i
            self.K[i : i + 2, self.size - 1] = k
        return self.K


def of_an_object(x):
    return Structure().add(x[1] * x[0])


def single_precision(x):
    h = np.zeros(3, np.float32)
    h[1] = x[0]
    assert h.dtype == np.float32
    return h


def complex_numbers(x):
    h = np.zeros(2, complex)
    h[0] = np.exp(1j * x[0])
    h[1] = x[1]
    return h.real + h.imag


def reshaped(x):
    h = np.arange(6.0).reshape(2, 3)
    h[0, len(x) - 1] = x[0]
    h[h.argmax() // 3, -1] = x[1]
    return h


def in_blocks(x):
    h = np.zeros(3)
    with np.errstate(all="ignore"):
        try:
            h[len(x) - 3] = x[0]
        finally:
            h[max(1, 2) - 1] = x[1]
    (h[2], other) = x[2] ** 2, h[0]
    return h * other


def of_containers(x):
    held, rows, i = {"x": x, "first": x[0]}, [x, 2.0 * x], 1
    h, k = np.zeros(3), np.zeros((2, 3))
    h[:] = held["x"]
    h[0] = held["first"]
    k[0] = rows[0]
    k[1] = rows[i]
    return h * k[0] + k[1]


def of_calls(x):
    def last(*values):
        return values[-1]

    h, k = np.zeros(3), np.zeros((2, 3))
    h[:] = last(1.0, x)
    k[1] = last(x)
    k[0, 1:] = (lambda: x[1:] ** 2)()
    return h * k[1] + k[0]


def conditional(x):
    h, k = np.zeros(3), np.zeros(3)
    for i in range(3):
        h[i] = x[i] if i % 2 else 2.0
    k[:] = x**2 if x.shape[0] > 2 else 0.0
    return h * k


def chained(x):
    h, k = np.zeros(3), np.zeros(3)
    h[:] = k[:] = x
    h[0] = k[1] = x[2]
    return h * k


def by_functions(x):
    h, k = np.zeros((2, 3)), np.zeros(4)
    np.copyto(h, x, where=np.array([True, False, True]), casting="same_kind")
    np.fill_diagonal(h, x[1])
    np.put(k, [0, 2], x[1:])
    np.place(k, k == 0, x**2)
    np.putmask(k, np.array([False, True, False, False]), x[0])
    np.put_along_axis(k, np.array([3]), x[2:] ** 3, axis=0)
    return h[:, 0] * k[:2] + h[1, 2] * k[3]


def by_methods_of_operators(x):
    h, nodes = np.ones(2), np.array([0, 1, 0])
    np.add.at(h, nodes, x * x)
    np.multiply.at(h, (nodes[:2],), x[:2])

    def subtract(i):
        np.subtract.at(h, i, x[i])

    subtract(1)
    return h


def computed_with_before(x):
    h, k = np.ones(4), np.full(3, 2.0)
    for _ in range(2):
        h[1:] = h[1:] * x + h[0]
    y = k * x
    k += x
    k[:] = k * x[1]
    k[1] = h[0] * x[0]
    return h[1:] * k + y


def rows_of_reshaped(x):
    h = np.arange(6.0).reshape(2, 3)
    y = h * x
    h[1] = 2.0 * x
    h[:, 0] = x[:2]
    return h + y


def of_an_inner_function(x):
    h = np.full(3, 2.0)

    def step():
        h[1:] = h[:2] * x[1:] + h[1:]

    step()
    step()
    return h


def with_a_number_for_all(x):
    h, k = np.arange(4.0), np.full(2, 3.0) * 1j
    y = h[1:] * x + k[0].imag
    h[1:] = x[0]
    k[0] = x[1] * k[1]
    return h[1:] * y + abs(k[0])


PROGRAMS = [
    recurrence, homogeneous, rows_of_lists, nested_lists, with_a_list_that_has_a_name, broadcast,
    at_arrays_of_indices, augmented, augmented_by_slices, of_functions, shared, handed_over,
    of_an_object, single_precision, complex_numbers, reshaped, in_blocks, of_containers, of_calls,
    conditional, chained, by_functions, by_methods_of_operators, computed_with_before,
    rows_of_reshaped, of_an_inner_function, with_a_number_for_all,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_name_that_has_the_array_alone_is_bound_to_a_tensor(f):
    found = f(ng.tensor(X, requires_grad=True))
    assert type(found) is ng.Tensor
    expected = f(X)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-15)
    assert found.dtype == expected.dtype


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not single_precision])
def test_gradients_are_those_of_differences(f):
    slopes = np.stack([(f(X + d) - f(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)], axis=-1)
    np.testing.assert_allclose(ng.func.jacobian(f)(X), slopes, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not of_an_object])
def test_captured_and_mapped_functions(f):
    for _ in range(3):
        np.testing.assert_allclose(ng.jit(f)(X), f(X), rtol=1e-15)
    rows = np.stack([X, 2 * X])
    np.testing.assert_allclose(ng.func.vmap(f)(rows), [f(row) for row in rows], rtol=1e-14)


def test_captured_functions_write_no_arrays_that_others_may_have():
    with pytest.raises(REFUSED):
        ng.jit(of_an_object)(X)
    table = np.zeros(4)

    def of_a_table(x):
        h = table
        h[1:] += x
        return h

    with pytest.raises(REFUSED):
        ng.jit(of_a_table)(X)


@pytest.mark.parametrize(
    "program",
    [
        "h = np.ones(3); v = h[1:]; y = h * x; h[:] = y; y = y + v.sum()",
        "h = np.ones(3); w = h; y = h * x; h[0] = x[0]; y = y + w",
        "h = np.ones(3); t = ng.asarray(h); y = t * x; h[:] = y; y = y + t",
        "h = np.ones(3); y = h * x; h[0] = 5.0; y = y + h",
        "h = np.ones(3); y = h * x; h[1:] = [x[0], x[1]]; y = y + h",
    ],
)
def test_captured_functions_write_no_arrays_that_they_have_computed_with_and_others_see(program):
    names = {"np": np, "ng": ng}
    exec(f"def f(x):\n {program}\n return y", names)
    try:
        found = ng.jit(names["f"])(X)
    except (*REFUSED, CaptureError):
        return
    np.testing.assert_array_equal(found, names["f"](X))


REFUSALS = [
    "h = np.zeros(3); other = h; h[0] = x[0]",
    "h = np.zeros(3); part = h[1:]; h[0] = x[0]",
    "h = np.zeros(3); part = h[1:]; part[0] = x[0]",
    "h = np.zeros(3); seen = memoryview(h); h[0] = x[0]",
    "h = [np.zeros(3)]; h[0][0] = x[0]",
    "h = {'a': np.zeros(3)}; h['a'][0] = x[0]",
    "h = np.zeros(3); table = {'a': h}; h[0] += x[0]",
    "h = np.zeros((3, 2)); row = h[0]; h[1] += x[:2]",
    "h = np.zeros((3, 2))\nfor row in h:\n    row[0] = x[0]",
    "h = np.zeros(3, int); h[0] = x[0]",
    "h = np.zeros(3); h.flags.writeable = False; h[0] = x[0]",
    "h = np.zeros(3)\ndef fill(h):\n    h[0] = x[0]\nfill(h)",
    "h = np.zeros(3); h[next(places)] = x[0]",
    "h = np.zeros(3); h[place.next] = x[0]",
    "h = np.zeros(3); h[place.number()] = x[0]",
    "h = np.zeros((2, 3)); h[0] = x[0:2]",
    "class Shared:\n    h = np.zeros(3)\n    h[0] = x[0]",
    "class Shared:\n    h = np.zeros(3)\nshared = Shared()\nshared.h[0] = x[0]",
    "h = np.zeros(6); g = h.reshape(2, 3); g[0, 0] = x[0]",
]


class Place:
    def __init__(self):
        self.count = 0

    @property
    def next(self):
        self.count += 1
        return self.count - 1

    def number(self):
        return self.next


@pytest.mark.parametrize("program", REFUSALS)
def test_an_array_that_others_see_is_refused(program):
    for text in (program, "def f(x):\n " + program.replace("\n", "\n ") + "\nf(x)"):
        names = {
            "np": np, "x": ng.tensor(X, requires_grad=True), "place": Place(),
            "places": iter(range(3)),
        }  # fmt: skip
        with pytest.raises(REFUSED):
            exec(text, names)


def test_a_key_is_not_computed_anew_by_code_of_the_user():
    place, h = Place(), np.zeros(3)
    with pytest.raises(REFUSED):
        h[place.next] = ng.tensor(1.0, requires_grad=True)
    assert place.count == 1


def test_a_key_that_the_value_changes():
    x, i = ng.tensor(X, requires_grad=True), 0
    h = np.zeros(3)

    def step():
        nonlocal i
        i += 1
        return x[0]

    with pytest.raises(REFUSED):
        h[i] += step()
    k = np.zeros(3)
    k[i] = step()  # the value is computed before the key
    np.testing.assert_array_equal(k.detach().numpy(), [0, 0, 0.3])


def test_a_list_with_references_of_others_is_written():
    x = ng.tensor(X, requires_grad=True)
    held, made = [], np.zeros(2)

    def pair():
        held.append([x[0], x[1]])
        return held[-1]

    with pytest.raises(REFUSED):  # which list NumPy reads is known only if nothing else has it
        made[:] = pair()


def test_the_collector_may_run_at_any_time():
    x = ng.tensor(X, requires_grad=True)
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for f in PROGRAMS:
            np.testing.assert_allclose(f(x).detach().numpy(), f(X), rtol=1e-15)
    finally:
        gc.set_threshold(*before)


def test_the_flag_leaves_arrays_as_they_are(numpy_as_it_is):
    for f in (recurrence, by_functions, by_methods_of_operators):
        with pytest.raises(REFUSED):
            f(ng.tensor(X, requires_grad=True))


@pytest.mark.parametrize(
    "program",
    [
        "other = h\nnp.add.at(h, [0, 1, 0], x)",
        "np.add.at(h[:], [0, 1, 0], x)",
        "rows = [np.zeros(3)]\nnp.copyto(rows[0], x)",
        "part = h[1:]\nnp.copyto(h, x)",
        "h.flags.writeable = False\nnp.put(h, [0, 1, 2], x)",
        "h = np.zeros(3, int)\nnp.putmask(h, [True] * 3, x)",
        "(lambda k: np.copyto(k, x))(h)",
        "np.copyto(*(h, x))",
    ],
)
def test_functions_write_no_arrays_that_others_may_have(program):
    x = ng.tensor(X, requires_grad=True)
    for text in (program, "def f(h):\n " + program.replace("\n", "\n ") + "\nf(np.zeros(3))"):
        names = {"np": np, "x": x, "h": np.zeros(3)}
        with pytest.raises(REFUSED):
            exec(text, names)
        assert not names["h"].any()


def test_functions_write_into_attributes_and_global_names():
    program = "np.add.at(h, [0, 0], x[:2]); holder.h = np.zeros(3); np.copyto(holder.h, x)"
    names = {"np": np, "x": ng.tensor(X, requires_grad=True), "h": np.zeros(3)}
    names["holder"] = holder = SimpleNamespace()
    exec(program, names)
    np.testing.assert_array_equal(names["h"].detach(), [X[0] + X[1], 0.0, 0.0])
    np.testing.assert_array_equal(holder.h.detach(), X)


def test_other_variables_of_the_function_are_as_they_were():
    x = ng.tensor(X, requires_grad=True)
    h, total, other = np.zeros(3), np.zeros(3), 5
    h[0] = x[0]
    total += x  # the name has the array alone still
    assert type(total) is type(h) is ng.Tensor
    assert other == 5


def test_a_dictionary_of_variables_stays():
    names, x = locals(), ng.tensor(X, requires_grad=True)
    h = np.zeros(3)
    h[0] = x[0]
    if sys.version_info < (3, 13):  # which has one dictionary for all calls of `locals`
        assert names["x"] is x
        assert type(names["h"]) is ng.Tensor


def test_tensors_without_gradients_are_written_into_arrays():
    x, h = ng.tensor(X), np.zeros(3)
    h[0] = x[0]
    with ng.no_grad():
        h[1] = ng.tensor(X, requires_grad=True)[1]
    assert type(h) is np.ndarray
    np.testing.assert_array_equal(h, [0.3, 0.6, 0.0])


def test_programs_without_source():
    code = (
        "import numpy as np, numgrad as ng\n"
        "x = ng.tensor([1.0, 2.0], requires_grad=True)\n"
        "h = np.zeros(3)\n"
        "for i in range(2): h[i + 1] = x[i] * x[i]\n"
        "print(ng.grad(h.sum(), x)[0].tolist())\n"
    )
    for how in (["-c", code], ["-"]):
        run = subprocess.run(
            [sys.executable, *how], input=code, stdout=subprocess.PIPE, text=True, check=True,
            env=os.environ,
        )  # fmt: skip
        assert run.stdout.strip() == "[2.0, 4.0]"


# Programs at random -------------------------------------------------------------------------------


def drawn(seed):
    """Return a program that makes arrays of three elements or three rows, gives them other names,
    and writes."""
    rng = np.random.default_rng(seed)
    one = lambda items: items[rng.integers(len(items))]  # noqa: E731
    lines, names, tables = ["a = np.zeros(3)", "B = np.ones((3, 3))"], ["a"], ["B"]
    values = ["x[0] * x[1]", "x[2]", "2.0", "x[0] ** 2", "a[1] + x[0]"]
    vectors = [
        "x", "x * 2", "[x[0], 1.0, x[1]]", "(x[0], x[0], x[2])", "np.ones(3)", "B[0]", "f(x)",
        "x[1] * np.ones(3)", "[x[1]] * 3", "x[0]", "a", "a * x", "B[1] + x",
    ]  # fmt: skip
    for _ in range(rng.integers(3, 9)):
        i, j, name, table = rng.integers(3), rng.integers(3), one(names), one(tables)
        fresh = f"v{len(lines)}"
        kind = one(["element", "row", "column", "whole", "aug", "aug row", "alias", "make", "loop",
                    "row name", "holder", "del"])  # fmt: skip
        if kind == "element":
            lines.append(f"{one([f'{name}[{i}]', f'{table}[{i}, {j}]'])} = {one(values)}")
        elif kind in ("row", "column"):
            key = str(i) if kind == "row" else f":, {i}"
            lines.append(f"{table}[{key}] = {one(vectors)}")
        elif kind == "whole":
            lines.append(f"{name}[:] = {one(vectors)}")
        elif kind == "aug":
            lines.append(f"{name}[{i}] {one('+-*')}= {one(values)}")
        elif kind == "aug row":
            lines.append(f"{table}[{i}] {one('+-*')}= {one(vectors[:2] + vectors[4:8])}")
        elif kind == "alias":
            lines.append(f"{fresh} = {name}")
            names.append(fresh)
        elif kind == "make":
            lines.append(f"{fresh} = {one(['np.zeros(3)', 'np.arange(3.0).reshape(3, 1)[:, 0]'])}")
            names.append(fresh)
        elif kind == "loop":
            lines.append(f"for k in range(3): {name}[k] = {one(values)} * k")
        elif kind == "row name":
            lines.append(f"{fresh} = {table}[{i}]")
            names.append(fresh)
        elif kind == "holder":
            lines.append(f"held.append({one([name, table])})")
        elif len(names) > 1:
            lines.append(f"{names.pop()} = None")
    return lines


def run(lines, x, in_function):
    names = {"np": np, "x": x, "held": [], "f": lambda x: [x[0], x[1] * 2, x[0]]}
    if in_function:
        body = "\n ".join(lines)
        exec(f"def program(x, held, f):\n {body}\n return dict(locals())", names)
        found = names["program"](x, names["held"], names["f"])
    else:
        exec("\n".join(lines), names)
        found = names
    kept = {name: value for name, value in found.items() if name[0] in "aBv" and value is not None}
    return {**kept, **{f"held {n}": value for n, value in enumerate(names["held"])}}


@pytest.mark.parametrize("part", one_in(10, range(40)))
def test_programs_at_random_are_numpys_or_refused(part):
    done = 0
    for seed in range(50 * part, 50 * part + 50):
        lines = drawn(seed)
        for in_function in (False, True):
            expected = run(lines, X, in_function)
            try:
                found = run(lines, ng.tensor(X, requires_grad=True), in_function)
            except REFUSED:
                continue
            done += 1
            for name, value in expected.items():
                other = found[name]
                other = other.detach().numpy() if isinstance(other, ng.Tensor) else other
                np.testing.assert_allclose(other, value, rtol=1e-15, err_msg="\n".join(lines))
    assert done > 20


@pytest.mark.parametrize("part", one_in(10, range(40)))
def test_captured_programs_at_random_are_numpys_or_refused(part):
    done = 0
    for seed in range(50 * part, 50 * part + 50):
        lines = drawn(seed)
        program = ng.jit(lambda x, lines=lines: run(lines, x, True))
        for _ in range(2):
            try:
                found = program(X)
            except (*REFUSED, CaptureError):
                continue
            done += 1
            for name, value in run(lines, X, True).items():
                np.testing.assert_allclose(
                    found[name], value, rtol=1e-15, err_msg="\n".join(lines)
                )
    assert done > 20
