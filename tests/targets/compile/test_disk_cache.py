"""The cache on disk: whole files or none, ours or not used, and never more than one warning."""

import os
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from numgrad._errors import CacheWarning
from numgrad.targets.cpu.compile import disk_cache

KEY = "0123456789abcdef"
ENTRY = disk_cache.Entry("symbol", ("exp", "numba_parallel_for"), bytes(range(256)) * 5)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache in a new directory, with nothing remembered of an older one."""
    chosen = tmp_path / "a" / "kernels"
    monkeypatch.setenv("NUMGRAD_CACHE_DIR", str(chosen))
    monkeypatch.setattr(disk_cache, "_state", disk_cache._State())
    return chosen


def the_file(folder: Path) -> Path:
    return folder / disk_cache._file_name(KEY)


def test_entry_comes_back_as_it_was(folder):
    assert disk_cache.read(KEY) is None
    disk_cache.write(KEY, ENTRY)
    assert disk_cache.read(KEY) == ENTRY
    assert disk_cache.cache_info() == disk_cache.CacheInfo(str(folder), 1, 1, 0, 1)


def test_directory_and_files_are_private(folder):
    disk_cache.write(KEY, ENTRY)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(the_file(folder).stat().st_mode) == 0o600


def test_nothing_is_created_before_it_is_needed(folder):
    assert not folder.parent.exists()


def flip_last_byte(path):
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def truncate(path):
    path.write_bytes(path.read_bytes()[:60])


def break_header(path):
    path.write_bytes(path.read_bytes().replace(b'"symbol"', b"'symbol'"))


def other_key(path):
    path.write_bytes(path.read_bytes().replace(KEY.encode(), KEY[::-1].encode()))


def other_program(path):
    path.write_bytes(b"\x7fELF" + path.read_bytes())


def let_others_write(path):
    path.chmod(0o666)


def make_pipe(path):
    path.unlink()
    os.mkfifo(path)


def make_link(path):
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


@pytest.mark.parametrize(
    "damage",
    [flip_last_byte, truncate, break_header, other_key, other_program, let_others_write]
    + [make_pipe, make_link] * (os.name == "posix"),
)
def test_damaged_or_planted_file_is_ignored_and_replaced(folder, damage):
    disk_cache.write(KEY, ENTRY)
    damage(the_file(folder))
    with pytest.warns(CacheWarning, match="damaged or foreign"):
        assert disk_cache.read(KEY) is None
    disk_cache.write(KEY, ENTRY)
    assert disk_cache.read(KEY) == ENTRY


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_directory_that_others_can_write_is_not_used(folder, mode):
    folder.mkdir(parents=True)
    folder.chmod(mode)
    with pytest.warns(CacheWarning, match="other users can write"):
        assert disk_cache.read(KEY) is None
    disk_cache.write(KEY, ENTRY)
    assert list(folder.iterdir()) == []
    assert disk_cache.cache_info().directory is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners of POSIX")
def test_directory_of_another_user_is_not_used(folder, monkeypatch):
    folder.mkdir(parents=True, mode=0o700)
    owner = os.geteuid()
    if owner == 0:  # whose directories everybody trusts
        os.chown(folder, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.warns(CacheWarning, match="another user"):
        assert disk_cache.read(KEY) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="takes root's files")
@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_directory_of_root_that_others_can_write_is_not_used(folder, monkeypatch, mode):
    disk_cache.write(KEY, ENTRY)
    folder.chmod(mode)
    monkeypatch.setattr(disk_cache, "_state", disk_cache._State())
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.warns(CacheWarning, match="other users can write"):
        assert disk_cache.read(KEY) is None


def test_directory_that_is_only_read_serves_what_it_has(folder, monkeypatch):
    disk_cache.write(KEY, ENTRY)
    monkeypatch.setattr(disk_cache, "_state", disk_cache._State())
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    assert disk_cache.read(KEY) == ENTRY
    assert disk_cache.cache_info() == disk_cache.CacheInfo(str(folder), 1, 0, 0, 0, writable=False)
    with pytest.warns(CacheWarning, match="read-only"):
        disk_cache.write("1" + KEY, ENTRY)
    disk_cache.write("2" + KEY, ENTRY)  # a second warning would be an error here
    assert disk_cache.read(KEY) == ENTRY
    assert list(folder.iterdir()) == [the_file(folder)]


def test_directory_that_cannot_be_made_degrades_to_memory(folder):
    folder.parent.write_text("a file where a directory should be")
    with pytest.warns(CacheWarning, match="memory only"):
        disk_cache.write(KEY, ENTRY)
    assert disk_cache.read(KEY) is None


def test_directory_that_cannot_be_written_degrades_with_one_warning(folder, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    disk_cache.write(KEY, ENTRY)
    monkeypatch.setattr(disk_cache.tempfile, "mkstemp", refuse)
    with pytest.warns(CacheWarning, match="cannot write"):
        disk_cache.write("1" + KEY, ENTRY)
    disk_cache.write("2" + KEY, ENTRY)  # a second warning would be an error here
    assert disk_cache.read(KEY) is None


def test_directory_that_vanishes_degrades(folder):
    disk_cache.write(KEY, ENTRY)
    the_file(folder).unlink()
    folder.rmdir()
    assert disk_cache.read(KEY) is None
    with pytest.warns(CacheWarning, match="cannot write"):
        disk_cache.write(KEY, ENTRY)


def test_relative_directory_is_refused(folder, monkeypatch):
    monkeypatch.setenv("NUMGRAD_CACHE_DIR", "kernels")
    with pytest.warns(CacheWarning, match="not absolute"):
        assert disk_cache.read(KEY) is None


def test_one_warning_for_the_process(folder):
    disk_cache.write(KEY, ENTRY)
    truncate(the_file(folder))
    with pytest.warns(CacheWarning):
        disk_cache.read(KEY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert disk_cache.read(KEY) is None


def test_failed_write_leaves_nothing_behind(folder, monkeypatch):
    def refuse(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk_cache.os, "replace", refuse)
    with pytest.warns(CacheWarning, match="No space left"):
        disk_cache.write(KEY, ENTRY)
    assert list(folder.iterdir()) == []


def refuse_access(*paths):
    raise PermissionError(13, "The process cannot access the file: another process uses it")


def test_a_file_that_cannot_be_replaced_while_it_is_read_stays(folder, monkeypatch):
    disk_cache.write(KEY, ENTRY)
    with monkeypatch.context() as windows:
        windows.setattr(disk_cache.os, "replace", refuse_access)
        disk_cache.write(KEY, ENTRY)  # a warning would be an error here
    assert disk_cache.read(KEY) == ENTRY
    disk_cache.write("1" + KEY, ENTRY)
    assert disk_cache.read("1" + KEY) == ENTRY
    assert len(list(folder.iterdir())) == 2


def test_a_new_file_that_cannot_be_named_switches_the_cache_off(folder, monkeypatch):
    monkeypatch.setattr(disk_cache.os, "replace", refuse_access)
    with pytest.warns(CacheWarning, match="cannot write"):
        disk_cache.write(KEY, ENTRY)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("platform", ["win32", "linux"])
def test_a_file_that_cannot_be_opened_is_compiled_again(folder, monkeypatch, platform):
    """On Windows another process may be replacing it, of which nobody has to hear."""
    disk_cache.write(KEY, ENTRY)
    monkeypatch.setattr(disk_cache, "_read_own_file", refuse_access)
    monkeypatch.setattr(sys, "platform", platform)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert disk_cache.read(KEY) is None
    assert len(caught) == (platform != "win32")
    assert disk_cache.cache_info().directory == str(folder)


WRITER = """
import sys
from numgrad.targets.cpu.compile import disk_cache as cache
entry = cache.Entry("symbol", (), bytes([{byte}]) * 100_000)
for _ in range({times}):
    cache.write({key!r}, entry)
{end}
"""


def start_writer(folder, **values):
    values = {"byte": 1, "times": 1, "end": "", "key": KEY} | values
    return subprocess.Popen(
        [sys.executable, "-c", WRITER.format(**values)],
        env=os.environ | {"NUMGRAD_CACHE_DIR": str(folder), "PYTHONPATH": os.getcwd()},
        stdout=subprocess.PIPE,
    )


@pytest.mark.skipif(not hasattr(os, "kill") or os.name != "posix", reason="kill -9")
def test_writer_killed_half_way_harms_nobody(folder):
    disk_cache.write(KEY, ENTRY)
    stop = "import os; os.replace = lambda *paths: os.kill(os.getpid(), 9)"
    end = f"{stop}\ncache.write({KEY!r}, entry)"
    with start_writer(folder, times=0, end=end) as writer:
        assert writer.wait(100) == -9
    assert disk_cache.read(KEY) == ENTRY
    disk_cache.write(KEY, ENTRY)
    assert disk_cache.read(KEY) == ENTRY


def test_reader_sees_whole_files_while_two_processes_write(folder):
    disk_cache.write(KEY, ENTRY)
    writers = [start_writer(folder, byte=byte, times=300) for byte in (1, 2)]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        payload = disk_cache.read(KEY).payload
        seen.add((len(payload), payload[0]))
    for writer in writers:
        writer.communicate()
    assert seen <= {(1280, 0), (100_000, 1), (100_000, 2)}
    assert len(list(folder.iterdir())) == 1


class TestDefaultDirectory:
    @pytest.fixture(autouse=True)
    def home(self, tmp_path, monkeypatch):
        for name in ("NUMGRAD_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        return tmp_path

    @pytest.mark.parametrize(
        ("platform", "parts"),
        [
            ("linux", (".cache", "numgrad")),
            ("darwin", ("Library", "Caches", "numgrad")),
            ("win32", ("AppData", "Local", "numgrad")),
        ],
    )
    def test_place_of_the_platform(self, home, monkeypatch, platform, parts):
        monkeypatch.setattr(sys, "platform", platform)
        assert disk_cache.default_directory() == home.joinpath(*parts)

    def test_xdg_is_honoured_if_absolute(self, home, monkeypatch):
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
        assert disk_cache.default_directory() == home / "xdg" / "numgrad"
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        assert disk_cache.default_directory() == home / ".cache" / "numgrad"
