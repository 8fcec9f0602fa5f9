"""Programs to be fused, checked and compared with what they were."""

import numpy as np

from numgrad.engine.capture.capture import argument
from numgrad.engine.fusion.assemble import fuse
from numgrad.engine.graph.value import Spec
from numgrad.engine.lower.executable import Executable
from numgrad.engine.lower.lower import lower
from numgrad.engine.lower.verify import check_program
from numgrad.engine.record.apply import deferring, runtime

F8 = np.dtype(np.float64)


def program_of(function, *shapes):
    with deferring():
        values = [argument(n, Spec(shape, F8)) for n, shape in enumerate(shapes)]
        results = function(*values)
    results = results if isinstance(results, tuple) else (results,)
    return lower(results, runtime.target, open_arguments=True)


def fused(function, *shapes):
    """Fuse a function; check that it verifies and has the same bits; return the instructions."""
    before = program_of(function, *shapes)
    after = fuse(before)
    check_program(after)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    one, other = (Executable(p, runtime.target, "never")(arrays) for p in (before, after))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)
    return after.instructions
