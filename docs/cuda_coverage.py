"""The table of how each operator runs on CUDA: ``python docs/cuda_coverage.py`` writes its page.

The scenarios of all operators are recorded on a device that launches nothing, with gradients and
gradients of gradients; what their programs are lowered to is looked at. No GPU is needed, and no
simulator.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import numgrad as ng
from numgrad._declare import registry
from numgrad.engine.lower import lower
from numgrad.engine.record import device_launch
from numgrad.engine.record.apply import runtime
from numgrad.ir.kernel_spec import ElementwiseSpec, HostSpec, LibrarySpec, LoopSpec, core_dimensions
from numgrad.targets.cuda import CUDATarget
from numgrad.targets.cuda.kernels.gathering import LaunchSequence
from numgrad.targets.cuda.kernels.product import tiles
from numgrad.targets.cuda.launch.steps import HostCall
from numgrad.targets.cuda.program import bound_program
from numgrad.targets.cuda.program.reduction_launch import role_of
from numgrad.testing.scenarios import SCENARIOS

PAGE = Path(__file__).with_name("cuda_coverage.md")
HEAD = """# CUDA, operator by operator

How each operator of numgrad runs on a device, of this dtype or that where it matters.
Derivatives are made of the same operators, and of partial derivatives, which are elementwise.
[Operators of users](writing_an_operator.md#on-cuda) are *elementwise* or *core*, or have kernels of
their own. The page is written by `docs/cuda_coverage.py`.

| word | means |
|---|---|
| view | nothing is computed: other strides of the same memory; written, it is a copy |
| copy | elements are moved by an elementwise kernel |
| elementwise | a thread for each element; neighbours in a program are joined in one kernel |
| core | a thread for each element of the loop, which goes over the core dimensions alone |
| reduction | a warp for 1024 elements that lie in a piece, a thread for 32 that lie apart |
| product | a block of threads for each tile of a matrix |
| indexing | a thread for each element; positions that may be equal are sorted before |
| indexing, checked | the same, with a flag, read once behind the program, for wrong indices |
| searching | several threads for each row of more than 32 elements |
| sorting | a block of threads sorts a tile in shared memory, and tiles are merged |
| matrices | a thread for each row of matrices of at most 32; larger ones are left to the host |
| host | the data go to the processor and come back; why is said behind |

"""
GROUPS = {"float32": "float32", "float64": "float64", "complex128": "complex"}
ORDER = ["copy", "elementwise", "core", "reduction", "product", "indexing", "indexing, checked"]
OWN = {"argsort": "sorting", "permute": "indexing", "unpermute": "indexing"}
OWN |= dict.fromkeys(("any", "all", "count_nonzero", "argmax", "argmin"), "searching")
OWN |= dict.fromkeys(("cholesky", "lu_factor", "lu_solve", "solve_triangular"), "matrices")

Found = dict[str, dict[str, set[str]]]


class _Memory:
    """A runtime of a device that does nothing and reads zeros; also its driver, stream and
    memory."""

    REDUCING, PROCESSORS, RESIDENT, NEIGHBOURS = 256, 1, 1, 1
    blas = solver = fourier = handle = launch_address = default = row = None
    tiles = staticmethod(tiles)

    def __init__(self) -> None:
        self.driver = self

    def prepare(self, kernel: Any) -> Any:
        return kernel

    def word(self, bits: int, value: int) -> int:
        return value

    def current(self) -> Any:
        return self

    def record_event(self) -> None:
        return None

    def allocate(self, nbytes: int) -> Any:
        return self

    def used_by(self, stream: Any) -> Any:
        return self

    def launch(self, kernel: Any, count: int, arguments: Any, stream: Any) -> None:
        pass

    def uploaded(self, array: Any) -> Any:
        return self

    constant = uploaded

    def read(self, memory: Any, offset: int, dtype: Any, shape: Any, strides: Any) -> Any:
        return np.zeros(shape, dtype)


@contextmanager
def _watched(found: Found, group: list[str]) -> Iterator[str]:
    """Note how operators are lowered on a device, which this gives the name of."""
    target = CUDATarget(9)
    vars(target)["runtime"] = _Memory()
    writer: dict[int, str] = {}
    kept: list[Any] = []
    one, step_of = lower.lower_one, bound_program.lowered

    def noted(builder: Any, expr: Any, operands: Any) -> Any:
        before = len(builder.steps)
        outputs = one(builder, expr, operands)
        found[expr.operator.name][group[0]] |= set()
        for pattern, *_ in builder.steps[before:]:
            kept.append(pattern)
            writer[id(pattern)] = expr.operator.name
        return outputs

    def lowered(instruction: Any, *rest: Any) -> Any:
        step = step_of(instruction, *rest)
        name = writer.get(id(instruction.pattern))
        if name is not None:
            found[name][group[0]].add(_kind(instruction.pattern, step))
        return step

    with (
        patch.object(lower, "lower_one", noted),
        patch.object(bound_program, "lowered", lowered),
        patch.object(bound_program.BoundProgram, "run", lambda *_: None),
        patch.dict(runtime.targets, {target.name: target}),
        patch.object(device_launch, "_programs", {}),
    ):
        yield target.name


def _kind(pattern: Any, step: Any) -> str:
    spec = pattern.spec
    if isinstance(spec, HostSpec):
        return "host: a function of NumPy or SciPy"
    if isinstance(step, HostCall) and isinstance(spec, ElementwiseSpec):
        return "host: a function of SciPy"
    if isinstance(step, HostCall):
        is_library = isinstance(spec, LibrarySpec)
        return "host: LAPACK of SciPy" if is_library else "host: needs memory of its own"
    if isinstance(spec, LoopSpec) and role_of(spec.function):
        return "reduction"
    if spec.name in OWN:
        return OWN[spec.name]
    if isinstance(step, LaunchSequence):
        return "indexing" if step.host is None else "indexing, checked"
    if spec.name == "matmul":
        return "product"
    if pattern.block:
        return "reduction"
    if any(core_dimensions(getattr(spec, "signature", ""))):
        return "core"
    return "copy" if spec.name == "copy" else "elementwise"


def _take(scenario: Any, dtype: str, device: str) -> None:
    """Record a call, its gradients, and theirs."""
    leaves = [
        ng.tensor(a, requires_grad=bool(scenario.order) and a.dtype.kind in "fc", device=device)
        for a in scenario.at(scenario.points[0], dtype)
    ]
    outputs = scenario.function(*leaves)
    live = [o for o in (outputs if isinstance(outputs, tuple) else (outputs,)) if o.requires_grad]
    if live:
        variables = [x for x in leaves if x.requires_grad]
        options: dict[str, Any] = {"allow_unused": True, "retain_graph": True}
        seeds = [np.ones(o.shape, o.dtype) for o in live]
        first = ng.grad(live, variables, seeds, create_graph=scenario.order > 1, **options)
        again = [g for g in first if g is not None and g.requires_grad]
        if again:
            seeds = [np.ones(g.shape, g.dtype) for g in again]
            ng.grad(again, variables, seeds, allow_unused=True)


def collected() -> Found:
    """Return the kinds of steps of each operator, by groups of dtypes."""
    found: Found = defaultdict(lambda: defaultdict(set))
    group = [""]
    with _watched(found, group) as device:
        for scenario in SCENARIOS:
            for dtype in GROUPS.keys() & scenario.dtypes:
                group[0] = GROUPS[dtype]
                _take(scenario, dtype, device)
    return found


def _text(name: str, by_group: dict[str, set[str]]) -> str:
    texts: dict[str, list[str]] = {}
    for group in dict.fromkeys(GROUPS.values()):
        if group in by_group:
            kinds = by_group[group]
            listed = [kind for kind in ORDER if kind in kinds] + sorted(kinds - set(ORDER))
            texts.setdefault(" + ".join(listed) or "view", []).append(group)
    if registry[name].is_view:
        return "view"
    if len(texts) == 1:
        return next(iter(texts))
    return "; ".join(f"{', '.join(groups)}: {text}" for text, groups in texts.items())


def page() -> str:
    """Return the text of the page."""
    found = collected()
    lines = ["| operator | on a device |", "|---|---|"]
    lines += [f"| `{name}` | {_text(name, found[name])} |" for name in sorted(registry)]
    unmet = [name for name in registry if not registry[name].is_view and not found[name]]
    assert not unmet, f"no scenario applies {unmet}"
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
