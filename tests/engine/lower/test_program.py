"""Programs are values: they can be lowered without a compiler, printed, compared and verified."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import GraphError
from numgrad.engine.lower import verify
from numgrad.engine.record.apply import runtime
from numgrad.targets.cpu.schedule.schedule import schedule
from numgrad.targets.cpu.schedule.verify import check_schedule
from numgrad.targets.null import NullTarget

from ..program_tools import backward_program


def test_listing_of_a_small_program():
    x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    text = str(backward_program(x * x, [x], ng.tensor(np.ones(3))))
    assert text == "\n".join(
        [
            "program: 2 instructions, batch None",
            "prologue:",
            "  v2:f8[3] = multiply(c0:f8[3], c1:f8[3]) loop[3]",
            "  v4:f8[3] = add(v2:f8[3], v2:f8[3]) loop[3]",
            "results: v4:f8[3]",
        ]
    )


def test_what_does_not_depend_on_the_batch_is_in_the_prologue():
    x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    program = backward_program(ng.sin(x), [x], ng.tensor(np.eye(3)), batch=3)
    names = {i.name: i.rows for i in program.instructions}
    assert names == {"sin_dx": False, "multiply": True}


def test_equal_graphs_give_equal_texts():
    def text():
        x = ng.tensor(np.arange(4.0), requires_grad=True)
        return str(backward_program(ng.sin(x * x) + x, [x], ng.tensor(np.ones(4))))

    assert text() == text()


def test_programs_and_schedules_verify():
    x = ng.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    y = ng.exp(ng.sin(x) * x).sum() * x
    program = backward_program(y, [x], ng.tensor(np.ones((5, 2, 3))), batch=5)
    verify.check_program(program)
    check_schedule(schedule(program, runtime.target), program)


@pytest.mark.parametrize("rows", [0, 3])
def test_plans_verify_however_their_arguments_lie(rows):
    x = ng.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    seeds = np.ones((2 * rows, 3, 2))[::-2]
    before = ng.get_flags("debug")
    ng.set_flags(debug=True)
    try:
        for _ in range(3):  # the second pass of a structure leaves a plan
            y = (2 * x)[::-1].T
            (found,) = ng.grad(ng.sin(y) * ng.exp(-y), x, seeds, is_grads_batched=True)
            assert found.shape == (rows, 2, 3)
    finally:
        ng.set_flags(**before)


def test_verify_finds_a_read_before_a_write():
    x = ng.tensor(np.ones(3), requires_grad=True)
    program = backward_program(ng.sin(ng.sin(x)), [x], ng.tensor(np.ones(3)))
    program.instructions.reverse()
    with pytest.raises(GraphError, match="before it is written"):
        verify.check_program(program)


def test_null_target_runs_nothing():
    from numgrad.engine.lower.executable import execute

    x = ng.tensor(np.ones(3), requires_grad=True)
    program = backward_program(ng.sin(x), [x], ng.tensor(np.ones((2, 3))), batch=2)
    target = NullTarget()
    (result,) = execute(program, target)
    assert result.shape == (2, 3)
    assert target.launches == [program]
