"""Schedules: where buffers are placed, and how many rows a tile has."""


import numpy as np
import pytest

import numgrad as ng
from numgrad.targets.cpu.schedule.schedule import BATCH, choose_tile, schedule, tall_tile

from ...engine.program_tools import backward_program
from ..schedule_tools import Machine


def test_liveness_keeps_a_chain_in_constant_memory():
    sizes = []
    for length in (10, 100):
        x = ng.tensor(np.ones(1000), requires_grad=True)
        y = x
        for _ in range(length):
            y = ng.sin(y)
        program = backward_program(y, [x], ng.tensor(np.ones((4, 1000))), batch=4)
        (segment,) = [s for s in schedule(program, Machine()).segments if s.kind == BATCH]
        sizes.append(segment.arena_bytes // segment.tile)
    assert sizes[0] == sizes[1] <= 2 * 8064


def test_writes_at_positions_stay_in_the_memory_of_what_they_overwrite():
    sizes = []
    for length in (4, 40):
        x = ng.tensor(np.ones(1000), requires_grad=True)
        y, rate = x * 1.0, ng.tensor(2.0, requires_grad=True)
        for i in range(length):
            y[np.array([i, 500 + i])] = rate
        program = backward_program(y, [x], ng.tensor(np.ones((4, 1000))), batch=4)
        (segment,) = [s for s in schedule(program, Machine()).segments if s.kind == BATCH]
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
        tiles.append(schedule(program, Machine()).segments[-1].tile)
    assert tiles == [32, 8, 8]
