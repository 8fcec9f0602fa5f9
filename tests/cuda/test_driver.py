"""The driver for GPUs, with the real cuda.core and a libcuda whose device is the host."""

import gc

import numpy as np
import pytest

import numgrad as ng
from numgrad.targets.cuda import driver as module

X = np.linspace(0.1, 1.0, 6).reshape(2, 3)


@pytest.fixture
def driver():
    return ng.cuda.current_stream()._runtime.driver


def test_it_is_the_driver_for_gpus(driver):
    assert isinstance(driver, module.Driver)
    assert driver.capability == (9, 0)
    assert ng.cuda.current_stream().cuda_stream == 1  # the legacy default stream


def test_blocks_of_memory_are_given_back(driver):
    blocks = driver.host.library.hosted_blocks
    counts = []
    for _ in range(4):  # at first numbers become constants of the device, which are kept
        gc.collect()
        before = blocks()
        x = ng.tensor(X, device="cuda", requires_grad=True)
        y = (ng.sin(x) * x[:, ::-1]).sum()
        (gradient,) = ng.grad(y, x)
        assert blocks() > before
        del x, y, gradient
        gc.collect()
        counts.append(blocks())
    assert counts[-1] == counts[-2]


def test_streams_and_events(driver):
    x = ng.tensor(X, device="cuda", requires_grad=True)
    side = ng.cuda.Stream(priority=-1)
    side.wait_stream(ng.cuda.current_stream())
    with ng.cuda.stream(side):
        y = ng.exp(x)
    ng.cuda.current_stream().wait_stream(side)
    (gradient,) = ng.grad((y * x).sum(), x)
    np.testing.assert_allclose(gradient.cpu().numpy(), np.exp(X) * (1 + X), 1e-13)
    begin, end = ng.cuda.Event(enable_timing=True), ng.cuda.Event(enable_timing=True)
    begin.record(side)
    end.record(side)
    assert begin.elapsed_time(end) == 0.5
    assert end.query()
    assert side.query()
    for waiting in (side, end, ng.cuda):
        waiting.synchronize()
    assert side.cuda_stream != ng.cuda.default_stream().cuda_stream


def test_streams_of_others(driver):
    side = ng.cuda.Stream()

    class Torch:
        cuda_stream = side.cuda_stream

    for other in (side.handle, side.cuda_stream, Torch()):
        stream = ng.cuda.external_stream(other)
        assert stream.cuda_stream == side.cuda_stream
        with ng.cuda.stream(other):
            assert ng.cuda.current_stream().cuda_stream == side.cuda_stream


def test_too_much_memory_is_a_memory_error(driver):
    assert ng.cuda.mem_get_info() == (1 << 20, 1 << 21)
    before = ng.cuda.memory_allocated()
    with pytest.raises(MemoryError, match=r"no 8\d* bytes left"):
        ng.cuda.current_stream()._runtime.allocate(8 << 30)
    assert ng.cuda.memory_allocated() == before


@pytest.mark.parametrize(("elements", "blocks"), [(1, 1), (256, 1), (257, 2), (1 << 20, 64)])
def test_a_grid_has_a_thread_for_each_element_but_no_more_blocks_than_are_of_use(elements, blocks):
    kernel = ng.tensor(1.0, device="cuda").array.target.runtime
    shapes = []

    class Counted(module.Driver):
        def __init__(self):
            self._enter = lambda: None
            self._most = 64
            self._launch = lambda stream, shape, function, *words: shapes.append(shape)

    prepared = module.Prepared(None, 256, 256, None)
    Counted().launch(prepared, elements, (), None)
    assert shapes[0].grid == (blocks, 1, 1)
    assert shapes[0].block == (256, 1, 1)
    assert kernel.driver.REDUCING == 3


def test_uploads_and_downloads_of_parts(driver):
    memory = ng.cuda.current_stream()._runtime.allocate(80)
    runtime = memory._runtime
    runtime.upload(memory, 8, np.arange(5.0))
    found = runtime.read(memory, 40, np.dtype(float), (2, 2), (-16, -8))
    np.testing.assert_array_equal(found, [[4, 3], [2, 1]])
    runtime.write(memory, 40, (2,), (-16,), np.array([7.0, 8.0]))
    found = runtime.read(memory, 8, np.dtype(float), (5,), (8,))
    np.testing.assert_array_equal(found, [0, 1, 8, 3, 7])
