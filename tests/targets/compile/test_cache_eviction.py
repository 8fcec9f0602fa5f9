"""The size of the kernel cache: bounded, the least recently used files go first."""

import os
import time

import pytest

from numgrad.targets.cpu.compile import cache_eviction, disk_cache

ENTRY = disk_cache.Entry("symbol", (), bytes(10_000))
DAY = 86_400


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A new cache of at most 100 kB, for ten entries or fewer."""
    monkeypatch.setenv("NUMGRAD_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setenv("NUMGRAD_CACHE_MIB", str(100_000 / 2**20))
    monkeypatch.setattr(disk_cache, "_state", disk_cache._State())
    return tmp_path / "kernels"


def write(*keys, age=0.0, kind=disk_cache.KERNEL):
    for key in keys:
        disk_cache.write(key, ENTRY, kind)
        path = disk_cache._directory() / disk_cache._file_name(key, kind)
        used = time.time() - age
        os.utime(path, (used, used))


def names(folder):
    return {path.stem for path in folder.iterdir()}


def test_cache_stays_below_its_limit_and_keeps_the_youngest(folder):
    for number in range(40):
        write(f"k{number:02}", age=(40 - number) * DAY)
        assert sum(path.stat().st_size for path in folder.iterdir()) <= 100_000 + 11_000
    assert "k39" in names(folder)
    assert "k00" not in names(folder)
    assert 5 <= len(names(folder)) <= 10


def test_both_kinds_of_files_and_remains_of_dead_writers_count(folder):
    write("old", age=9 * DAY, kind=disk_cache.SCALAR)
    write("young")
    remains = folder / ".new-x"
    remains.write_bytes(bytes(90_000))
    os.utime(remains, (1, 1))
    assert cache_eviction.trim(folder) == 1
    assert names(folder) == {"old", "young"}


def test_files_of_others_are_left_alone(folder):
    write("kernel")
    (folder / "README").write_bytes(bytes(200_000))
    assert cache_eviction.trim(folder) == 0


def test_reading_a_file_makes_it_young(folder):
    write("used", "unused", age=5 * DAY)
    assert disk_cache.read("used") == ENTRY
    write(*(f"k{number}" for number in range(7)), age=DAY)
    (folder / ".new-y").write_bytes(bytes(10_000))
    assert cache_eviction.trim(folder) > 0
    assert "used" in names(folder)
    assert "unused" not in names(folder)


def test_a_process_looks_at_its_first_write_and_then_rarely(folder):
    assert cache_eviction.is_due(0, 10)
    assert not cache_eviction.is_due(10, 10)
    assert cache_eviction.is_due(10, 100_000 // 16 + 1)


@pytest.mark.parametrize("text", ["", "many", "inf"])
def test_limit_that_is_no_number_is_the_default(monkeypatch, text):
    monkeypatch.setenv("NUMGRAD_CACHE_MIB", text)
    assert cache_eviction.limit() == 512 << 20
