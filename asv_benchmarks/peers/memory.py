"""Resident memory of this process, as Linux tells it; not a number on other systems.

``python -m asv_benchmarks.peers.memory ROWS`` prints by how many MiB a batched pass of numgrad over
that many cotangents of the Burgers residual (W3) exceeds its inputs and its result.
"""

import sys
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


def beyond_results(rows: int) -> float:
    """MiB at the peak of a pass above inputs and output; kernels are loaded before."""
    from .systems import prepare
    from .workloads.burgers import sized

    prepare("numgrad", sized(64, 256))()
    task = sized(64, rows)
    call = prepare("numgrad", task)
    before = resident()
    reset_peak()
    (out,) = call()
    return (peak() - before - out.numpy().nbytes) / 2**20


if __name__ == "__main__":
    print(beyond_results(int(sys.argv[1])))
