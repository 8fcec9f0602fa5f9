"""The distribution of ratios, its worst end, and how far apart formulations of the same are."""

from collections.abc import Iterator
from itertools import groupby
from math import exp, log
from statistics import quantiles
from typing import Any, NamedTuple

from ..peers.report import duration, machine_lines

Measured = dict[str, Any]


WORST_BELOW = "<!-- the worst -->"  # where a page that includes the tables may divide them


class Comparison(NamedTuple):
    """A way of numgrad beside the fastest of some others."""

    title: str
    ours: str
    theirs: tuple[str, ...]


COMPARISONS = (
    Comparison("eager / the better of torch and torch.func", "eager", ("torch", "torch.func")),
    Comparison("captured / JAX", "captured", ("jax",)),
    Comparison("captured and fused / JAX", "fused", ("jax",)),
    Comparison("captured and fused / torch.compile", "fused", ("torch.compile",)),
    Comparison("captured and fused / captured", "fused", ("captured",)),
    Comparison("ng.func.grad / ng.grad", "func", ("eager",)),
)
# By way: what it is called, and the way of a peer whose formulations are set beside it.
SPREADS = {
    "eager": ("recorded at each call", "torch"),
    "captured": ("captured", "jax"),
    "fused": ("captured and fused", "jax"),
}


class Ratio(NamedTuple):
    """One program in one comparison."""

    ratio: float
    name: str
    ours: float
    theirs: float
    beside: float | None = None


def ratios(rows: list[Measured], comparison: Comparison, statistic: str) -> list[Ratio]:
    """Return the ratios of all programs that have both, the worst first."""
    found = []
    for row in rows:
        times = row[statistic]
        others = [times[way] for way in comparison.theirs if way in times]
        if comparison.ours in times and others:
            ours, theirs = times[comparison.ours], min(others)
            found.append(Ratio(ours / theirs, row["name"], ours, theirs))
    return sorted(found, reverse=True)


def geometric_mean(values: list[float]) -> float:
    return exp(sum(map(log, values)) / len(values))


def spreads(rows: list[Measured], way: str, statistic: str) -> Iterator[Ratio]:
    """Yield the slowest formulation of each family beside its fastest, and a peer's same two."""
    related = [row for row in rows if row["siblings"] and way in row[statistic]]
    peer = SPREADS[way][1]
    for family, members in groupby(related, key=lambda row: row["family"]):
        ordered = sorted(members, key=lambda row: row[statistic][way])
        if len(ordered) > 1:
            least, most = (row[statistic] for row in (ordered[0], ordered[-1]))
            names = (row["name"].removeprefix(f"{family}: ") for row in (ordered[-1], ordered[0]))
            beside = most[peer] / least[peer] if peer in most and peer in least else None
            text = f"{family}: {' / '.join(names)}"
            yield Ratio(most[way] / least[way], text, most[way], least[way], beside)


def distribution(title: str, found: list[Ratio]) -> str:
    """Return a row of the first table."""
    values = [f.ratio for f in found]
    quarters = quantiles(values, n=4) if len(values) > 1 else values * 3
    numbers = [geometric_mean(values), *quarters, values[0]]
    above = sum(value > 1.0 for value in values) / len(values)
    cells = [title, str(len(values)), *(f"{n:.2f}" for n in numbers), f"{100 * above:.0f} %"]
    return f"| {' | '.join(cells)} |"


HEAD = "| ratio of times | programs | geometric mean | quartile | median | quartile | worst | above 1 |"  # noqa: E501


def worst(found: list[Ratio], count: int, labels: tuple[str, ...]) -> list[str]:
    """Return the table of the worst."""
    lines = [f"| program | ratio | {' | '.join(labels)} |", "|---" * (2 + len(labels)) + "|"]
    for f in found[:count]:
        cells = [f.name, f"{f.ratio:.2f}", duration(f.ours), duration(f.theirs)]
        if len(labels) > 2:
            cells.append("" if f.beside is None else f"{f.beside:.2f}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def worst_names(rows: list[Measured], count: int, statistic: str) -> set[str]:
    """Return the programs that a table of the worst names."""
    return {r.name for c in COMPARISONS for r in ratios(rows, c, statistic)[:count]}


def markdown(measured: Measured, count: int = 10, statistic: str = "best") -> str:
    """Return the distributions, then the worst of each, then the spread within families."""
    rows = measured["rows"]
    compared = [(c, ratios(rows, c, statistic)) for c in COMPARISONS]
    compared = [(c, found) for c, found in compared if found]
    apart = {way: sorted(spreads(rows, way, statistic), reverse=True) for way in SPREADS}
    apart = {way: found for way, found in apart.items() if found}
    lines = [HEAD, "|---" * 8 + "|"]
    lines += [distribution(c.title, found) for c, found in compared]
    for way, found in apart.items():
        lines.append(distribution(f"slowest / fastest formulation, {SPREADS[way][0]}", found))
    lines += ["", WORST_BELOW]
    if "machine" in measured:
        minutes = f"{measured['seconds'] / 60:.0f} minutes"
        lines += ["", f"Measured in {minutes} by {machine_lines(measured['machine'])}"]
    for c, found in compared:
        lines += ["", f"**The worst of: {c.title}**", ""]
        lines += worst(found, count, (c.ours, " or ".join(c.theirs)))
    for way, found in apart.items():
        called, peer = SPREADS[way]
        lines += ["", f"**Formulations farthest apart, {called}**", ""]
        lines += worst(found, count, ("slowest", "fastest", f"the ratio of the two in {peer}"))
    return "\n".join([*lines, *first_calls(rows, count), *reasons(rows)])


def first_calls(rows: list[Measured], count: int) -> list[str]:
    """Return the table of the longest first calls of captured functions."""
    lines = []
    for way in ("captured", "fused"):
        longest = sorted(((r["first"].get(way, 0.0), r["name"]) for r in rows), reverse=True)
        lines += ["", f"**The longest first calls, {SPREADS[way][0]}**", ""]
        lines += ["| program | first call |", "|---|---|"]
        lines += [f"| {name} | {duration(seconds)} |" for seconds, name in longest[:count]]
    return lines


def reasons(rows: list[Measured]) -> list[str]:
    """Return a list of what was not measured, and why."""
    known: dict[str, list[str]] = {}
    for row in rows:
        for way, reason in row["reasons"].items():
            known.setdefault(f"{way}: {reason}", []).append(row["name"])
    if not known:
        return []
    lines = [f"- {reason} ({len(names)}, as in *{names[0]}*)" for reason, names in known.items()]
    return ["", "**Not measured**", "", *lines]


def changes(before: Measured, after: Measured, count: int = 10, statistic: str = "best") -> str:
    """Return by what factor each comparison's ratios have changed between two runs."""
    lines = []
    for c in COMPARISONS:
        old = {r.name: r.ratio for r in ratios(before["rows"], c, statistic)}
        new = {r.name: r.ratio for r in ratios(after["rows"], c, statistic)}
        both = sorted(((new[n] / old[n], n) for n in new if n in old), reverse=True)
        if both:
            mean = geometric_mean([factor for factor, _ in both])
            lines += ["", f"**{c.title}**: {mean:.3f} of the ratio before, in geometric mean", ""]
            edges = both[:count] + both[-count:] if len(both) > 2 * count else both
            lines += [f"- {f:.2f}: {n} ({old[n]:.2f} to {new[n]:.2f})" for f, n in edges]
    return "\n".join(lines)
