"""Spaces for the machine, and the size of the cache that tiles should fit."""

from numgrad.targets.cpu import memory


def test_spaces_are_aligned_and_reused():
    memory.release()
    space = memory.borrow(1000)
    assert space.address % memory.ALIGNMENT == 0
    memory.give_back(space)
    assert memory.borrow(500) is space
    assert memory.borrow(500) is not space


def test_level_two_cache_has_a_plausible_size():
    assert 1 << 16 <= memory.l2_bytes() <= 1 << 28
    assert memory._parse_size("2048K") == 2 << 20
    assert memory._quietly(lambda: int("unknown")) == 0
