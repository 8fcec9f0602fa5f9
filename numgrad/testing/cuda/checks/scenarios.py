"""Checks of every operator on a GPU: values and derivatives must equal those of the CPU."""

from collections.abc import Sequence
from functools import partial

from ...scenarios import CHAPTERS, Scenario
from ..agreement import cases, compare
from ..report import Check, said
from ..sizes import Sizes

_DTYPES = {
    "float32": ("float32",), "float64": ("float64",), "complex": ("complex64", "complex128"),
}  # fmt: skip
_SHOWN = 5  # cases that a report names


def _run(chosen: Sequence[tuple[Scenario, str]], sizes: Sizes) -> str:
    total, chosen = len(chosen), chosen[:: sizes.every]
    wrong = []
    for scenario, dtype in chosen:
        try:
            compare(scenario, dtype)
        except Exception as error:  # the other cases are checked all the same
            wrong.append(f"{scenario.name} of {dtype}: {said(error)}")
    if wrong:
        shown = "; ".join(wrong[:_SHOWN])
        raise AssertionError(f"{len(wrong)} of {len(chosen)} cases differ: {shown}")
    return f"{len(chosen)} of {total} cases"


def _checks() -> list[Check]:
    found = []
    for chapter, scenarios in CHAPTERS.items():
        for kind, dtypes in _DTYPES.items():
            chosen = [case for case in cases(scenarios) if case[1] in dtypes]
            if chosen:
                found.append(Check(f"operators: {chapter}, {kind}", partial(_run, chosen)))
    return found


CHECKS = tuple(_checks())
