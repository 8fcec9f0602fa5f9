"""Spaces for the machine, and the size of the cache that tiles should fit."""

from numgrad.targets.cpu.machine import scratch


def test_spaces_are_aligned_and_reused():
    scratch.release()
    space = scratch.borrow(1000)
    assert space.address % scratch.ALIGNMENT == 0
    scratch.give_back(space)
    assert scratch.borrow(500) is space
    assert scratch.borrow(500) is not space


def test_runs_one_at_a_time_share_a_space_by_size():
    scratch.release()
    space = scratch.shared(5000)
    assert space.nbytes == 8192
    assert space.address % scratch.ALIGNMENT == 0
    assert scratch.shared(8192) is space
    assert scratch.shared(8193) is not space
    assert scratch.borrow(8192) is not space
    scratch.release()
    assert scratch.shared(5000) is not space


def test_level_two_cache_has_a_plausible_size():
    assert 1 << 16 <= scratch.l2_bytes() <= 1 << 28
    assert scratch._parse_size("2048K") == 2 << 20
    assert scratch._quietly(lambda: int("unknown")) == 0
