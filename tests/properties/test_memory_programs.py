"""Random programs share memory, and so see writes, where NumPy's do."""

import pytest

from .memory_programs import ELEMENTWISE, VIEWS, WRITES, Program, differences


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_programs_see_writes_where_numpy_sees_them(first):
    for seed in range(first, first + 10):
        program = Program(seed)
        assert not differences(program), program.text


def test_programs_are_made_of_all_that_is_listed():
    text = "\n".join(Program(seed).text for seed in range(400))
    for form in (*ELEMENTWISE, *VIEWS, *WRITES):
        longest = max(form.replace("{", "}").split("}")[::2], key=len)
        assert longest in text, form
