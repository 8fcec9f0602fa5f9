"""A profile as a Chrome trace: one line for each program's runs, one for each thread."""

import json
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from .measured import Measured

_MICROSECONDS = 1e6


def write(path: str | PathLike[str], programs: list[Measured]) -> None:
    """Write the trace to a file."""
    origin = min((began for p in programs for began, _ in p.spans), default=0.0)
    events = [*_titles(programs)]
    for program in programs:
        events += _runs(program, origin)
        events += _instructions(program, origin)
    content = {"traceEvents": events, "displayTimeUnit": "ns"}
    Path(path).write_text(json.dumps(content), encoding="utf-8")


def _titles(programs: list[Measured]) -> Iterator[dict[str, Any]]:
    threads = max((program.threads for program in programs), default=0)
    names = ["programs", *(f"thread {n}" for n in range(threads))]
    for number, name in enumerate(names):
        yield {
            "ph": "M", "pid": 0, "tid": number, "name": "thread_name", "args": {"name": name},
        }  # fmt: skip


def _runs(program: Measured, origin: float) -> Iterator[dict[str, Any]]:
    arguments = {
        "instructions": len(program.names), "fused": program.fused, "batch": program.batch,
        "memory": program.peak_bytes,
    }  # fmt: skip
    for began, ended in program.spans:
        yield _event(f"program {program.number}", 0, began - origin, ended - began, arguments)


def _instructions(program: Measured, origin: float) -> Iterator[dict[str, Any]]:
    for event in program.events():
        arguments = {
            "program": program.number, "instruction": event.instruction, "first row": event.row,
        }  # fmt: skip
        name, seconds = program.names[event.instruction], event.ended - event.began
        yield _event(name, 1 + event.thread, event.began - origin, seconds, arguments)


def _event(
    name: str, line: int, began: float, seconds: float, arguments: dict[str, Any]
) -> dict[str, Any]:
    return {
        "ph": "X", "pid": 0, "tid": line, "name": name, "ts": began * _MICROSECONDS,
        "dur": max(seconds, 0.0) * _MICROSECONDS, "args": arguments,
    }  # fmt: skip
