"""Advice in errors: the user's call of NumPy or SciPy, and the call of numgrad to write instead.

The advice for ``np.array([x, y])`` is ``ng.array([x, y])``, for example. The *holder* is the object
on which a method is called.
"""

import ast
import sys
from inspect import signature
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from ...names.counterparts import FOLLOWED, HOLDERS, TEXTS, counterpart
from ...names.scipy_switch import is_switched
from ..graph.callsite import Site
from ..record.apply import mode
from .array_origin import conversion_edit, numgrad_name, shortened, tensor_edit, with_replaced_part
from .detaching import instead_of_choice
from .draws import instead_of_draw
from .import_line import with_import_or_patch
from .instructions import beginning, is_remainder
from .rewriting import arguments_of, at, fits, rewritten
from .user_call import UserCall, is_answered, public_name, user_calls

_WRITES = ("numpy.ndarray.fill", "numpy.ndarray.put", "numpy.ndarray.itemset")
_NUMBERS = ("builtins.float", "numpy.float64")
_ASKED = ("builtins.float", "builtins.int", "builtins.complex")
_VALUES = ("values", "to_numpy", "item")
_ANSWERED = {"numpy", "scipy", "pandas", "xarray"}


class Advice(NamedTuple):
    """Advice about a call of the user.

    Attributes
    ----------
    name : str
        The public name of the called function; empty where the name is not known.
    typed : str
        The source of the call, shortened if it is long.
    site : Site
        The line of the call.
    write : str
        The code to write instead of the call.
    also : str
        A sentence about the user's call of a library that has called the user's function, if that
        call has to change, too; else empty.
    """

    name: str
    typed: str
    site: Site
    write: str
    also: str


def advice() -> Advice | None:
    """Return advice about the running call of the user's program; None where there is none."""
    try:
        return _advice()
    except Exception:  # objects of libraries may raise anything; then the error has no advice
        return None


def _advice() -> Advice | None:
    calls = user_calls()
    call = next(calls, None)
    write = call and _replacement(call)
    if call is None or write is None:
        return None
    return Advice(call.name or "", _typed(call), call.site, write, _outer_advice(next(calls, None)))


def is_wanted_as_number() -> bool:
    """Whether the user's program converts a value to a number, as by ``float(x)``, or formats a
    value as text, as by ``'%.3f' % x``.

    The author of such a conversion expects no gradient.
    """
    try:
        call = next(user_calls(), None)
        return call is not None and (call.name in _ASKED or _is_formatted(call, call.tree))
    except Exception:  # objects of libraries may raise anything
        return False


def _is_formatted(call: UserCall, tree: Any) -> bool:
    if tree is None:
        return is_remainder(call.frame) and _is_text(call, beginning(call.frame))
    is_formatting = isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mod)
    return is_formatting and _is_text(call, tree.left)


def typed() -> tuple[str, str]:
    """Return two texts: the source of the user's running call, and ``at FILE:LINE``.

    A text is empty if it is not known.
    """
    call = next(user_calls(), None)
    if call is None:
        return "", ""
    return "" if call.tree is None and call.name is None else _typed(call), f"at {call.site}"


def refused_reading(tensor: str, otherwise: str) -> tuple[str, str]:
    """Return two texts: why a value cannot be read while a function is captured, and ``at
    FILE:LINE``.

    With advice, the first text names the code to write instead of the user's call, and the second
    text the line of that call. Without advice, the first text is ``tensor`` followed by
    ``otherwise``, and the second text is empty.
    """
    found = None if is_answered() else advice()
    if found is None:
        return f"{tensor} {otherwise}", ""
    reason = f"{found.typed} asks for {tensor}, which is not known yet: write {found.write}."
    return reason + found.also, f"at {found.site}"


def _outer_advice(call: UserCall | None) -> str:
    """Return a sentence of advice about the library function that has called the user's function.

    The sentence is empty unless the library is one of `_ANSWERED`: a test runner calls the user's
    functions, too, and needs no advice.
    """
    write = _replacement(call) if call is not None and call.library in _ANSWERED else None
    if call is None or write is None:
        return ""
    return f" It is called by {_typed(call)}, at {call.site}: write {write} there."


def _typed(call: UserCall) -> str:
    if call.tree is None:
        return f"{call.name}"
    return shortened(call.tree) + (" = ..." if call.is_write else "")


def _replacement(call: UserCall) -> str | None:
    found = _replacement_of_call(call)
    if found is None and call.library == "pandas":
        return "the tensor itself, or a dict of tensors, where this is read: pandas holds none"
    return found


def _replacement_of_call(call: UserCall) -> str | None:
    if call.is_write:
        return _replacement_of_array(call)
    if isinstance(call.tree, (ast.BinOp, ast.Compare)):
        return _replacement_of_operator(call, call.tree)
    if call.name is None or call.name.startswith("numgrad"):
        return None
    value = call.value_of(call.named)
    text = _replacement_from_table(call)
    return _replacement_of_function(call, value) if text is None else text


# Functions ----------------------------------------------------------------------------------------


def _replacement_of_function(call: UserCall, value: Any) -> str | None:
    name = (call.name or "") if call.named is None else (public_name(value) or "")
    module = numgrad_name(call.frame.f_globals)
    if (text := rewritten(name, call.tree, module)) is not None:
        return _number(call, text) if name in _NUMBERS else text
    is_of_one = isinstance(call.tree, ast.Call) and len(call.tree.args) != 2
    if name.startswith("numpy.ndarray") or (name.startswith("builtins.") and is_of_one):
        return None  # methods of arrays; builtins such as max over a list
    found = counterpart(name.partition("()")[0])
    if found is None:
        return _without_counterpart(call)
    own = f"{module}.{found}"
    if "()" in name and call.named is not None:
        made = own if "(" in found else f"{own}(...)"
        return f"{made} where {ast.unparse(_object(call.named))} is made"
    arguments = _arguments(found)
    if "(" in found or call.tree is None or call.named is None:
        return own + arguments
    if isinstance(call.tree, ast.Call) and call.tree.func is call.named:
        function = at(found)
        if not fits(call.tree, value, function):
            return f"{own}, whose arguments are {arguments_of(function)}"
    text = shortened(with_replaced_part(call.tree, call.named, own)) + arguments
    return with_import_or_patch(text, call, value, found, module)


def _arguments(path: str) -> str:
    """Return the advice to hand tensors to the user's function by the parameter ``args`` of a
    solver.

    Parameters
    ----------
    path : str
        The path of a function in numgrad. The advice is empty unless the function is a solver of
        ``interop.scipy`` with a parameter ``args``, and also for a solver that finds tensors in the
        closure of the user's function.
    """
    if path.partition("(")[0] in FOLLOWED:
        return ""
    is_solver = path.startswith("interop.scipy.") and "args" in signature(at(path)).parameters
    return ", with the tensors that its function reads in args=(...)" if is_solver else ""


def _without_counterpart(call: UserCall) -> str | None:
    name = call.name or ""
    if call.library and call.library not in _ANSWERED | sys.stdlib_module_names:
        return f"x.detach().numpy() for values, as functions of {call.library} have no gradients"
    if not name.startswith("scipy."):
        return None
    choice = instead_of_choice(call)
    if choice is not None:
        return choice
    if is_switched(name.replace("()", "")) and not _is_switch_on():
        return (
            "os.environ['SCIPY_ARRAY_API'] = '1' before SciPy is imported, whose function takes "
            f"tensors then, and {numgrad_name(call.frame.f_globals)}.interop.scipy.patch() if it "
            "gets arrays of NumPy beside them"
        )
    return f"an ng.Function with its derivative, as numgrad has no counterpart of {name}"


def _is_switch_on() -> bool:
    """Whether SciPy's array API switch was on when SciPy was imported."""
    return bool(getattr(sys.modules.get("scipy._lib._array_api"), "SCIPY_ARRAY_API", False))


def _number(call: UserCall, text: str) -> str:
    """Return the advice for a conversion to a number: ``text``, and ``.item()`` as another choice.

    While a function is differentiated or captured, the advice is ``text`` alone: the number would
    lose its gradient there, or is not known yet.
    """
    if mode.transform_calls or mode.capture is not None or not isinstance(call.tree, ast.Call):
        return text
    number = f"{_with_parentheses(call.tree.args[0])}.item()"
    return f"{number} for a number to keep or to print, or {text}, where its gradient is to flow"


# Objects, operators and arrays --------------------------------------------------------------------


def _replacement_from_table(call: UserCall) -> str | None:
    """Return the advice for conversions and for methods of objects, from the table `TEXTS`."""
    if "()" not in (call.name or "") and (held := _replacement_of_holder(call)):
        return held
    if "xarray" in (call.library, (call.name or "").partition(".")[0]):
        return _replacement_of_labels(call)
    plain = (call.name or "").replace("()", "")
    drawn = instead_of_draw(plain, call.tree, numgrad_name(call.frame.f_globals))
    if drawn is not None:
        return drawn
    if plain.startswith("pandas.") and plain.endswith((".to_numpy.dot", ".values.dot")):
        plain = "numpy.ndarray.dot"  # the method of the array in the frame
    keys = (plain, plain.rpartition(".")[0], plain.partition(".")[0])
    text = next((TEXTS[key] for key in keys if key in TEXTS), None)
    tree = call.tree
    if text is None or not isinstance(tree, ast.Call) or call.named is None:
        return None
    holder = _object(tree.func)
    is_about_object = "{object}" in text
    if is_about_object and (holder is tree.func or "()" not in (call.name or "")):
        return None
    made = _with_parentheses(holder)
    if plain.startswith("pandas.") and plain.endswith(".dot"):
        arguments = ", ".join(map(ast.unparse, (*tree.args, *tree.keywords)))
        return f"{made}.to_numpy() @ ({arguments})"
    own = numgrad_name(call.frame.f_globals)
    if plain in _WRITES:
        return conversion_edit(made, own)
    rest = shortened(tree)[len(made) :]
    return text.format(ng=own, object=ast.unparse(holder), rest=rest)


def _with_parentheses(holder: ast.expr) -> str:
    """Return the source of an object as written before ``.method``, in parentheses if need be."""
    return ast.unparse(ast.Attribute(holder, "_")).removesuffix("._")


def _replacement_of_holder(call: UserCall) -> str | None:
    """Return the code to write instead of making an object that cannot hold tensors, such as a data
    frame of pandas; None for any other call."""
    module = (call.name or "").rpartition(".")[0]
    tree = call.tree
    if module not in HOLDERS or not isinstance(tree, ast.Call) or not tree.args:
        return None
    own, first = numgrad_name(call.frame.f_globals), ast.unparse(tree.args[0])
    return HOLDERS[module].format(ng=own, first=first)


def _replacement_of_labels(call: UserCall) -> str | None:
    """Return the code to write instead of ``a.values``, ``a.to_numpy()`` or ``a.item()`` of an
    array ``a`` of xarray; None for any other call."""
    tree = call.tree.func if isinstance(call.tree, ast.Call) else call.tree
    if not isinstance(tree, ast.Attribute) or tree.attr not in _VALUES:
        return None
    return TEXTS["xarray"].format(object=ast.unparse(tree.value))


def _object(named: ast.expr) -> ast.expr:
    """Return the source ``a`` of the called function ``a.method``; any other source unchanged."""
    return named.value if isinstance(named, ast.Attribute) else named


def _replacement_of_operator(call: UserCall, tree: ast.BinOp | ast.Compare) -> str | None:
    own = numgrad_name(call.frame.f_globals)
    others = [tree.right] if isinstance(tree, ast.BinOp) else tree.comparators
    operands = [tree.left, *others]
    if _is_formatted(call, tree):
        return "f'{x:.3f}' for '%.3f' % x"
    library = (call.name or "").partition(".")[0]
    masked = next((o for o in operands if _is_of(call, o, "numpy.ma")), None)
    if masked is not None:
        source = _with_parentheses(masked)
        text = ast.unparse(with_replaced_part(tree, masked, f"{source}.data"))
        text = f"{own}.where({source}.mask, {own}.nan, {text})"
        return f"{text}, for {own}.nansum, {own}.nanmean and the like, as numgrad has no masks"
    if library == "pandas":
        holder = next((o for o in operands if _is_of(call, o, library)), operands[0])
        changed = ast.parse(f"({ast.unparse(holder)}).to_numpy()", mode="eval").body
        return shortened(with_replaced_part(tree, holder, ast.unparse(changed)))
    listed = next((o for o in operands if isinstance(o, (ast.List, ast.Tuple))), None)
    if listed is not None:
        return shortened(with_replaced_part(tree, listed, f"{own}.array({ast.unparse(listed)})"))
    return None


def _is_text(call: UserCall, tree: ast.expr | None) -> bool:
    value = tree.value if isinstance(tree, ast.Constant) else call.value_of(tree)
    return isinstance(value, str)


def _is_of(call: UserCall, tree: ast.expr, library: str) -> bool:
    """Whether an operand such as ``a.b[0]`` or ``f(x)`` begins with an object or a function of a
    library."""
    root: Any = tree
    called = call.value_of(tree.func) if isinstance(tree, ast.Call) else None
    if called is not None and str(public_name(called)).startswith(library):
        return True
    while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
        root = root.func if isinstance(root, ast.Call) else root.value
    return str(public_name(call.value_of(root))).startswith(library)


def _replacement_of_array(call: UserCall) -> str | None:
    """Return the edit that makes a tensor of the array in the user's write ``array[key] = value``;
    None where the written object is known to be no array."""
    if not isinstance(call.tree, ast.Subscript):
        return None
    array, own = _owner(call.tree.value), numgrad_name(call.frame.f_globals)
    value = call.value_of(array)
    if type(value).__module__.startswith("scipy.sparse"):
        return f"{own}.sparse.coo(data, (rows, columns), shape) where {ast.unparse(array)} is made"
    if not isinstance(value, (np.ndarray, NoneType)):
        return None
    fields = _fields(array, call)
    if fields is not None:
        return fields
    if not isinstance(array, ast.Name):
        return conversion_edit(ast.unparse(array), own)
    return tensor_edit(array.id, call.frame, own)


def _owner(array: ast.expr) -> ast.expr:
    """Return the source ``a`` for the source ``a.flat``; any other source unchanged."""
    is_flat = isinstance(array, ast.Attribute) and array.attr == "flat"
    return array.value if is_flat else array  # type: ignore[attr-defined]


def _fields(array: ast.expr, call: UserCall) -> str | None:
    """Return the code to write instead of a write into a field of a structured array."""
    root: Any = array
    while isinstance(root, (ast.Subscript, ast.Attribute)) and not _has_fields(root, call):
        root = root.value
    if not _has_fields(root, call):
        return None
    made, own = ast.unparse(root), numgrad_name(call.frame.f_globals)
    name = "field" if made != "field" else "name"
    fields = f"{{{name}: {own}.array({made}[{name}]) for {name} in {made}.dtype.names}}"
    return f"{made} = {fields} before, a dict with a tensor for each field, as tensors have none"


def _has_fields(tree: ast.expr, call: UserCall) -> bool:
    """Whether an expression stands for a structured array."""
    return bool(getattr(getattr(call.value_of(tree), "dtype", None), "names", None))
