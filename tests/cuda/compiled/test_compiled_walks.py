"""What elementwise kernels over several axes take for each element; see `test_compiled`."""

import re

import numpy as np
import pytest

from numgrad._declare import registry
from numgrad.targets.cuda.kernels.elementwise import ROWS, ElementWalk, elementwise
from numgrad.targets.cuda.program import copies

from .compiling import CAPABILITY, codegen, linked

ROW, COLUMN, OUT = (0, 1), (1, 0), (None, 1)


def code(dtype, walk):
    spec = registry["multiply"].spec(np.dtype(dtype))
    return codegen.compiled(elementwise(spec, walk), CAPABILITY)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_times_a_column_takes_few_instructions_for_an_element(dtype):
    ptx = code(dtype, ElementWalk(2, False, (ROW, COLUMN, OUT), True, 0)).ptx
    lines = ptx.splitlines()
    assert not re.search(r"mul\.lo\.s64|mad\.lo\.s64|\.local|div\.[su]64", ptx)
    stores = [n for n, line in enumerate(lines) if "st.global" in line]
    last = max(stores)  # the compiler puts whole groups of rows behind the loop for others
    labels = [n for n, line in enumerate(lines[:last]) if line.startswith("$L")]
    whole = [line for line in lines[labels[-1] : last + 1] if line.strip().endswith(";")]
    assert sum("st.global" in line for line in whole) == ROWS
    assert len(whole) <= 5 * ROWS
    assert "0 bytes spill stores" in linked(ptx, "sm_90")


def test_known_strides_are_not_multiplied_with():
    known, plain = (
        code("float32", ElementWalk(2, False, *given)).ptx
        for given in (((ROW, COLUMN, OUT), True), ())
    )
    count = [len(re.findall(r"(?:mul|mad)\.(?:lo|wide)\.[su]\d+", ptx)) for ptx in (known, plain)]
    assert count[0] < count[1]
    assert "mul.lo.s64" in plain
    assert "mul.lo.s64" not in known


def test_rolls_are_read_in_place_with_few_instructions():
    """A roll takes a sum, a comparison and a choice, once for the elements of a thread."""
    rings = ((True,), (False,), (False,))
    ptx = code("float32", ElementWalk(1, False, ((1,),) * 3, True, None, rings)).ptx
    assert not re.search(r"mul\.lo\.s64|mad\.lo\.s64|\.local|div\.|rem\.", ptx)
    assert len(re.findall("selp", ptx)) <= 4 + 1  # four elements are read ahead


@pytest.mark.parametrize("dtype", ["bool", "float32", "complex128"])
def test_copies_of_a_launch_compile(dtype):
    ptx = codegen.compiled(copies._kernel(np.dtype(dtype), (1, 2, 1, 3)), CAPABILITY).ptx
    assert ".f64" not in ptx or dtype == "complex128"
    assert ".local" not in ptx
