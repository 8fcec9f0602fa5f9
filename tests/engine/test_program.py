"""Programs are values: they can be lowered without a compiler, printed, compared and verified."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import GraphError
from numgrad.engine import lower as programs
from numgrad.engine import verify
from numgrad.engine.backward import Pass, Request
from numgrad.engine.record import deferring
from numgrad.engine.rows import with_rows
from numgrad.engine.schedule import BATCH, choose_tile, schedule, tall_tile
from numgrad.targets.null import NullTarget


def backward_program(output, inputs, seed, batch=None):
    """Lower the backward pass of ``output`` on the null target."""
    value = with_rows(seed) if batch is not None else seed
    request = Request(
        [(output.edge, value)], [x.edge for x in inputs], batch=batch, retain_graph=True
    )
    run = Pass(request)
    run.is_immediate = False  # it would compute at once
    run._take_saved(run.wanted)
    with deferring(True, []), ng.no_grad():
        run._seed()
        for node in run.order:
            run._visit(node)
    return programs.lower([run.grads[x.edge] for x in inputs], NullTarget(), batch)


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
    verify.check_schedule(schedule(program, NullTarget()), program)


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


def test_liveness_keeps_a_chain_in_constant_memory():
    sizes = []
    for length in (10, 100):
        x = ng.tensor(np.ones(1000), requires_grad=True)
        y = x
        for _ in range(length):
            y = ng.sin(y)
        program = backward_program(y, [x], ng.tensor(np.ones((4, 1000))), batch=4)
        (segment,) = [s for s in schedule(program, NullTarget()).segments if s.kind == BATCH]
        sizes.append(segment.arena_bytes // segment.tile)
    assert sizes[0] == sizes[1] <= 2 * 8064


@pytest.mark.parametrize(
    ("batch", "row_bytes", "expected"), [(1, 8, 1), (512, 8, 64), (4096, 65536, 8), (7, 8, 1)]
)
def test_tile_fits_half_the_cache_and_leaves_work_for_threads(batch, row_bytes, expected):
    assert choose_tile(batch, row_bytes, 1 << 20) == expected


@pytest.mark.parametrize(
    ("batch", "row_bytes", "threads", "expected"),
    [
        (256, 4096, 2, 128), (256, 4096, 1, 256), (256, 2048, 16, 16), (10, 8192, 2, 5),
        (3, 64, 16, 4), (1000, 4096, 2, 250), (300, 1 << 16, 2, 50), (512, 1 << 22, 1, 4),
        (5, 1 << 30, 2, 1),
    ],
)  # fmt: skip
def test_tile_with_a_shared_matrix_is_tall(batch, row_bytes, threads, expected):
    assert tall_tile(batch, row_bytes, 1 << 20, threads) == expected


def test_tile_of_a_program_is_tall_where_rows_share_a_matrix():
    x = ng.tensor(np.ones((1, 64)), requires_grad=True)
    tiles = []
    for y in (x @ np.ones((64, 64)), x[:, np.arange(64)[::-1].copy()], ng.sin(x)):
        program = backward_program(y, [x], ng.tensor(np.ones((64, 1, 64))), batch=64)
        tiles.append(schedule(program, NullTarget()).segments[-1].tile)
    assert tiles == [32, 8, 8]


def test_null_target_runs_nothing():
    from numgrad.engine.executable import execute

    x = ng.tensor(np.ones(3), requires_grad=True)
    program = backward_program(ng.sin(x), [x], ng.tensor(np.ones((2, 3))), batch=2)
    target = NullTarget()
    (result,) = execute(program, target)
    assert result.shape == (2, 3)
    assert [launch["rows"] for launch in target.launches] == [1, 2]
