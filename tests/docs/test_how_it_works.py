"""The program printed in the page on how it works is the one that its example runs."""

import pytest

import numgrad.targets.cpu.schedule.bound_program as schedules
from numgrad.engine.replay import plan_cache
from numgrad.targets.cpu.schedule.schedule import ARENA

from .pages import DOCS

pytestmark = pytest.mark.usefixtures("default_fusing")


def test_printed_program(monkeypatch):
    programs = []
    schedule = schedules.schedule

    def spy(program, target):
        programs.append(str(program))
        return schedule(program, target)

    monkeypatch.setattr(schedules, "schedule", spy)
    plan_cache.forget()
    blocks = (DOCS / "how_it_works.md").read_text("utf-8").split("```")
    code, printed = blocks[1].removeprefix("python\n"), blocks[3].removeprefix("text\n")
    exec(compile(code, "how_it_works.md", "exec"), {})
    assert programs == [printed.rstrip("\n")]


def test_buffers_of_the_printed_program(monkeypatch):
    """Two of its values are written over others."""
    plans = []
    schedule = schedules.schedule
    plan_cache.forget()
    monkeypatch.setattr(
        schedules, "schedule", lambda *args: plans.append(schedule(*args)) or plans[-1]
    )
    code = (DOCS / "how_it_works.md").read_text("utf-8").split("```")[1].removeprefix("python\n")
    exec(compile(code, "how_it_works.md", "exec"), {})
    (plan,) = plans
    offsets = {n: at for n, at in enumerate(plan.offsets) if plan.slots[n] == ARENA}
    assert offsets[7] == offsets[2]
    assert offsets[9] == offsets[5]
    assert len(set(offsets.values())) == 3
    assert 10 not in offsets
