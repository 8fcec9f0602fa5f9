"""Programs as text: one line per instruction, buffers by number."""

from typing import Any

from .program import Instruction, Program, Ref, is_contiguous


def listing(program: Program) -> str:
    """Return a program as text; equal programs give equal texts."""
    lines = [f"program: {len(program.instructions)} instructions, batch {program.batch}"]
    for title, rows in (("prologue", False), ("body", True)):
        part = [i for i in program.instructions if i.rows == rows]
        if part:
            lines.append(f"{title}:")
            lines += [f"  {_line(program, i)}" for i in part]
    lines.append("results: " + ", ".join(_operand(program, ref) for ref in program.results))
    return "\n".join(lines)


def _line(program: Program, instruction: Instruction) -> str:
    outputs = ", ".join(_operand(program, ref) for ref in instruction.outputs)
    inputs = ", ".join(_operand(program, ref) for ref in instruction.inputs)
    pattern = instruction.pattern
    core = f" core{list(pattern.core)}" if pattern.core else ""
    return f"{outputs} = {pattern.name}({inputs}) loop{list(pattern.loop)}{core}"


def _operand(program: Program, ref: Ref) -> str:
    layout = ref.layout
    kind = "c" if ref.buffer in program.arrays else "a" if program.is_outside(ref.buffer) else "v"
    rows = "rows x " if layout.rows else ""
    text = f"{kind}{ref.buffer}:{rows}{_dtype(layout.dtype)}{list(layout.shape)}"
    dense = is_contiguous(layout.shape, layout.strides, layout.dtype.itemsize)
    if not dense or ref.offset:
        text += f"@{ref.offset}/{list(layout.strides)}"
    return text


def _dtype(dtype: Any) -> str:
    return {"float64": "f8", "float32": "f4", "complex64": "c8", "complex128": "c16"}.get(
        str(dtype), str(dtype)
    )
