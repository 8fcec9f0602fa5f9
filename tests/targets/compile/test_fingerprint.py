"""What identifies a function in another process."""

import math

import numgrad as ng
from numgrad.targets.binding import bind
from numgrad.targets.cpu.compile.fingerprint import fingerprint
from numgrad.targets.cpu.math import scalar_math


def test_an_attribute_is_no_global_of_the_same_name():
    scope = {"math": math, "exp": object()}
    exec("def exponential(x):\n    return math.exp(x)", scope)
    assert len(fingerprint(scope["exponential"])) == 64


def test_globals_of_nested_functions_count():
    scope = {"factor": 2.0}
    exec("def outer(x):\n    return (lambda y: factor * y)(x)", scope)
    before = fingerprint(scope["outer"])
    scope["factor"] = 3.0
    assert fingerprint(scope["outer"]) != before


def test_slices_are_known_by_their_bounds():
    """They are constants of code since Python 3.14."""
    digests = {fingerprint(item) for item in (slice(1, 3), slice(1, 4), slice(None), slice(1, 3))}
    assert len(digests) == 3


def test_a_function_that_takes_a_constant_slice_is_known():
    assert len(fingerprint(lambda a: a[1:3].sum())) == 64


def test_a_docstring_does_not_count_but_a_string_does():
    def digest(*body):
        scope = {}
        exec("\n    ".join(["def f(x):", *body]), scope)
        return fingerprint(scope["f"])

    assert digest("'one'", "return 'a'") == digest("'two'", "return 'a'")
    assert digest("return 'a'") != digest("return 'b'")


def test_every_scalar_function_of_a_built_in_operator_is_known_everywhere():
    from numgrad._declare import Elementwise, registry

    operators = [op for op in registry.values() if isinstance(op, Elementwise)]
    assert {ng.operators.exponential.exp, ng.operators.trigonometric.sin} <= set(operators)
    for operator in operators:
        functions = [operator.function, *(p.function for p in operator.partials.values())]
        bound = [bind(function, scalar_math.names) for function in functions]
        assert all(len(fingerprint(function)) == 64 for function in bound)
