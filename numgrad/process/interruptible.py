"""Context managers that Ctrl-C cannot leave half way: the change of a block is always undone.

An interrupt is raised between two instructions: after a call, in a loop, and before the first
instruction of a Python function. So a method ``__exit__`` may end before it has begun, and a
``with`` statement may be interrupted after ``__enter__`` and before its block. Here a change and
its reversal are one call each of a function written in C. The reversal waits in a generator, inside
of ``try``: an interrupt at the moment at which the generator is resumed does no harm there.
"""

import threading
from collections.abc import Callable, Generator
from functools import partial
from threading import get_ident
from typing import Any

Action = Callable[[], object]


class _Exit:
    """The attribute ``__exit__`` of a block: a function in C that makes the block undo its change.

    The function resumes a generator, `_ending`.
    """

    def __get__(self, block: "Block | None", owner: type | None = None) -> Any:
        if block is None:
            return _leave
        ending = _ending(block)
        next(ending)
        return partial(max, None, key=ending.send)  # returns None for any arguments


def _leave(block: "Block", *error: Any) -> None:
    """Leave a block by way of its class, as `contextlib.ExitStack` does."""
    block.__exit__(*error)


def _ending(block: "Block") -> Generator[int, Any, None]:
    """Undo, when resumed, the last change of a block in this thread.

    Yield numbers, as the generator is resumed by `max`, which compares what is yielded.
    """
    opened, ident, settle = block.opened, get_ident(), block.settle
    try:
        yield 0
    except GeneratorExit:  # the attribute ``__exit__`` was read, but not called
        return
    except BaseException:
        undo, opened[ident] = opened[ident]
        undo()
        settle()
        raise
    undo, opened[ident] = opened[ident]
    undo()
    settle()
    yield 1
    while True:
        yield 0


class Block:
    """A context manager that makes a change and undoes it; a block may contain the same block.

    ``opened`` has for each thread the function that undoes its last change, and the entry before.
    """

    def __init__(self) -> None:
        self.opened: dict[int, Any] = {}

    def prepare(self) -> tuple[Action, Action]:
        """Return two functions, each written in C: one makes the change, the other undoes it."""
        raise NotImplementedError

    def settle(self) -> None:
        """Do what remains after the change was undone, which Ctrl-C may prevent."""

    def __enter__(self) -> None:
        change, undo = self.prepare()
        opened, ident = self.opened, get_ident()
        outer = opened.get(ident)
        try:
            opened[ident] = undo, outer
            change()
        except BaseException:
            undo()
            opened[ident] = outer
            raise

    __exit__ = _Exit()


class Setting(Block):
    """A block in which attributes of a thread-local object have other values."""

    def __init__(self, local: threading.local, **values: Any) -> None:
        super().__init__()
        self.local, self.values = local, values

    def prepare(self) -> tuple[Action, Action]:
        local, values = self.local, self.values
        before = {name: getattr(local, name) for name in values}
        update = vars(local).update
        return partial(update, values), partial(update, before)
