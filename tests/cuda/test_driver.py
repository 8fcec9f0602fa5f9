"""The driver for GPUs, with the real cuda.core and a libcuda whose device is the host."""

import gc

import numpy as np
import pytest

import numgrad as ng
from numgrad.targets.cuda.device import driver as module
from numgrad.targets.cuda.device import page_locked

X = np.linspace(0.1, 1.0, 6).reshape(2, 3)


@pytest.fixture
def driver():
    return ng.cuda.current_stream()._runtime.driver


@pytest.fixture
def blocks(driver):
    """Counts the blocks that the driver has given and not got back, but for those that are kept."""

    def count():
        gc.collect()
        ng.cuda.current_stream()._runtime.forget_blocks()
        return driver.host.library.hosted_blocks()

    return count


def test_it_is_the_driver_for_gpus(driver):
    assert isinstance(driver, module.Driver)
    assert driver.capability == (9, 0)
    assert ng.cuda.current_stream().cuda_stream == 1  # the legacy default stream


def test_blocks_of_memory_are_given_back(blocks):
    counts = []
    for _ in range(4):  # at first numbers become constants of the device, which are kept
        before = blocks()
        x = ng.tensor(X, device="cuda", requires_grad=True)
        y = (ng.sin(x) * x[:, ::-1]).sum()
        (gradient,) = ng.grad(y, x)
        assert blocks() > before
        del x, y, gradient
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


def test_uploads_and_downloads_of_parts(driver):
    memory = ng.cuda.current_stream()._runtime.allocate(80)
    runtime = memory._runtime
    runtime.upload(memory, 8, np.arange(5.0))
    found = runtime.read(memory, 40, np.dtype(float), (2, 2), (-16, -8))
    np.testing.assert_array_equal(found, [[4, 3], [2, 1]])
    runtime.write(memory, 40, (2,), (-16,), np.array([7.0, 8.0]))
    found = runtime.read(memory, 8, np.dtype(float), (5,), (8,))
    np.testing.assert_array_equal(found, [0, 1, 8, 3, 7])


# Memory that is shared with others ------------------------------------------------------------


class Exporter:
    """What another library's array has."""

    def __init__(self, tensor, **changes):
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, **changes}


def test_the_array_interface_of_cuda():
    x = ng.tensor(X, device="cuda")
    interface = x.T.__cuda_array_interface__
    assert interface["shape"] == (3, 2)
    assert interface["strides"] == (8, 24)
    assert interface["typestr"] == "<f8"
    assert interface["data"][1]
    assert interface["stream"] == 1
    row = x[1].__cuda_array_interface__
    assert row["data"][0] == interface["data"][0] + 24
    assert row["strides"] is None
    assert not hasattr(ng.tensor(X), "__cuda_array_interface__")
    with pytest.raises(ng.errors.DetachedError, match="requires grad"):
        ng.tensor(X, device="cuda", requires_grad=True).__cuda_array_interface__  # noqa: B018


@pytest.mark.parametrize("made", [ng.from_dlpack, ng.asarray])
@pytest.mark.parametrize("exported", ["interface", "dlpack"])
def test_memory_of_others_is_read_without_a_copy(made, exported):
    x = ng.tensor(X, device="cuda")
    other = x[:, 1:]
    if exported == "interface":
        other = Exporter(other)
    else:
        other = type("Array", (), {
            "__dlpack__": lambda self, **options: x[:, 1:].__dlpack__(**options),
            "__dlpack_device__": lambda self: (2, 0),
        })()  # fmt: skip
    y = made(other)
    assert y.device == "cuda:0"
    np.testing.assert_array_equal(y.cpu().numpy(), X[:, 1:])
    x[0, 1] = 7.0
    assert y[0, 0].item() == 7.0
    with pytest.raises(ng.errors.NumgradError):
        y[0, 0] = 1.0
    w = ng.tensor(np.ones((2, 2)), device="cuda", requires_grad=True)
    z = (w * y).sum()
    x[0, 2] = 9.0  # the derivative has kept what was there
    (gradient,) = ng.grad(z, w)
    np.testing.assert_array_equal(gradient.cpu().numpy(), [[7.0, X[0, 2]], X[1, 1:]])


def test_exported_memory_lives_as_long_as_it_is_used(blocks):
    from cuda.core.utils import StridedMemoryView

    x = ng.tensor(X, device="cuda")
    address = x.__cuda_array_interface__["data"][0]
    view = StridedMemoryView.from_dlpack(x, stream_ptr=1)
    assert (view.ptr, view.shape, view.readonly) == (address, (2, 3), True)
    before = blocks()
    del x
    assert blocks() == before
    del view
    assert blocks() == before - 1


def test_what_cannot_be_shared_is_copied():
    from cuda.core.utils import StridedMemoryView

    x = ng.tensor(X, device="cuda")
    address = x.__cuda_array_interface__["data"][0]
    view = StridedMemoryView.from_dlpack(x[::-1], stream_ptr=1)  # negative strides
    assert not address <= view.ptr < address + X.nbytes
    with pytest.raises(BufferError, match="another device"):
        x.__dlpack__(dl_device=(1, 0))


@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("copy", [None, False, True])
def test_capsules_are_of_the_kind_that_is_asked_for(version, copy):
    capsule = ng.tensor(X, device="cuda").__dlpack__(max_version=version, copy=copy)
    assert ("dltensor_versioned" in repr(capsule)) == (version is not None)


def test_a_consumer_waits_for_the_current_stream(driver, monkeypatch):
    waits = []
    monkeypatch.setattr(driver, "wait", lambda stream, event: waits.append(stream))
    side, other = ng.cuda.Stream(), ng.cuda.Stream()
    x = ng.tensor(X, device="cuda")
    with ng.cuda.stream(side):
        for stream, count in ((None, 1), (1, 1), (other.cuda_stream, 1), (-1, 0)):
            del waits[:]
            x.__dlpack__(stream=stream, max_version=(1, 0))
            assert len(waits) == count


def test_page_locked_memory():
    array = ng.cuda.empty_pinned((2, 3))
    array[...] = X
    x = ng.asarray(array, device="cuda")
    array[...] = 0
    np.testing.assert_array_equal(x.cpu().numpy(), X)
    assert page_locked.is_page_locked(array[::2])
    assert not page_locked.is_page_locked(X[::2])
    assert ng.cuda.empty_pinned(4, "int32").shape == (4,)
