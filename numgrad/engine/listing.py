"""Programs as text: one line per instruction, buffers by number."""

from typing import Any

from .program import Instruction, Operand, Program


def listing(program: Program) -> str:
    """Return a program as text; equal programs give equal texts."""
    lines = [f"program: {len(program.instructions)} instructions, batch {program.batch}"]
    for title, rows in (("prologue", False), ("body", True)):
        part = [i for i in program.instructions if i.rows == rows]
        if part:
            lines.append(f"{title}:")
            lines += [f"  {_line(i)}" for i in part]
    lines.append("results: " + ", ".join(_operand(o) for o in program.results))
    return "\n".join(lines)


def _line(instruction: Instruction) -> str:
    outputs = ", ".join(_operand(o) for o in instruction.outputs)
    inputs = ", ".join(_operand(o) for o in instruction.inputs)
    core = f" core{list(instruction.core)}" if instruction.core else ""
    return f"{outputs} = {instruction.name}({inputs}) loop{list(instruction.loop)}{core}"


def _operand(operand: Operand) -> str:
    buffer = operand.buffer
    kind = "c" if buffer.array is not None else "v"
    rows = "rows x " if buffer.rows else ""
    text = f"{kind}{buffer.index}:{rows}{_dtype(operand.dtype)}{list(operand.shape)}"
    if not operand.is_contiguous() or operand.offset:
        text += f"@{operand.offset}/{list(operand.strides)}"
    return text


def _dtype(dtype: Any) -> str:
    return {"float64": "f8", "float32": "f4", "complex64": "c8", "complex128": "c16"}.get(
        str(dtype), str(dtype)
    )
