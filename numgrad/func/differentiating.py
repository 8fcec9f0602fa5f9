"""Whether a function is running whose derivative is asked for, in this thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Differentiating(threading.local):
    """How many of `grad`, `jvp`, `jacobian`, ... are running their function."""

    depth = 0


differentiating = _Differentiating()


@contextmanager
def differentiated() -> Iterator[None]:
    """Run the function of a transformation inside the block."""
    differentiating.depth += 1
    try:
        yield
    finally:
        differentiating.depth -= 1


__all__ = ["differentiated", "differentiating"]
