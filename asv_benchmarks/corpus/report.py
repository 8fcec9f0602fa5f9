"""The distribution of ratios, its worst end, and how far apart formulations of the same are."""

from collections.abc import Iterator
from itertools import groupby
from math import exp, log
from statistics import quantiles
from typing import Any, NamedTuple

from ..peers.report import duration

Measured = dict[str, Any]


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
SPREADS = {
    "eager": "recorded at each call",
    "captured": "captured",
    "fused": "captured and fused",
}


class Ratio(NamedTuple):
    """One program in one comparison."""

    ratio: float
    name: str
    ours: float
    theirs: float


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
    """Yield the slowest formulation of each family beside its fastest."""
    related = [row for row in rows if row["siblings"] and way in row[statistic]]
    for family, members in groupby(related, key=lambda row: row["family"]):
        times = sorted((row[statistic][way], row["name"]) for row in members)
        if len(times) > 1:
            (least, fastest), (most, slowest) = times[0], times[-1]
            pair = (name.removeprefix(f"{family}: ") for name in (slowest, fastest))
            yield Ratio(most / least, f"{family}: {' / '.join(pair)}", most, least)


def distribution(title: str, found: list[Ratio]) -> str:
    """Return a row of the first table."""
    values = [f.ratio for f in found]
    quarters = quantiles(values, n=4) if len(values) > 1 else values * 3
    numbers = [geometric_mean(values), *quarters, values[0]]
    above = sum(value > 1.0 for value in values) / len(values)
    cells = [title, str(len(values)), *(f"{n:.2f}" for n in numbers), f"{100 * above:.0f} %"]
    return f"| {' | '.join(cells)} |"


HEAD = "| ratio of times | programs | geometric mean | quartile | median | quartile | worst | above 1 |"  # noqa: E501


def worst(found: list[Ratio], count: int, labels: tuple[str, str]) -> list[str]:
    """Return the table of the worst."""
    lines = [f"| program | ratio | {labels[0]} | {labels[1]} |", "|---|---|---|---|"]
    for f in found[:count]:
        lines.append(f"| {f.name} | {f.ratio:.2f} | {duration(f.ours)} | {duration(f.theirs)} |")
    return lines


def markdown(measured: Measured, count: int = 10, statistic: str = "best") -> str:
    """Return the distributions, then the worst of each, then the spread within families."""
    rows = measured["rows"]
    compared = [(c, ratios(rows, c, statistic)) for c in COMPARISONS]
    compared = [(c, found) for c, found in compared if found]
    apart = {way: sorted(spreads(rows, way, statistic), reverse=True) for way in SPREADS}
    lines = [HEAD, "|---" * 8 + "|"]
    lines += [distribution(c.title, found) for c, found in compared]
    for way, found in apart.items():
        if found:
            title = f"slowest / fastest formulation of a family, {SPREADS[way]}"
            lines.append(distribution(title, found))
    for c, found in compared:
        lines += ["", f"**The worst of: {c.title}**", ""]
        lines += worst(found, count, (c.ours, " or ".join(c.theirs)))
    for way, found in apart.items():
        if found:
            lines += ["", f"**Families farthest apart, {SPREADS[way]}**", ""]
            lines += worst(found, count, ("slowest", "fastest"))
    return "\n".join([*lines, *reasons(rows)])


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
