"""Resident memory of this process, as Linux tells it; not a number on other systems."""

from pathlib import Path

_STATUS = Path("/proc/self/status")


def _field(name: str) -> float:
    if not _STATUS.exists():
        return float("nan")
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return float(line.split()[1]) * 1024.0


def resident() -> float:
    """Bytes resident now."""
    return _field("VmRSS:")


def peak() -> float:
    """Most bytes resident since `reset_peak`."""
    return _field("VmHWM:")


def reset_peak() -> None:
    """Let `peak` begin again from what is resident now."""
    if _STATUS.exists():
        Path("/proc/self/clear_refs").write_text("5")
