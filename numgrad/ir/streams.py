"""Streams and events: the order in which a device runs its work.

The work of one stream runs in the order in which it was queued. The work of two streams runs in any
order, unless one of them waits for an event of the other. The names are PyTorch's.
"""

from typing import Any


class Stream:
    """A queue of work for a device, done in order.

    Parameters
    ----------
    device : str, optional
        Such as ``"cuda:0"``; by default that of the first GPU.
    priority : int, optional
        Lower numbers go first, where the device tells streams apart.

    Attributes
    ----------
    device : str
    handle
        The object by which the driver knows the stream: on a GPU a stream of cuda.core.

    Notes
    -----
    A stream speaks the ``__cuda_stream__`` protocol, so CuPy, Numba and cuda.core take it.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available():
    ...     side = ng.cuda.Stream()
    ...     with ng.cuda.stream(side):
    ...         x = ng.ones(3, device="cuda")
    ...     ng.cuda.current_stream().wait_stream(side)
    """

    __slots__ = ("__weakref__", "_runtime", "handle", "number")

    def __init__(self, device: Any = None, priority: int = 0) -> None:
        self._runtime = devices.runtime_of("cuda" if device is None else device)
        self.handle = self._runtime.driver.new_stream(priority)
        self.number = self._runtime.next_number()

    @classmethod
    def of(cls, runtime: Any, handle: Any) -> "Stream":
        """Return a stream for a handle of the driver that exists already."""
        made = cls.__new__(cls)
        made._runtime, made.handle, made.number = runtime, handle, runtime.next_number()
        return made

    @property
    def device(self) -> str:
        """The name of the stream's device."""
        return self._runtime.name

    @property
    def cuda_stream(self) -> int:
        """The address of the stream, as C libraries take it."""
        return self._runtime.driver.address_of(self.handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.cuda_stream

    def record_event(self, event: "Event | None" = None) -> "Event":
        """Return an event that happens when all work asked for so far is done."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: "Event") -> None:
        """Let all work asked for from now on wait for an event; the host does not wait."""
        event.wait(self)

    def wait_stream(self, stream: "Stream") -> None:
        """Let all work asked for from now on wait for what another stream was asked for so far."""
        if stream is not self:
            self._runtime.driver.wait(self.handle, stream._recorded())

    def _recorded(self) -> Any:
        return self._runtime.driver.record(self.handle)

    def synchronize(self) -> None:
        """Wait on the host until all work asked for so far is done."""
        self._runtime.driver.synchronize(self.handle)

    def query(self) -> bool:
        """Return whether all work asked for so far is done."""
        return self._runtime.driver.is_done(self._recorded())

    def __repr__(self) -> str:
        return f"<stream {self.number} of {self.device}>"


class Event:
    """A moment in the work of a stream.

    Parameters
    ----------
    enable_timing : bool, optional
        Whether the time of the event is kept, for `elapsed_time`; such events cost more.

    Examples
    --------
    >>> import numgrad as ng
    >>> if ng.cuda.is_available():
    ...     event = ng.cuda.current_stream().record_event()
    ...     event.synchronize()
    """

    __slots__ = ("_driver", "_handle", "enable_timing")

    def __init__(self, enable_timing: bool = False) -> None:
        self.enable_timing = enable_timing
        self._driver: Any = None
        self._handle: Any = None

    def record(self, stream: Stream | None = None) -> None:
        """Let the event happen when all work is done that a stream has queued so far.

        The stream is by default the current one.
        """
        stream = _or_current(stream)
        self._driver = stream._runtime.driver
        self._handle = self._driver.record(stream.handle, self.enable_timing)

    def wait(self, stream: Stream | None = None) -> None:
        """Let all later work of a stream, by default the current one, wait for this event."""
        if self._handle is not None:
            stream = _or_current(stream)
            stream._runtime.driver.wait(stream.handle, self._handle)

    def synchronize(self) -> None:
        """Wait for the event on the host."""
        if self._handle is not None:
            self._driver.synchronize_event(self._handle)

    def query(self) -> bool:
        """Return whether the event has happened; True for an event that was never recorded."""
        return self._handle is None or self._driver.is_done(self._handle)

    def elapsed_time(self, end: "Event") -> float:
        """Return the milliseconds between this event and a later one, which both happened.

        Raises
        ------
        ValueError
            If one of them was not recorded, or was made without ``enable_timing=True``.
        """
        for event in (self, end):
            if event._handle is None or not event.enable_timing:
                raise ValueError(
                    "elapsed_time: both events have to be made by ng.cuda.Event(enable_timing="
                    "True) and to be recorded"
                )
        return self._driver.milliseconds(self._handle, end._handle)


def _or_current(stream: Stream | None) -> Stream:
    return devices.current_stream() if stream is None else stream


class Devices:
    """Holds the functions that find a device by its name, and the current stream.

    The functions are set when numgrad is imported.
    """

    runtime_of: Any
    current_stream: Any


devices = Devices()
