"""Judges, where they judge, and how the objections of several are reported together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from numgrad.testing.scenarios.scenario import smooth_points

from .case import Case, Family

DOUBLE = ("float64", "complex128")
SINGLE = ("float32", "complex64")


@dataclass(frozen=True)
class Judge:
    """What must hold for a case, and at which cases of a scenario it is looked at.

    Attributes
    ----------
    name : str
    looks : callable
        Takes a case; raises where it objects.
    places : callable
        Takes a scenario; yields numbers of points, each with a dtype.
    """

    name: str
    looks: Callable[[Case], None]
    places: Callable[..., Iterator[tuple[int, str]]]


def judge(places, *further, when=lambda scenario: True):
    """Make a judge of a function of a case: it looks where any of these yield a place."""

    def where(scenario):
        if when(scenario):
            yield from dict.fromkeys(p for each in (places, *further) for p in each(scenario))

    def make(looks):
        return Judge(looks.__name__, looks, where)

    return make


def judged(scenario, judges):
    """Let judges look at a scenario; raise what they object to, with judge, point and dtype.

    Each judge comes with the points and dtypes where it looks.
    """
    objections, family = [], Family(scenario)
    for each, places in judges:
        for number, dtype in places:
            case = family.case(number, dtype)
            try:
                each.looks(case)
            except Exception as error:
                error.add_note(f"judge {each.name}: {case}")
                objections.append(error)
    if len(objections) == 1:
        raise objections[0]
    if objections:
        raise ExceptionGroup(f"{scenario.name}: {len(objections)} objections", objections)


# When ---------------------------------------------------------------------------------------------


def differentiable(scenario):
    return scenario.order > 0


def twice(scenario):
    return scenario.order > 1


# Where --------------------------------------------------------------------------------------------


def everywhere(scenario):
    for dtype in scenario.dtypes:
        for number in range(len(scenario.points)):
            yield number, dtype


def all_as_given(scenario):
    """All points in double precision, as they are written down, whatever the dtypes."""
    for number in range(len(scenario.points)):
        yield number, "float64"


def first_as_given(scenario):
    yield 0, "float64"


def first(scenario):
    """The first point in all dtypes."""
    for dtype in scenario.dtypes:
        yield 0, dtype


def first_in_one(scenario):
    yield 0, scenario.dtypes[-1]


def first_in_single(scenario):
    for dtype in SINGLE:
        if dtype in scenario.dtypes:
            yield 0, dtype


def first_in_half(scenario):
    yield 0, "float16"


def two_in_one(scenario):
    for number in range(len(scenario.points[:2])):
        yield number, scenario.dtypes[-1]


def smooth_in_one(scenario):
    for number, _ in smooth_points(scenario):
        yield number, scenario.dtypes[-1]


def smooth_in_one_or_as_given(scenario):
    """In one dtype; in double precision, as they are written down, if there is no derivative."""
    for number, dtype in smooth_in_one(scenario):
        yield number, dtype if scenario.order else "float64"


def smooth_in_double(scenario):
    for dtype in DOUBLE:
        if dtype in scenario.dtypes:
            for number, _ in smooth_points(scenario):
                yield number, dtype


def smooth_in_float64(scenario):
    for number, dtype in smooth_in_double(scenario):
        if dtype == "float64":
            yield number, dtype


def smooth_and_float32(scenario):
    """In double precision, and the first point in single precision."""
    yield from smooth_in_double(scenario)
    if "float32" in scenario.dtypes and all(a.size for a in scenario.points[0]):
        yield 0, "float32"


def without_elements(scenario):
    for number, point in enumerate(scenario.points):
        if not all(a.size for a in point):
            for dtype in scenario.dtypes:
                yield number, dtype
