"""Programs of the engine, run on the processor and on the device."""

import numpy as np

from numgrad.engine.fusion.assemble import fuse
from numgrad.engine.lower.executable import execute
from numgrad.engine.lower.lower import lower
from numgrad.engine.record.apply import deferring, runtime
from numgrad.targets.cuda import CUDATarget

TARGET = CUDATarget()


def program_of(function, *arrays):
    """Lower a function of constants."""
    values = [runtime.value(a) for a in arrays]
    with deferring():
        results = function(*values)
    return lower(results if isinstance(results, tuple) else (results,), runtime.target)


def on_device(program):
    """Return the results of a program without arguments, from the device."""
    bound = TARGET.bind(program)
    results = [TARGET.empty(ref.layout.shape, ref.layout.dtype) for ref in program.results]
    failure = bound.run(results)
    assert failure is None
    return [TARGET.to_host(result) for result in results]


def on_both(function, *arrays, fused=False):
    """Return pairs of results: of the device, and of the processor."""
    program = program_of(function, *arrays)
    expected = execute(program, runtime.target)
    if fused:
        program = fuse(program, TARGET.can_fuse, TARGET.reads_rings, TARGET.reads_tables)
    return list(zip(on_device(program), expected, strict=True))


def require_equal(pairs, tolerance=0.0):
    for found, expected in pairs:
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(found, expected, tolerance, tolerance)
