"""Slow, obviously correct checks of graphs, programs and schedules; run after each step in debug
mode and by tests."""

from collections.abc import Iterable

from .._errors import GraphError
from .graph import Node
from .program import Instruction, Operand, Program
from .schedule import Place, Schedule


def check_graph(nodes: Iterable[Node]) -> None:
    """Raise unless every edge leads to an older node, or to an accumulator, and to a slot that it
    has."""
    for node in nodes:
        if len(node.edges) != len(node.inputs):
            raise GraphError(f"{node}: {len(node.edges)} edges for {len(node.inputs)} inputs")
        for parent, slot in node.edges:
            if parent is None:
                continue
            if parent.number >= node.number:
                raise GraphError(f"{node} points to the younger {parent}")
            if not 0 <= slot < len(parent.outputs):
                raise GraphError(
                    f"{node} points to slot {slot} of {parent}, which has {len(parent.outputs)}"
                )


def check_program(program: Program) -> None:
    """Raise unless every buffer is written before it is read and every operand lies inside its
    buffer."""
    written = {buffer.index for buffer in program.buffers if buffer.array is not None}
    ordered = [i for i in program.instructions if not i.rows] + [
        i for i in program.instructions if i.rows
    ]
    for instruction in ordered:
        for operand in instruction.inputs:
            if operand.buffer.index not in written and operand.buffer.nbytes:
                raise GraphError(
                    f"{instruction.name} reads buffer {operand.buffer.index} before it is written"
                )
            if operand.buffer.rows and not instruction.rows:
                raise GraphError(
                    f"{instruction.name} has no rows but reads buffer {operand.buffer.index} that "
                    f"has"
                )
        for operand in (*instruction.inputs, *instruction.outputs):
            _check_bounds(instruction, operand)
        for operand in instruction.outputs:
            if operand.buffer.array is not None:
                raise GraphError(f"{instruction.name} writes into a constant")
            written.add(operand.buffer.index)
    _check_results(program, written)


def _check_results(program: Program, written: set[int]) -> None:
    indices = [operand.buffer.index for operand in program.results]
    if len(set(indices)) != len(indices):
        raise GraphError("two results share a buffer")
    for operand in program.results:
        size = operand.buffer.nbytes
        if size and operand.buffer.index not in written:
            raise GraphError(f"result buffer {operand.buffer.index} is never written")
        if not operand.whole:
            raise GraphError(f"result buffer {operand.buffer.index} is not contiguous")


def _check_bounds(instruction: Instruction, operand: Operand) -> None:
    if operand.buffer.array is not None or 0 in operand.shape:
        return
    low = high = operand.offset
    for size, stride in zip(operand.shape, operand.strides, strict=True):
        reach = (size - 1) * stride
        low, high = low + min(reach, 0), high + max(reach, 0)
    if low < 0 or high + operand.dtype.itemsize > operand.buffer.nbytes:
        raise GraphError(
            f"{instruction.name}: an operand of shape {operand.shape} reaches bytes {low}..{high} "
            f"of buffer "
            f"{operand.buffer.index}, which has {operand.buffer.nbytes}"
        )


def check_schedule(plan: Schedule) -> None:
    """Raise if two scratch buffers that are alive at the same time overlap."""
    for part in (plan.prologue, plan.body):
        _check_lifetimes(plan, part)


def _check_lifetimes(plan: Schedule, part: list[Instruction]) -> None:
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for number, instruction in enumerate(part):
        for operand in (*instruction.inputs, *instruction.outputs):
            index = operand.buffer.index
            if operand.buffer.array is None:
                first.setdefault(index, number)
                last[index] = number
                sizes[index] = operand.buffer.nbytes * (plan.tile if operand.buffer.rows else 1)
    live: list[int] = []
    for index in sorted(first, key=lambda i: first[i]):
        live = [other for other in live if last[other] >= first[index]]
        for other in live:
            heir = last[other] == first[index] and part[first[index]].elementwise
            if not heir and _overlap(
                plan.places[index], sizes[index], plan.places[other], sizes[other]
            ):
                raise GraphError(f"buffers {index} and {other} overlap while both are alive")
        live.append(index)


def _overlap(a: Place, a_size: int, b: Place, b_size: int) -> bool:
    if a.scratch != b.scratch or not a_size or not b_size:
        return False
    return a.base < b.base + b_size and b.base < a.base + a_size
