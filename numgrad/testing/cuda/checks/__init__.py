"""Checks of results on a device, one module for each subject."""

from ..report import Check
from . import arrays, captured, devices, exchange, loops, memory, rows, scenarios, streams

CHECKS: tuple[Check, ...] = (
    *scenarios.CHECKS, *arrays.CHECKS, *rows.CHECKS, *captured.CHECKS, *loops.CHECKS,
    *streams.CHECKS, *memory.CHECKS, *devices.CHECKS, *exchange.CHECKS,
)  # fmt: skip
