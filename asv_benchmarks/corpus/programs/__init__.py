"""The programs by chapter. A program is a short function in one of these modules."""

from collections.abc import Sequence

from ..program import Family, Program
from . import (
    fields,
    gathers,
    loops,
    matrices,
    mixed,
    models,
    operands,
    particles,
    recurrent,
    reductions,
    series,
    sizes,
    stencils,
)

CHAPTERS = (
    operands, sizes, reductions, stencils, loops, particles, models, recurrent, series, matrices,
    gathers, mixed, *fields.CHAPTERS,
)  # fmt: skip
FAMILIES: list[Family] = [family for chapter in CHAPTERS for family in chapter.FAMILIES]
PROGRAMS: list[Program] = [program for family in FAMILIES for program in family.programs]


def find(name: str) -> Program:
    """Return the program of a name."""
    return next(program for program in PROGRAMS if program.name == name)


def selected(parts: Sequence[str] = ()) -> list[Program]:
    """Return the programs whose names hold one of the parts; all without any."""
    lower = [part.lower() for part in parts]
    found = [p for p in PROGRAMS if not parts or any(part in p.name.lower() for part in lower)]
    if not found:
        families = "; ".join(family.name for family in FAMILIES)
        raise ValueError(f"no program's name holds any of {parts}; there are: {families}")
    return found
