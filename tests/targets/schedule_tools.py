"""A machine of which schedules are made on any other."""

from dataclasses import dataclass


@dataclass
class Machine:
    """Two cores, and a second-level cache of a megabyte."""

    num_threads: int = 2
    l2: int = 1 << 20

    def l2_bytes(self):
        return self.l2

    def addresses(self, arrays):
        return [4096] * len(arrays)
