"""Random programs of elementwise operators can be fused, and have the same bits then."""

import pytest

from tests.sampling import one_in

from .elementwise_programs import OPERATORS, Program, differences


# One that has many functions with branches, which kept LLVM's vectoriser busy for minutes.
@pytest.mark.parametrize("seed", [1579, *one_in(8, range(40))])
def test_a_program_fused_at_once_has_the_bits_of_its_operators(seed):
    program = Program(seed)
    assert not differences(program), program


def test_programs_use_every_elementwise_operator():
    programs = [Program(seed) for seed in range(900)]
    assert {name for program in programs for name, _ in program.steps} == set(OPERATORS)
    assert {a.dtype.str[1:] for program in programs for a in program.inputs} >= {"f4", "f8", "c16"}
