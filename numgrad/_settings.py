"""Process-wide settings: read from the environment once, changed with ``set_flags``."""

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ._errors import ArgTypeError

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class Settings:
    """The values that ``set_flags`` changes.

    Attributes
    ----------
    sort_sum_gradient : bool
        Default of the ``sort_sum_gradient`` argument of ``grad`` and ``backward``.
    chunk_memory : int
        MiB that a Jacobian may take beside its result, where its rows or columns are computed in
        chunks of a size that nobody has chosen.
    tape_memory : int
        MiB that the tape of a derived adjoint of loops may take; where it needs more, the outer
        loop runs its steps again from snapshots.
    loop_memory : int
        MiB that the states may take which the reverse of a loop over tensors keeps; where they need
        more, steps run again from snapshots.
    call_stack_level : int
        3 records the Python stack of every operation, for ``dump_backward_graph_path``.
    cublas : str
        Which products of matrices on a GPU are left to cuBLAS, where it is installed: ``"auto"``
        those of complex numbers, and large single ones; ``"always"`` also the real ones of batches,
        whose rows may then have other bits than alone; ``"never"`` none, so that results have the
        same bits with and without cuBLAS.
    debug : bool
        Fill arrays with NaN before a user's kernel writes them, verify graphs and programs, and
        compare derivatives that are derived from loops with a difference.
    fuse : str
        ``"auto"`` fuses the elementwise stretches of a program that has run for longer than their
        compilation is expected to take, ``"now"`` before it runs at all, ``"never"`` never. Results
        have the same bits.
    math : str
        ``"simd"`` takes ``exp``, ``sin``, ... of real numbers from the platform's vector library
        where there is one, at most 4 ULP from the exact value; ``"libm"`` takes them from the C
        library, element by element.
    numpy : str
        ``"auto"`` lets NumPy's ``array``, ``asarray``, ``full``, ``diag``, ``diagflat``, ``r_`` and
        ``c_`` return a tensor where the user's program calls them with a list that holds a tensor
        that requires grad, or fills with such a tensor, and puts a tensor in the place of an array
        into which such a tensor is written; ``"never"`` leaves NumPy as it is.
    path : str
        ``"reference"`` takes the long way: operations outside of captured functions and passes are
        worked out anew each time, nothing runs without Python, and no two kernels become one.
        Results have the same bits. It tells whether a shorter way is at fault. Threads that run
        already may keep the way that they are on.
    scipy : str
        ``"auto"`` lets functions of SciPy that would refuse a tensor answer by their counterparts
        in numgrad, ``"never"`` leaves SciPy as it is; see `interop.scipy.patch`.
    threads : int
        Threads of parallel runs, at most those that Numba may use; 0 is all of them.
    tile : int
        Rows of a tile; 0 lets the scheduler choose from the size of the L2 cache.
    """

    sort_sum_gradient: bool = False
    chunk_memory: int = 256
    tape_memory: int = 64
    loop_memory: int = 256
    call_stack_level: int = 1
    cublas: str = "auto"
    debug: bool = False
    fuse: str = "auto"
    math: str = "simd"
    numpy: str = "auto"
    path: str = "default"
    scipy: str = "auto"
    threads: int = 0
    tile: int = 0
    version = 0  # counts changes: whatever was made under other settings is not used again
    entries = 0  # counts what makes entries past the engine invalid: changes, and profiles

    def fusion(self, wanted: str | None = None) -> str:
        """Return when a program is fused: as ``wanted`` says, else as ``fuse`` does, and never on
        the reference path."""
        if self.path == "reference":
            return "never"
        return self.fuse if wanted in (None, "auto") else wanted

    @property
    def recorded(self) -> tuple[Any, ...]:
        """What goes into a program when it is recorded and made, or into the gradients in it."""
        return (
            self.sort_sum_gradient, self.call_stack_level, self.cublas, self.debug, self.fuse,
            self.math, self.path, self.tile,
        )  # fmt: skip


CHOICES = {
    "cublas": ("auto", "always", "never"),
    "fuse": ("auto", "now", "never"),
    "math": ("simd", "libm"),
    "numpy": ("auto", "never"),
    "path": ("default", "reference"),
    "scipy": ("auto", "never"),
}
"""The values of flags that are one of a few words."""


def _require_choice(name: str, value: Any, where: str) -> Any:
    if value not in CHOICES[name]:
        raise ValueError(f"{where} must be one of {', '.join(CHOICES[name])}, got {value!r}")
    return value


settings = Settings(
    cublas=_require_choice(
        "cublas", os.environ.get("NUMGRAD_CUBLAS") or "auto", "NUMGRAD_CUBLAS"
    ),
    fuse=_require_choice("fuse", os.environ.get("NUMGRAD_FUSE") or "auto", "NUMGRAD_FUSE"),
    math=_require_choice("math", os.environ.get("NUMGRAD_MATH") or "simd", "NUMGRAD_MATH"),
    numpy=_require_choice("numpy", os.environ.get("NUMGRAD_NUMPY") or "auto", "NUMGRAD_NUMPY"),
    path=_require_choice("path", os.environ.get("NUMGRAD_PATH") or "default", "NUMGRAD_PATH"),
    scipy=_require_choice("scipy", os.environ.get("NUMGRAD_SCIPY") or "auto", "NUMGRAD_SCIPY"),
    debug=os.environ.get("NUMGRAD_DEBUG", "") not in ("", "0")
    or os.environ.get("NUMGRAD_CHECK", "") not in ("", "0"),
)


def accelerator(function: Callable[P, R]) -> Callable[P, R | None]:
    """Declare that a function only offers a shorter road: on the reference path the result is None.

    Whatever else the reference path leaves out follows from `Settings.fusion`, and from the mode of
    threads (`engine.record.apply`), which is not direct there.
    """

    @wraps(function)
    def offered(*args: P.args, **kwargs: P.kwargs) -> R | None:
        return None if settings.path == "reference" else function(*args, **kwargs)

    return offered


_listeners: list[Callable[[], None]] = []


def set_flags(**flags: Any) -> None:
    """Change process-wide settings by name; an unknown name changes nothing.

    Parameters
    ----------
    **flags
        Names and values of `Settings`: ``sort_sum_gradient``, ``chunk_memory``,
        ``call_stack_level``, ``cublas``, ``debug``, ``fuse``, ``loop_memory``, ``math``,
        ``numpy``, ``path``, ``scipy``, ``tape_memory``, ``threads``, ``tile``.

    Raises
    ------
    ArgTypeError
        For an unknown name or a value of another type.
    ValueError
        For a negative number, or a word that the flag does not know.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.set_flags(sort_sum_gradient=True)
    >>> ng.get_flags("sort_sum_gradient")
    {'sort_sum_gradient': True}
    >>> ng.set_flags(sort_sum_gradient=False)
    """
    known = {field.name: field.type for field in fields(Settings)}
    for name, value in flags.items():
        if name not in known:
            raise ArgTypeError(f"set_flags: unknown flag {name!r}; known are {sorted(known)}")
        kind = type(getattr(settings, name))
        if not isinstance(value, kind) and not (kind is int and isinstance(value, int)):
            raise ArgTypeError(f"set_flags: {name} must be a {kind.__name__}, got {value!r}")
        if kind is int and value < 0:
            raise ValueError(f"set_flags: {name} must not be negative, got {value}")
        if name in CHOICES:
            _require_choice(name, value, f"set_flags: {name}")
    for name, value in flags.items():
        setattr(settings, name, value)
    settings.version += 1
    settings.entries += 1
    for listener in _listeners:
        listener()


def on_change(listener: Callable[[], None]) -> None:
    """Call ``listener`` after settings were changed by `set_flags`."""
    _listeners.append(listener)


def get_flags(*names: str) -> dict[str, Any]:
    """Return the settings named, or all of them, as a dict."""
    known = tuple(field.name for field in fields(Settings))
    chosen = names or known
    for name in chosen:
        if name not in known:
            raise ArgTypeError(f"get_flags: unknown flag {name!r}; known are {sorted(known)}")
    return {name: getattr(settings, name) for name in chosen}
