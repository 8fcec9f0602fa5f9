"""The driver for GPUs without a GPU: the real cuda.core, with a libcuda whose device is the host,
where Numba's simulator runs the kernels that it launches.

What is left of a GPU's way is what its hardware does. Addresses, numbers of bytes, and the packing
of arguments are those that a GPU would get.
"""

import ctypes
import shutil
from itertools import count
from math import prod

import numpy as np

from numgrad.ir.program import extent
from numgrad.targets import cuda
from numgrad.targets.cuda.compile.kernel import Array, Number, Pointer
from numgrad.targets.cuda.device import available, driver
from numgrad.targets.cuda_simulator import driver as simulator

from ..hosted_library import load

_LAUNCHED = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
)  # fmt: skip


def missing():
    """Return why it cannot be used here, or None."""
    if not available.is_installed("cuda.core"):
        return "needs cuda-core, pip install .[cuda13]"
    return None if shutil.which("cc") else "needs a C compiler, cc"


def begin(is_idle=False):
    """Let devices have this driver in this process, with a device that does nothing if it is idle.
    """
    library = load()
    if is_idle:
        library.hosted_be_idle()
    host = Host(library)
    cuda._driver = lambda index: HostedDriver(index, host)


class Host:
    """What runs the kernels.

    Attributes
    ----------
    kernels : dict
        Of the simulator, by the names that the library knows.
    shapes : list
        Blocks and threads of each launch.
    streams, devices : list
        The address of the stream of each launch, and the number of the GPU that is current.
    error : Exception or None
        Why the latest launch failed.
    graphs : dict
        What each graph launches.
    """

    def __init__(self, library):
        self.library, self.kernels, self.shapes, self.error = library, {}, [], None
        self.graphs, self.streams, self.devices = {}, [], []
        library.hosted_capturing.restype = ctypes.c_void_p
        self._callback = _LAUNCHED(self._run)
        library.hosted_on_launch(self._callback)

    def _run(self, symbol, blocks, threads, stream, arguments):
        """Do what a GPU does with a launch."""
        self.error = None
        try:
            if symbol is None:
                for launch in self.graphs[stream]:
                    simulator._simulate(*launch)
                return 0
            self.shapes.append((blocks, threads))
            self.streams.append(stream)
            self.devices.append(self.library.hosted_device())
            kernel, words = self.kernels[symbol], _Words(arguments)
            launch = kernel, [words.take(p) for p in kernel.parameters]
            graph = self.library.hosted_capturing()
            if graph is not None:
                self.graphs.setdefault(graph, []).append(launch)
            else:
                simulator._simulate(*launch)
        except Exception as error:
            self.error = error
            return 999  # CUDA_ERROR_UNKNOWN
        return 0


class HostedDriver(driver.Driver):
    """The driver of GPUs, but for compiling."""

    REDUCING, NEIGHBOURS = simulator.REDUCING, simulator.NEIGHBOURS
    tiles = simulator.Simulator.tiles

    def __init__(self, index, host):
        super().__init__(index)
        self._is_one_of_many = False  # whose contexts differ in nothing
        self.PROCESSORS, self.RESIDENT = simulator.PROCESSORS, simulator.RESIDENT
        self.host = host

    def prepare(self, kernel):
        from cuda.core import ObjectCode

        simulated = simulator.Simulator.prepare(None, kernel)
        symbol = f"kernel_{len(self.host.kernels)}"
        self.host.kernels[symbol.encode()] = simulated
        function = ObjectCode.from_cubin(b"none", name=symbol).get_kernel(symbol)
        return driver.prepared(kernel, function)

    def launch(self, prepared, elements, arguments, stream):
        try:
            super().launch(prepared, elements, arguments, stream)
        except Exception:
            if self.host.error is not None:
                raise self.host.error from None
            raise


class _Words:
    """The arguments of a launch as cuda.core has packed them."""

    def __init__(self, pointers):
        self._pointers, self._next = pointers, count()

    def _word(self, kind=ctypes.c_int64):
        return kind.from_address(self._pointers[next(self._next)]).value

    def take(self, parameter):
        if isinstance(parameter, Pointer):
            return _Elements(self._word(ctypes.c_uint64), parameter.dtype)
        if isinstance(parameter, Number):
            kind = ctypes.c_float if parameter.dtype.char == "f" else ctypes.c_double
            return parameter.dtype.type(self._word(kind))
        if not isinstance(parameter, Array):
            is_short = parameter.bits == 32
            return np.uint32(self._word(ctypes.c_uint32)) if is_short else np.int64(self._word())
        _, _, size, itemsize, address = [self._word() for _ in range(5)]
        shape = tuple([self._word() for _ in range(parameter.ndim)])
        strides = tuple([self._word() for _ in range(parameter.ndim)])
        assert (prod(shape), parameter.dtype.itemsize) == (size, itemsize)
        return simulator._View(_array(address, parameter.dtype, shape, strides))


def _array(address, dtype, shape, strides):
    if 0 in shape:
        return np.empty(shape, dtype)
    low, high = extent(shape, strides)
    memory = (ctypes.c_char * (high - low + dtype.itemsize)).from_address(address + low)
    return np.ndarray(shape, dtype, memory, -low, strides)


class _Elements:
    """A typed pointer."""

    def __init__(self, address, dtype):
        self._address, self._dtype = address, dtype

    def _at(self, index):
        return _array(self._address + int(index) * self._dtype.itemsize, self._dtype, (1,), (1,))

    def __getitem__(self, index):
        return self._at(index)[0]

    def __setitem__(self, index, value):
        self._at(index)[0] = value
