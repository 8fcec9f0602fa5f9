"""Anomaly detection: the first backward step that produces a NaN or an infinity is an error."""

from collections.abc import Callable
from typing import Any


def checker() -> Callable[..., Any] | None:
    return None
