"""Advice in errors: the user's call with arrays in place of the tensors among its arguments."""

import ast

from ...names.without_slopes import WITHOUT_SLOPES
from ..record.apply import runtime
from .array_origin import shortened, with_replaced_part
from .user_call import UserCall, user_calls


def detached_call(called: str) -> str | None:
    """Return the source of the user's running call, with ``.detach().numpy()`` behind each tensor.

    The result is None unless the running call is known to call the function ``called`` of NumPy or
    SciPy.
    """
    try:
        call = next(user_calls(), None)
        is_it = call is not None and (call.name or "").removeprefix("numpy.") == called
        return _with_values(call) if call is not None and is_it else None
    except Exception:  # objects of libraries may raise anything; then the error is more general
        return None


def instead_of_choice(call: UserCall) -> str | None:
    """Return the code to write for a function of SciPy whose results have no derivative, as they
    are indices, counts, ranks or booleans; None for any other function."""
    if (call.name or "").replace("()", "") not in WITHOUT_SLOPES:
        return None
    typed = _with_values(call) or f"{call.name}(x.detach().numpy(), ...)"
    return f"{typed}, as indices, counts, ranks and booleans have no derivative"


def _with_values(call: UserCall) -> str | None:
    tree = call.tree
    if not isinstance(tree, ast.Call):
        return None
    changed: ast.expr = tree
    for n, argument in enumerate(tree.args):
        if _is_tensor(argument, call):
            assert isinstance(changed, ast.Call)
            text = ast.unparse(ast.Attribute(argument, "detach")) + "().numpy()"
            changed = with_replaced_part(changed, changed.args[n], text)
    return shortened(changed) if changed is not tree else None


def _is_tensor(tree: ast.expr, call: UserCall) -> bool:
    """Whether an expression is a tensor, or is computed from one by operators and indices."""
    if isinstance(tree, ast.BinOp):
        return _is_tensor(tree.left, call) or _is_tensor(tree.right, call)
    if isinstance(tree, ast.UnaryOp):
        return _is_tensor(tree.operand, call)
    if isinstance(tree, ast.Subscript):
        return _is_tensor(tree.value, call)
    return isinstance(call.value_of(tree), runtime.value)


__all__ = ["detached_call", "instead_of_choice"]
