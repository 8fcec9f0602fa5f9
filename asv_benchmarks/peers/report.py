"""The Markdown table of what was measured."""

from typing import Any

from .worker import HAND_WRITTEN

Measured = dict[str, Any]


def is_peer(system: str) -> bool:
    return not system.startswith((HAND_WRITTEN, "numgrad"))


def best_peer(rows: list[Measured]) -> Measured | None:
    """The fastest row of another library."""
    timed = [r for r in rows if is_peer(r["system"]) and r["steady"] and not r["reason"]]
    return min(timed, key=lambda row: row["steady"], default=None)


def limit(rows: list[Measured]) -> Measured:
    return next(row for row in rows if row["system"] == HAND_WRITTEN)


def duration(seconds: float | None) -> str:
    """Seconds with a unit that leaves few digits."""
    if seconds is None:
        return ""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(seconds: float | None, unit: float | None) -> str:
    return "" if not seconds or not unit else f"{seconds / unit:.2f}"


def cells(row: Measured, hand: float | None, peer: float | None) -> list[str]:
    """One row of a table."""
    if row["reason"] and not row["steady"]:
        return [row["system"], row["reason"], *[""] * 6]
    memory = row["mebibytes"]
    wrong = row["disagreement"]
    return [
        row["system"],
        duration(row["steady"]),
        ratio(row["steady"], hand),
        ratio(row["steady"], peer),
        duration(row["first"]),
        duration(row["new_graph"]),
        "" if memory is None else f"{memory:.0f}",
        "" if not wrong else f"{wrong:.0e}",
    ]


HEAD = (
    "system",
    "a call",
    "/ hand-written",
    "/ best peer",
    "first call",
    "new graph",
    "peak MiB",
    "difference",
)


def table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def section(workload: Measured) -> str:
    """Heading and table of one workload, fastest first."""
    rows = workload["rows"]
    best, hand = best_peer(rows), limit(rows)["steady"]
    peer = best["steady"] if best else None
    ordered = sorted(rows, key=lambda row: (row["steady"] is None, row["steady"] or 0.0))
    body = table(HEAD, [cells(row, hand, peer) for row in ordered])
    return f"### {workload['key']}: {workload['title']}\n\n{body}\n"


SUMMARY = ("workload", "hand-written", "best peer", "numgrad", "/ hand-written", "/ best peer")


def summary(workloads: list[Measured]) -> str:
    """One row per state of numgrad and workload: the table to read first."""
    lines = []
    for workload in workloads:
        rows = workload["rows"]
        best, hand = best_peer(rows), limit(rows)["steady"]
        peer = best["steady"] if best else None
        named = f"{best['system']} {duration(peer)}" if best else "none"
        for row in rows:
            if row["system"].startswith("numgrad"):
                shown = duration(row["steady"]) if row["steady"] else row["reason"]
                figures = [ratio(row["steady"], hand), ratio(row["steady"], peer)]
                state = f"{row['system'].removeprefix('numgrad').strip()} {shown}"
                lines.append([workload["key"], duration(hand), named, state, *figures])
    return table(SUMMARY, lines)


def machine_lines(facts: Measured) -> str:
    """The machine, the versions and the command."""
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return (
        f"`{facts['command']}` on {facts['processor']} ({facts['architecture']}), "
        f"{facts['cores']} cores, {facts['threads']} threads, {facts['system']}, "
        f"Python {facts['python']}, {versions}."
    )


def markdown(measured: Measured) -> str:
    """The whole report, as a fragment that a page includes."""
    parts = [machine_lines(measured["machine"]), summary(measured["workloads"])]
    parts.append(where_peers_win(measured["workloads"]))
    parts += [section(workload) for workload in measured["workloads"]]
    if "cold" in measured:
        parts.append(cold_start(measured["cold"]))
    if "beyond" in measured:
        parts.append(beyond_results(measured["beyond"]))
    if "floors" in measured:
        parts.append(floors(measured["floors"]))
    return "\n\n".join(parts)


def where_peers_win(workloads: list[Measured]) -> str:
    """The workloads on which numgrad at its best is slower than another library."""
    lines = []
    for workload in workloads:
        best = best_peer(workload["rows"])
        ours = [r for r in workload["rows"] if r["system"].startswith("numgrad") and r["steady"]]
        own = min(ours, key=lambda row: row["steady"], default=None)
        if best and own and own["steady"] > best["steady"]:
            times = own["steady"] / best["steady"]
            lines.append(f"- {workload['key']}: {best['system']} is {times:.2f} times as fast.")
    found = "\n".join(lines) or "On none of these workloads."
    return f"### Where a peer is faster\n\n{found}\n"


def cold_start(rows: list[Measured]) -> str:
    """Seconds from the start of the interpreter."""
    head = ("example of the README in a new process", "import alone", "first gradient")
    lines = [[row["what"], duration(row["import"]), duration(row["first"])] for row in rows]
    return f"### Cold start\n\n{table(head, lines)}\n"


def beyond_results(measured: Measured) -> str:
    """What a large batch needs."""
    rows, more = measured["rows"], measured["mebibytes"]
    return f"### Memory\n\nW3 with {rows} cotangents: inputs, result and {more:.0f} MiB more.\n"


def floors(rows: list[Measured]) -> str:
    """What the machine can do."""
    lines = [[row["what"], f"{row['figure']:.3g} {row['unit']}"] for row in rows]
    return f"### Floors\n\n{table(('ceiling of this machine', 'figure'), lines)}\n"
