"""Advice in errors: random draws from NumPy's generators with tensors as parameters."""

import ast

from ...names.counterparts import counterpart
from .rewriting import at, fits, rewritten

GENERATORS = (
    "numpy.random.Generator", "numpy.random.RandomState", "numpy.random.mtrand.RandomState",
    "numpy.random",
)  # fmt: skip
"""The classes of generators, and the module whose functions draw from the global generator."""

WITHOUT_DERIVATIVE = "t.detach().numpy() for each tensor t, as such draws have no derivative"


def instead_of_draw(name: str, call: ast.expr | None, own: str) -> str | None:
    """Return the code to write instead of a call of a generator's method; None for any other
    function.

    Parameters
    ----------
    name : str
        The public name of the method, without parentheses.
    call : ast.expr
        The source of the call.
    own : str
        The name by which the user has imported numgrad.
    """
    home, _, method = name.rpartition(".")
    if home not in GENERATORS or not isinstance(call, ast.Call):
        return None
    text = rewritten(f"{GENERATORS[0]}.{method}", call, own)
    if text is not None:
        return text
    path = counterpart(f"numpy.random.{method}")
    if path is None:
        return WITHOUT_DERIVATIVE
    if home == GENERATORS[-1] or not isinstance(call.func, ast.Attribute):
        return None  # the function has its counterpart, see `names.counterparts`
    moved = ast.Call(ast.Name(f"{own}.{path}"), [call.func.value, *call.args], call.keywords)
    if not fits(moved, None, at(path)):
        return f"{own}.{path}({ast.unparse(call.func.value)}, ...) with the parameters by name"
    return ast.unparse(moved)
