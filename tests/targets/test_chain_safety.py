"""LLVM's objects are whole, whenever Ctrl-C comes and wherever a chain ends."""

import signal

import numpy as np
import pytest
from llvmlite import binding as llvm

from numgrad._specs import FusedSpec
from numgrad.targets.cpu import assembler, chains
from numgrad.targets.cpu.links import vector_bytes

from .kernel_tools import F64, call, spec_of

pytestmark = pytest.mark.skipif(not vector_bytes(), reason="chains need vector registers")


def negative(x):
    return -x


def chain_of(*functions):
    steps = tuple((spec_of(f, F64, F64), (k,)) for k, f in enumerate(functions))
    made = chains.chain(FusedSpec("c", steps, (F64,), (F64,), (len(steps),), (False,)))
    assert made is not None
    return made


def test_ctrl_c_waits_until_a_chain_is_made(monkeypatch):
    chain_of(*[negative] * 4)  # the kernel around it may have to be compiled
    made = []

    def create(*args):
        engine = create_mcjit_compiler(*args)
        signal.raise_signal(signal.SIGINT)
        made.append(engine)
        return engine

    create_mcjit_compiler = llvm.create_mcjit_compiler
    monkeypatch.setattr(assembler.llvm, "create_mcjit_compiler", create)
    chains._chains.clear()
    with pytest.raises(KeyboardInterrupt):
        chain_of(*[negative] * 5)
    assert len(made) == 1
    monkeypatch.undo()
    x = np.arange(5.0)
    found = np.zeros(5)
    chain = chain_of(*[negative] * 5)
    call(chain, [x, found], 5, [8, 8], chain.core)
    assert found.tolist() == (-x).tolist()


def test_engines_are_closed_where_the_next_one_is_made():
    code = chain_of(*[negative] * 7).code
    chains._recent.clear()
    del code
    (engine, *_) = reversed(assembler._unused)
    assert not engine.closed
    chain_of(*[negative] * 9)
    assert engine.closed
    assert engine not in assembler._unused
