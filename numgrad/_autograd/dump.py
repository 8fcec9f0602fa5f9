"""Dump of the backward graph."""

from typing import Any


def prepare(path: Any) -> Any:
    return None
