"""Whatever Python code does to what a tensor keeps, the process lives: compiled code looks at it
before it follows it, and what is not as it was raises or takes the ordinary way."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import InplaceError
from tests.sampling import one_in

SCRIPT = """
import sys
import numpy as np
import numgrad as ng

class Matrix(np.ndarray):
    pass

def read_only():
    array = np.full((4, 3), 2.0)
    array.flags.writeable = False
    return array

SAME = {  # other arrays of the same elements
    "read-only": read_only,
    "Fortran": lambda: np.asfortranarray(np.full((4, 3), 2.0)),
    "strided": lambda: np.full((8, 6), 2.0)[::2, ::2],
    "subclass": lambda: np.full((4, 3), 2.0).view(Matrix),
}
OTHER = {
    "None": lambda: None, "int": lambda: 3, "str": lambda: "abc", "tuple": lambda: (),
    "list": list, "object": object, "type": lambda: float, "True": lambda: True,
    "tensor": lambda: ng.tensor(np.full((4, 3), 2.0)), "no axes": lambda: np.ones(()),
    "one element": lambda: np.ones((1, 1)), "one axis": lambda: np.ones(12),
    "float32": lambda: np.ones((4, 3), np.float32), "int8": lambda: np.ones((4, 3), np.int8),
    "objects": lambda: np.full((4, 3), None), "text": lambda: np.full((4, 3), "a"),
    "swapped": lambda: np.ones((4, 3), ">f8"),
}
M, PLAIN = ng.tensor(np.ones((3, 2))), ng.tensor(np.full((4, 3), 2.0))
jitted = ng.jit(lambda a: ng.exp(a).sum())

def added(t):
    y = t * 1.0
    y += t
    return y

def taken(t):
    return ng.take(t, [0, 1], axis=0)

def written(t):
    y = t * 1.0
    y[0] = t[1]
    return y

OPS = [
    ng.exp, lambda t: t * t, lambda t: PLAIN + t, lambda t: t * 2.0, lambda t: t[1:],
    lambda t: t[0, 1], lambda t: t.T, lambda t: t.reshape(3, 4), lambda t: t.sum(),
    lambda t: t.max(axis=0), lambda t: t @ M, lambda t: ng.concat([t, PLAIN]), ng.sort,
    lambda t: ng.where(t > 0, t, PLAIN), lambda t: t.astype("float32"), added, written,
    taken, np.exp, jitted, ng.Tensor.detach, repr,
    lambda t: ng.grad((t * t).sum(), t)[0], lambda t: (t * t).sum().backward(),
]
MAKERS = {
    "leaf": lambda: ng.tensor(np.full((4, 3), 2.0), requires_grad=True),
    "plain": lambda: ng.tensor(np.full((4, 3), 2.0)),
    "result": lambda: MAKERS["leaf"]() * 1.0,
    "view": lambda: MAKERS["result"]()[:],
}

def outcome(op, t):
    try:
        result = op(t)
        return result.detach().numpy() if isinstance(result, ng.Tensor) else None
    except Exception as error:
        return error

def tamper(owner, slot, kind, change):
    for n, op in enumerate(OPS):
        t = MAKERS[kind]()
        try:
            change(owner(t), slot)
        except (AttributeError, TypeError):
            continue
        print(kind, slot, n, flush=True)  # the last line tells what ended the process
        first, second = outcome(op, t), outcome(op, t)
        yield n, op, kind, first, second
        outcome(lambda t: t + PLAIN, ng.tensor(np.full((4, 3), 2.0)))

def deleted(owner, slot):
    delattr(owner, slot)

def check(owner, slots, kinds):
    for slot in slots:
        for kind in kinds:
            for _ in tamper(owner, slot, kind, deleted):
                pass
            for make in OTHER.values():
                for n, op, _, first, _ in tamper(
                    owner, slot, kind, lambda o, s: setattr(o, s, make())
                ):
                    array = slot == "array" and isinstance(make(), np.ndarray)
                    computes = op not in (taken, ng.Tensor.detach, repr)  # NumPy does the rest
                    if array and computes and not isinstance(first, Exception):
                        raise SystemExit(f"{n} of {make()!r} gave {first!r}")
            if slot == "array" and owner is own:
                for make in SAME.values():
                    for n, op, k, first, _ in tamper(
                        owner, slot, kind, lambda o, s: setattr(o, s, make())
                    ):
                        expected = outcome(op, MAKERS[k]())
                        if isinstance(expected, np.ndarray) and not isinstance(first, Exception):
                            np.testing.assert_array_equal(first, expected)

own = lambda t: t
for op in OPS:
    for _ in range(110):
        for make in MAKERS.values():
            outcome(op, make())
part = sys.argv[1]
if part == "empty":
    for op in OPS:
        for _ in range(3):
            assert isinstance(outcome(op, ng.Tensor.__new__(ng.Tensor)), Exception)
        half = ng.Tensor.__new__(ng.Tensor)
        half.spec = PLAIN.spec
        assert isinstance(outcome(op, half), Exception)
elif part == "view":
    view = lambda t: t._view
    base = lambda t: t._view.base
    check(view, ["base", "chain", "node", "expr"], ["view"])
    check(base, ["node", "expr", "spec", "_view"], ["view"])
elif part == "storage":
    check(lambda t: t.storage, ["version", "kept", "past"], ["leaf", "view"])
else:
    check(own, part.split(","), MAKERS)
print("alive")
"""


@pytest.mark.parametrize(
    "part",
    one_in(4, ["empty", "array", "spec", "_storage", "node,slot", "_view,expr,expr_slot",
               "_requires_grad,_leaf,_kept", "view", "storage"]),
)  # fmt: skip
def test_no_change_of_what_a_tensor_keeps_ends_the_process(part):
    root = Path(ng.__file__).parent.parent
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", SCRIPT, part], capture_output=True,
        text=True, check=False, cwd=root, timeout=600,
    )  # fmt: skip
    last = result.stdout.splitlines()[-1:]
    assert result.returncode == 0, f"after {last}: {result.stderr[-2000:]}"
    assert last == ["alive"]


BIG = np.full((300, 300), 0.5)


def pull_of_squares(t, change):
    y = (t * t).sum()
    change(t)
    return ng.grad(y, t)


def pull_between(t, change):
    y = t * 2.0
    z = (y * y).sum()
    change(y)
    return ng.grad(z, t)


def batched(t, change):
    y = (t * t)[0]
    change(t)
    return ng.grad(y, t, np.ones((2, 300)), is_grads_batched=True)


def seeded(t, change):
    seed = ng.tensor(np.ones((300, 300)))
    y = ng.exp(t)
    change(seed)
    return ng.grad(y, t, seed)


def captured(t, change):
    f = ng.jit(lambda a: (a * a).sum())
    f(t)
    change(t)
    return f(t)


def closed_over(t, change):
    f = ng.jit(lambda a: (a * t).sum())
    f(2.0)
    change(t)
    return f(2.0)


@pytest.mark.parametrize(
    "array", [np.ones((1, 1)), np.ones((300, 300), np.int8), np.ones((301, 300)), np.ones(())]
)
@pytest.mark.parametrize(
    "use", [pull_of_squares, pull_between, batched, seeded, captured, closed_over]
)
@pytest.mark.parametrize("times", [1, 3])
def test_a_program_reads_no_array_of_another_shape_or_dtype(use, array, times):
    for _ in range(times):  # a structure that is met for the first time, and known ones
        use(ng.tensor(BIG, requires_grad=True), lambda value: None)

    def replace(value):
        value.array = array

    with pytest.raises(InplaceError, match="has been replaced by"):
        use(ng.tensor(BIG, requires_grad=True), replace)
