"""Specs and kinds: equal ones are one object."""

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import numgrad as ng
from numgrad.engine.graph import spec as specs
from numgrad.engine.graph.kind import frozen
from numgrad.engine.graph.spec import Spec

F64 = np.dtype(float)


def test_equal_specs_are_one_object_as_long_as_one_is_in_use():
    spec = Spec((3, 7), F64)
    specs.recent_specs.clear()
    assert Spec((3, 7), F64) is spec
    assert pickle.loads(pickle.dumps(spec)) is copy.deepcopy(spec) is spec
    assert Spec((3, 7), np.dtype(float, metadata={"unit": "m"})) is spec
    others = {Spec((3, 7), F64, True), Spec((7, 3), F64), Spec((3, 7), np.dtype("f4"))}
    assert len(others | {spec}) == 4


def test_specs_that_nobody_uses_are_forgotten():
    gc.collect()
    specs.recent_specs.clear()
    before = len(specs._in_use)
    for n in range(9000):
        Spec((n, 11), F64)
    specs.recent_specs.clear()
    assert len(specs._in_use) <= before


def test_threads_get_the_same_spec():
    shapes = [(n, 13) for n in range(3000)]
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: [Spec(shape, F64) for shape in shapes], range(4)))
    for same in zip(*made, strict=True):
        assert len(set(map(id, same))) == 1


def test_parameters_have_one_key_only_if_they_are_the_same():
    values = [
        0, False, 0.0, -0.0, "0", b"0", None, (), ((),), ((), ()), (0,), (False,), (0.0,), (-0.0,),
        ((0,),), (0, 0), ((0, 0),), (0, (0,)), ((0,), 0), slice(0, 1), slice(0, True),
        (slice(0, 1),), 0j, np.float64(0.0), np.float32(0.0), F64, np.dtype(">f8"), int, float, len,
    ]  # fmt: skip
    assert len({frozen({"x": value}) for value in values}) == len(values)
    assert {frozen({"x": value}) for value in ([], (0, []), {}, {0})} == {None}
    assert frozen({"x": (0, None)}) == frozen({"x": (0, None)})


def test_a_kind_is_that_of_all_roads():
    x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    general = (x[1:] * 2.0).node.kind
    kinds = {(x[1:] * 2.0).node.kind for _ in range(200)}
    ng.set_flags()
    kinds.add((x[1:] * 2.0).node.kind)
    with ng.graph.saved_tensors_hooks(lambda value: value, lambda value: value):
        kinds.add((x[1:] * 2.0).node.kind)
    assert kinds == {general}
