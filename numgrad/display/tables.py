"""Tables of a profile as text."""

from collections.abc import Iterable, Sequence
from typing import Any

from .measured import Measured, Row

_MOST_LINES = 25


def report(profile: Any) -> str:
    """Return the whole profile: a summary, the programs, the operators, the instructions."""
    inside = sum(program.seconds for program in profile.programs)
    count = len(profile.programs)
    head = (
        f"{_seconds(profile.seconds)}, of which {_seconds(inside)} in {count} "
        f"program{'' if count == 1 else 's'}; {profile.compiled} kernels compiled"
    )
    parts = [head, programs(profile.programs)]
    parts += [operators(profile.rows), instructions(profile.rows)]
    return "\n\n".join(part for part in parts if part)


def programs(measured: Sequence[Measured]) -> str:
    """Return a table of programs."""
    if not measured:
        return ""
    lines = [
        [
            str(p.number), str(p.runs), _seconds(p.seconds), _seconds(p.seconds / max(p.runs, 1)),
            f"{100 * p.busy:.0f}%", str(len(p.names)), "fused" if p.fused else "",
            str(p.batch or ""), ",".join(dict.fromkeys(map(str, p.tiles))), str(p.threads),
            _bytes(p.peak_bytes),
        ]
        for p in sorted(measured, key=lambda p: -p.seconds)
    ]  # fmt: skip
    titles = ["program", "runs", "time", "per run", "busy", "instructions", "fused", "batch"]
    titles += ["tile", "threads", "memory"]
    return _aligned(titles, lines, left=(6,))


def operators(rows: Iterable[Row]) -> str:
    """Return a table of operators: the sums over their instructions."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.name, []).append(row)
    sums = sorted(map(_sum, found.values()), key=lambda row: -row.seconds)
    total = sum(row.seconds for row in sums)
    lines = [
        [row.name, str(len(found[row.name])), str(row.calls), *_measures(row, total)]
        for row in sums
    ]
    return _aligned(["operator", "instructions", "calls", *_TITLES], lines, left=(0,))


def _sum(rows: list[Row]) -> Row:
    """Return the sums over several instructions of one name."""
    return rows[0]._replace(
        calls=sum(row.calls for row in rows),
        seconds=sum(row.seconds for row in rows),
        nbytes=sum(row.nbytes for row in rows),
        operations=sum(row.operations for row in rows),
    )


def instructions(rows: Sequence[Row]) -> str:
    """Return a table of instructions."""
    total = sum(row.seconds for row in rows)
    lines = [
        [row.name, f"{row.program}:{row.instruction}", str(row.calls), *_measures(row, total)]
        for row in rows
    ]
    return _aligned(["instruction", "place", "calls", *_TITLES], lines, left=(0,))


_TITLES = ["time", "share", "GB/s", "GFLOP/s"]


def _measures(row: Row, total: float) -> list[str]:
    rate = 1e-9 / row.seconds if row.seconds > 0 else 0.0
    share = 100 * row.seconds / total if total else 0.0
    amounts = (row.nbytes, row.operations)
    return [_seconds(row.seconds), f"{share:.1f}%", *(f"{n * rate:.2f}" for n in amounts)]


def _aligned(titles: list[str], lines: list[list[str]], left: Sequence[int]) -> str:
    if not lines:
        return ""
    shown = lines[:_MOST_LINES]
    widths = [max(map(len, column)) for column in zip(titles, *shown, strict=True)]
    text = [
        "  ".join(
            cell.ljust(width) if n in left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (titles, *shown)
    ]
    if len(lines) > len(shown):
        text.append(f"... and {len(lines) - len(shown)} more")
    return "\n".join(text)


def _seconds(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _bytes(count: int) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"
