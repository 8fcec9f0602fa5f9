"""Ctrl-C leaves no mode behind, whenever it comes."""

import contextlib
import gc
import os
import signal
import threading
from collections import defaultdict
from functools import partial
from pathlib import Path

import pytest

import numgrad as ng
from numgrad.engine.capture import escapes
from numgrad.engine.record import apply
from numgrad.process import gc_pause
from numgrad.process.interruptible import Block

from ..processes import run

LOAD = (Path(__file__).parent / "interrupted_load.py").read_text("utf-8")
pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals of POSIX")


@pytest.mark.short_ways
@pytest.mark.parametrize("seed", ["1", "2"])
def test_no_interrupt_of_a_mixed_load_leaves_a_mode(seed):
    assert run(LOAD, "200", seed) == "[]"


class Interrupt(defaultdict):
    """Sends Ctrl-C where an item is read, which Python hears before its next function begins."""

    def __init__(self):
        super().__init__(partial(os.kill, os.getpid(), signal.SIGINT))


BLOCKS = {
    "no_grad": ng.no_grad,
    "set_grad_enabled": lambda: ng.set_grad_enabled(False),
    "saved_tensors_hooks": lambda: ng.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    "disable_saved_tensors_hooks": lambda: ng.graph.disable_saved_tensors_hooks("no"),
    "detect_anomaly": ng.detect_anomaly,
    "deferring": apply.deferring,
    "paused": gc_pause.paused,
}


def state():
    from numgrad._autograd import anomaly

    return apply.mode.present(), apply.mode.transform_calls, anomaly.checker(), gc.isenabled()


@pytest.mark.parametrize("name", BLOCKS)
def test_an_interrupt_at_the_very_end_of_a_block_undoes_it(name):
    before, inside, interrupt = state(), [], Interrupt()

    def work():
        with BLOCKS[name]():
            inside.append(state())
            interrupt["now"]

    with pytest.raises(KeyboardInterrupt):
        work()
    assert inside != [before]
    assert state() == before


def test_an_interrupt_at_the_very_end_of_a_differentiated_function_undoes_its_mode():
    before, inside, interrupt = state(), [], Interrupt()

    def work():
        inside.append(state())
        interrupt["now"]

    for call in (partial(work), work):
        with pytest.raises(KeyboardInterrupt):
            escapes.differentiated(call, (), {}, 0)
        assert inside.pop() != before
        assert state() == before


def test_an_interrupt_as_the_mode_of_a_differentiated_function_begins_or_ends_undoes_it():
    before = state()
    for number in (1, 2):  # the update that begins the mode, and the one that undoes it
        fields, updates = vars(apply.mode), []

        class Fields:
            def update(self, new, number=number, fields=fields, updates=updates):
                fields.update(new)
                updates.append(new)
                if len(updates) == number:
                    signal.raise_signal(signal.SIGINT)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(escapes, "vars", lambda _: Fields(), raising=False)
            with pytest.raises(KeyboardInterrupt):
                escapes.differentiated(lambda: None, (), {}, 0)
        assert len(updates) == 2
        assert state() == before


@pytest.mark.parametrize("name", BLOCKS)
def test_an_error_inside_of_a_block_undoes_it_and_comes_out(name):
    before = state()
    with pytest.raises(KeyError, match="inside"), BLOCKS[name]():
        raise KeyError("inside")
    assert state() == before


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_are_left_through_a_stack(name):
    before = state()
    with contextlib.ExitStack() as stack:
        stack.enter_context(BLOCKS[name]())
        assert state() != before
    assert state() == before


def test_a_block_nests_in_itself_and_serves_several_threads():
    block, seen = ng.no_grad(), []
    entered, leave = threading.Barrier(2, timeout=60), threading.Barrier(2, timeout=60)

    def work():
        with block, ng.enable_grad(), block:
            entered.wait()
            leave.wait()
            seen.append(ng.is_grad_enabled())
        seen.append(ng.is_grad_enabled())

    thread = threading.Thread(target=work)
    thread.start()
    with block:
        entered.wait()
    assert ng.is_grad_enabled()
    leave.wait()
    thread.join()
    assert seen == [False, True]


def test_asking_for_the_methods_of_a_block_changes_nothing():
    block = ng.no_grad()
    assert hasattr(block, "__exit__")
    assert ng.is_grad_enabled()
    block.__enter__()
    assert hasattr(block, "__exit__")
    assert not ng.is_grad_enabled()
    block.__exit__(None, None, None)
    assert ng.is_grad_enabled()


def test_an_interrupt_while_a_block_begins_undoes_it():
    done = []

    class Interrupted(Block):
        def prepare(self):
            return partial(signal.raise_signal, signal.SIGINT), partial(done.append, "undone")

    with pytest.raises(KeyboardInterrupt), Interrupted():
        done.append("inside")
    assert done == ["undone"]


@pytest.mark.short_ways
def test_a_block_in_a_generator_that_is_left_late_changes_nothing_else():
    before, left = apply.mode.present(), []

    def silent():
        with ng.no_grad():
            yield

    @ng.jit
    def captured(x):
        left.append(silent())
        next(left[-1])
        return x * 2.0

    captured(ng.tensor([1.0]).numpy())
    left.pop().close()
    assert apply.mode.present() == before
    waiting = silent()
    next(waiting)
    assert ng.jit(lambda x: (waiting.close(), x * 2.0)[1])(ng.ones(1).numpy()).tolist() == [2.0]
    apply.mode.set(grad=True)  # the blocks of `ng.jit` end last
    assert apply.mode.present() == before
    assert not apply.other_modes
