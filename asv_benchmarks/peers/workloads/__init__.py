"""The workloads, in the order of the table."""

from ..task import Workload
from . import black_scholes, burgers, chain, heat, lorenz96, mlp, rosenbrock, seawater

WORKLOADS: tuple[Workload, ...] = (
    mlp.WORKLOAD,
    mlp.WORKLOAD_FLOAT32,
    lorenz96.WORKLOAD,
    burgers.WORKLOAD,
    seawater.WORKLOAD,
    heat.WORKLOAD,
    rosenbrock.WORKLOAD,
    rosenbrock.WORKLOAD_LONG,
    chain.WORKLOAD,
    black_scholes.WORKLOAD,
)


def find(key: str) -> Workload:
    """Return the workload of that key."""
    return next(w for w in WORKLOADS if w.key == key)


def selected(names: str) -> tuple[Workload, ...]:
    """Return workloads by comma-separated keys or the letters they begin with; "" for all."""
    wanted = [name.strip().lower() for name in names.split(",") if name.strip()]
    if not wanted:
        return WORKLOADS
    unknown = [n for n in wanted if not any(_means(n, w) for w in WORKLOADS)]
    if unknown:
        known = ", ".join(w.key for w in WORKLOADS)
        raise ValueError(f"no workload {', '.join(unknown)}; there are {known}")
    return tuple(w for w in WORKLOADS if any(_means(name, w) for name in wanted))


def _means(name: str, workload: Workload) -> bool:
    """W9 means W9n5, W9n1000 and W9chain, but W1 does not mean W10."""
    key = workload.key.lower()
    return key == name or (key.startswith(name) and not key[len(name)].isdigit())
