"""Draw statements that call transforms of functions, such as `grad`, and a program's observation.

The functions are drawn too, and close over names around them. A function that draws adds statements
to a scope, and returns whether it could; see `drawing.Scope`. The observation is the expression
whose value is compared with the reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .texts import indented

if TYPE_CHECKING:
    from .drawing import Drawing, Scope

ARGNUMS = ("grad", "value_and_grad", "jacrev", "jacfwd", "hessian")
MOST_ARGUMENTS = 4  # a nested derivative is taken by at most so many elements
CHEAP = 4000  # the calls of functions that the reference of an observation may take
TAPES = ("gradients", "hooked_gradients", "backward_gradients")
OWN_READERS = (
    "np.tanh({})", "np.expm1(np.sin({}))", "1.0 / (np.sin({}) + 2.0)", "np.sqrt(np.cos({}) + 2.0)",
    "np.prod(np.cos({}) + np.array([0.5, 2.0]))",
    "np.linalg.norm(np.sin({}) + np.array([2.0, 3.0]))",
)  # fmt: skip
PLACES = ("tensor", "before", "after")


def draw_transform(scope: Scope) -> bool:
    """Draw an inner function, and a call of a derivative of it."""
    draw = scope.draw
    arguments = _draw_arguments(scope, 1 + (draw.pick(3) == 2))
    if not arguments:
        return False
    kinds = ["grad", "value_and_grad", "vjp", "jvp", "linearize", "hvp", "tape"]
    if not any(is_complex(value) for value in scope.values.values()):
        kinds += ["jacrev", "jacfwd", "hessian", "rows", "rows"]
    kind = kinds[draw.pick(len(kinds))]
    scalar = kind in ("grad", "value_and_grad", "hessian", "hvp", "tape")
    aux = draw.pick(4) == 0 and kind not in ("linearize", "hessian", "hvp", "tape", "rows")
    several = len(arguments) > 1 and (kind not in ARGNUMS or draw.pick(2) == 0)
    traced = {p for n, (p, name) in enumerate(arguments.items())
              if several or n == 0 or name in scope.traced}  # fmt: skip
    function = _draw_function(scope, arguments, traced, scalar, aux)
    if function is None:
        return False
    return _USES[kind](scope, function, list(arguments.values()), aux, several)


def draw_captured(scope: Scope) -> bool:
    """Draw an inner function, and a call of it captured by `numgrad.jit`."""
    draw = scope.draw
    arguments = _draw_arguments(scope, 1 + draw.pick(2))
    traced = {p for p, name in arguments.items() if name in scope.traced}
    if not arguments:
        return False
    function = _draw_function(scope, arguments, traced, False, False)
    if function is None:
        return False
    call = f"{_jit(draw, function)}({', '.join(arguments.values())})"
    result = draw.fresh()
    return scope.add([f"{result} = {call}"], result, traced=False)


def draw_mapped(scope: Scope) -> bool:
    """Draw an inner function of one sample, and a call for several samples by `vmap`."""
    draw = scope.draw
    arguments = _draw_arguments(scope, 1 + draw.pick(2))
    if not arguments:
        return False
    shared = 1 if draw.pick(2) else len(arguments)  # arguments from here on are shared
    traced = {p for n, (p, name) in enumerate(arguments.items())
              if n < shared or name in scope.traced}  # fmt: skip
    function = _draw_function(scope, arguments, traced, False, False)
    if function is None:
        return False
    count, axes, given = 1 + draw.pick(3), [], []
    for n, name in enumerate(arguments.values()):
        axis = draw.pick(np.ndim(scope.values.get(name, 0.0)) + 1) if n < shared else None
        samples = ", ".join([f"{name} * {1.0 - k / 4}" for k in range(count)])
        given.append(name if axis is None else f"np.stack([{samples}], {axis})")
        axes.append(axis)
    options = f"in_axes=({', '.join(map(str, axes))},)"
    options += f", out_axes={-draw.pick(2)}"
    options += f", chunk_size={1 + draw.pick(2)}" if draw.pick(4) == 0 else ""
    mapped = f"ng.func.vmap({_maybe_captured(draw, function)}, {options})"
    result = draw.fresh()
    call = f"{_maybe_captured(draw, mapped)}({', '.join(given)})"
    return scope.add([f"{result} = {call}"], result, traced=False)


def draw_branches(scope: Scope) -> bool:
    """Draw a call of `numgrad.cond`, which takes one of two branches."""
    draw = scope.draw
    names = scope.numbers()
    x, y, z = (names[draw.pick(len(names))] for _ in range(3))
    test = f"np.sum(np.real({x})) > {round(draw.rng.uniform(-0.5, 0.5), 2)}"
    branches = f"lambda u: u * np.sin({y}), lambda u: u * 0.5 + {y}"
    result = draw.fresh()
    traced = not scope.traced.isdisjoint((y, z))
    return scope.add([f"{result} = ng.cond({test}, {branches}, {z})"], result, traced=traced)


def scalar_of(scope: Scope, names: list[str]) -> str:
    """Draw an expression of named values whose result is a real number."""
    draw = scope.draw
    names = [n for n in names if np.asarray(scope.values[n]).dtype.kind in "fc"]
    names = names or scope.numbers()[-1:]
    terms = []
    for name in dict.fromkeys(names):
        kinds = (f"np.sin(np.real({name}))", f"np.square(np.real({name}))", f"np.real({name})")
        if is_complex(scope.values[name]):
            kinds = (f"np.imag({name} * {name})", f"np.square(np.real({name}))")
        terms.append(f"np.sum({kinds[draw.pick(len(kinds))]})")
    return " + ".join(terms) if terms else "0.0"


def is_complex(value: Any) -> bool:
    return np.asarray(value).dtype.kind == "c"


# Functions inside ---------------------------------------------------------------------------------


def _draw_arguments(scope: Scope, count: int) -> dict[str, str]:
    """Draw the arguments of an inner function, and return their texts by new parameter names."""
    draw = scope.draw
    names = [n for n in scope.numbers() if np.size(scope.values[n]) <= MOST_ARGUMENTS]
    arguments = {}
    for _ in range(count if names else 0):
        name = names[draw.pick(len(names))]
        whole = np.ndim(scope.values[name]) == 0 and not is_complex(scope.values[name])
        if whole and draw.pick(4) == 0:
            name = str(round(draw.rng.uniform(-1.5, 1.5), 2))
        arguments[draw.fresh("y")] = name
    return arguments


def _draw_function(
    scope: Scope, arguments: dict[str, str], traced: set[str], scalar: bool, aux: bool
) -> str | None:
    """Draw an inner function, add its definition to a scope, and return its name, or None.

    ``traced`` has the parameters that are tensors. With ``scalar`` the function returns a real
    number; with ``aux`` a second result follows.
    """
    draw = scope.draw
    values = {
        parameter: scope.values[name] if name in scope.values else float(name)
        for parameter, name in arguments.items()
    }
    inside = scope.inner(values, traced)
    draw.draw_block(inside, 1 + draw.pick(4))
    made = [n for n in inside.made if n in inside.values]
    closed = [n for n in scope.numbers() if draw.pick(3) == 0][:1]
    if scalar:
        read = list(arguments) if draw.pick(2) else []
        result = scalar_of(inside, read + closed + inside.unread())
    else:
        result = (made or list(arguments))[-1]
        if np.asarray(inside.values[result]).dtype.kind not in "fc":
            return None
    if aux:
        names = inside.numbers()
        result += f", {names[draw.pick(len(names))]}"
    name = draw.fresh("f")
    body = "\n".join(indented([*inside.lines, f"return {result}"]))
    text = f"def {name}({', '.join(arguments)}):\n{body}"
    if not scope.add([text], name, traced=False):
        return None
    scope.made.remove(name)
    return name


def _jit(draw: Drawing, function: str) -> str:
    if not draw.captures:
        return function
    return f'ng.jit({function}, fuse="now")' if draw.fuse else f"ng.jit({function})"


def _maybe_captured(draw: Drawing, function: str) -> str:
    return _jit(draw, function) if draw.pick(5) == 0 else function


# Calls of transforms ------------------------------------------------------------------------------


def _use_gradient(transform: str) -> Any:
    def use(scope: Scope, function: str, given: list[str], aux: bool, several: bool) -> bool:
        draw = scope.draw
        function = _maybe_captured(draw, function)
        options = ", argnums=(0, 1)" if several else ""
        options += ", has_aux=True" if aux else ""
        call = f"ng.func.{transform}({function}{options})"
        call = f"{_maybe_captured(draw, call)}({', '.join(given)})"
        if transform == "hessian" and several:
            return False
        slopes = [draw.fresh() for _ in range(2 if several else 1)]
        target = f"({', '.join(slopes)})" if several else slopes[0]
        results = list(slopes)
        if transform == "value_and_grad":
            value = [draw.fresh() for _ in range(1 + aux)]
            target = f"{f'({value[0]}, {value[1]})' if aux else value[0]}, {target}"
            results += value
        elif aux:
            results.append(draw.fresh())
            target += f", {results[-1]}"
        return scope.add([f"{target} = {call}"], *results, traced=False)

    return use


def _use_vjp(scope: Scope, function: str, given: list[str], aux: bool, several: bool) -> bool:
    draw = scope.draw
    value, pull, extra = draw.fresh(), draw.fresh("p"), [draw.fresh()] if aux else []
    slopes = [draw.fresh() for _ in given]
    options = ", has_aux=True" if aux else ""
    targets = ", ".join([value, pull, *extra])
    lines = [
        f"{targets} = ng.func.vjp({_maybe_captured(draw, function)}, {', '.join(given)}{options})",
        f"({', '.join(slopes)},) = {pull}(np.cos({value}) * 0.5)",
    ]
    return scope.add(lines, value, *extra, *slopes, traced=False)


def _use_jvp(scope: Scope, function: str, given: list[str], aux: bool, several: bool) -> bool:
    draw = scope.draw
    function = _maybe_captured(draw, function)
    tangents = "".join([f"{name} * 0.5 + 0.25, " for name in given])
    results = [draw.fresh() for _ in range(2 + aux)]
    options = ", has_aux=True" if aux else ""
    primals = "".join([f"{name}, " for name in given])
    call = f"ng.func.jvp({function}, ({primals}), ({tangents}){options})"
    return scope.add([f"{', '.join(results)} = {call}"], *results, traced=False)


def _use_linearize(
    scope: Scope, function: str, given: list[str], aux: bool, several: bool
) -> bool:
    draw = scope.draw
    value, along, slopes = draw.fresh(), draw.fresh("p"), [draw.fresh(), draw.fresh()]
    call = f"ng.func.linearize({_maybe_captured(draw, function)}, {', '.join(given)})"
    tangents = [", ".join([f"{x} * {scale} + 0.25" for x in given]) for scale in (0.5, -1.0)]
    lines = [f"{value}, {along} = {call}"]
    lines += [f"{v} = {along}({t})" for v, t in zip(slopes, tangents, strict=True)]
    return scope.add(lines, value, *slopes, traced=False)


def _use_hvp(scope: Scope, function: str, given: list[str], aux: bool, several: bool) -> bool:
    draw = scope.draw
    function = _maybe_captured(draw, function)
    tangents = "".join([f"{name} * 0.5 + 0.25, " for name in given])
    primals = "".join([f"{name}, " for name in given])
    value, slopes = draw.fresh(), [draw.fresh() for _ in given]
    target = f"{value}, ({', '.join(slopes)},)"
    call = f"ng.func.hvp({function}, ({primals}), ({tangents}))"
    return scope.add([f"{target} = {call}"], value, *slopes, traced=False)


def _use_tape(scope: Scope, function: str, given: list[str], aux: bool, several: bool) -> bool:
    draw = scope.draw
    tape = TAPES[draw.pick(len(TAPES))]
    slopes = [draw.fresh() for _ in given]
    text = _maybe_captured(draw, function)
    if draw.pick(4) == 0:
        tape, text = "doubled_gradients", _doubled(draw, text)
    call = f"{tape}({text}, {', '.join(given)})"
    return scope.add([f"({', '.join(slopes)},) = {call}"], *slopes, traced=False)


def _doubled(draw: Drawing, function: str) -> str:
    """Return the first arguments of `doubled_gradients`: the place of the hook, and a function.

    The derivative of the function's last operation reads the result of this operation.
    """
    last = OWN_READERS[draw.pick(len(OWN_READERS))].format(f"{function}(*x)")
    return f"{PLACES[draw.pick(len(PLACES))]!r}, lambda *x: {last}"


def _use_rows(scope: Scope, function: str, given: list[str], aux: bool, several: bool) -> bool:
    draw = scope.draw
    value, seeds, result = draw.fresh(), draw.fresh(), draw.fresh()
    function = _maybe_captured(draw, function)
    if len(given) > 1 or given[0] not in scope.traced:
        return False
    lines = [
        f"{value} = {function}({given[0]})",
        f"{seeds} = np.stack([np.cos({value}), {value} * 0.0 + 0.5])",
        f"{result} = rows({function}, {given[0]}, {seeds})",
    ]
    return scope.add(lines, value, result, traced=False)


_USES: dict[str, Any] = {
    "grad": _use_gradient("grad"),
    "value_and_grad": _use_gradient("value_and_grad"),
    "jacrev": _use_gradient("jacrev"),
    "jacfwd": _use_gradient("jacfwd"),
    "hessian": _use_gradient("hessian"),
    "vjp": _use_vjp,
    "jvp": _use_jvp,
    "linearize": _use_linearize,
    "hvp": _use_hvp,
    "tape": _use_tape,
    "rows": _use_rows,
}


# Observations -------------------------------------------------------------------------------------


def draw_observation(
    draw: Drawing, values: dict[str, Any], given: list[str], leaves: list[str], cost: int
) -> str:
    """Draw the observation: the expression of a program that is compared with the reference.

    ``cost`` is the number of calls of functions that the reference takes for the value alone.
    """
    kinds = [*_values(draw, values, given), *_of_leaves(draw, values, given, leaves)]
    weights = [min(times, 3) if times * cost < CHEAP else 0 for times, _ in kinds]
    if not any(weights):
        return kinds[0][1]
    return draw.rng.choices([text for _, text in kinds], weights)[0]


def _values(
    draw: Drawing, values: dict[str, Any], given: list[str]
) -> list[tuple[int, str]]:
    """Return possible observations of derivatives by the arguments, as pairs of cost and source.

    A cost is how many times the cost of the value alone the reference takes.
    """
    arguments = ", ".join(given)
    tensors = ", ".join([f"ng.tensor({name})" for name in given])
    differentiable = [n for n, name in enumerate(given) if is_number(values[name])]
    count = 7 * sum(_parts(values[given[n]]) for n in differentiable)
    first = 7 * _parts(values[given[0]])
    rest = ", ".join([given[0], *(f"ng.tensor({name})" for name in given[1:])])
    gradient = f"ng.func.grad(main, argnums={tuple(differentiable)})"
    main = _maybe_captured(draw, "main")
    tangents = "".join([f"{name} * 0.5 + 0.25, " for name in given])
    primals = "".join([f"{name}, " for name in given])
    kinds = [
        (1, f"{main}({tensors})"),
        (count, f"{gradient}({arguments})"),
        (count, f"{_jit(draw, gradient)}({arguments})"),
        (count, f"{gradient.replace('main', _jit(draw, 'main'))}({arguments})"),
        (count, f"{TAPES[draw.pick(3)]}({main}, {arguments})"),
        (count, f"doubled_gradients({_doubled(draw, main)}, {arguments})"),
        (7, f"ng.func.jvp({main}, ({primals}), ({tangents}))"),
        (7 * count, f"ng.func.hvp({main}, ({primals}), ({tangents}))"),
    ]
    if not any(map(is_complex, values.values())):
        slope = f"ng.func.grad({main})"
        others = "".join([f", ng.tensor({name})" for name in given[1:]])
        seeds = f"np.stack([{given[0]} - 0.25, {given[0]} * 0.0 + 0.5])"
        kinds += [
            (2 * first * first, f"rows(lambda x: {slope}(x{others}), {given[0]}, {seeds})"),
            (first * first, f"ng.func.hessian({main})({rest})"),
            (first * first, f"ng.func.jacfwd({slope})({rest})"),
            (first * first, f"{_jit(draw, f'ng.func.jacrev({slope})')}({rest})"),
        ]
    return kinds


def _of_leaves(
    draw: Drawing, values: dict[str, Any], given: list[str], leaves: list[str]
) -> list[tuple[int, str]]:
    """Return possible observations of derivatives by leaves that the function closes over.

    They are pairs as in `_values`.
    """
    if not leaves:
        return []
    tensors = ", ".join([f"ng.tensor({name})" for name in given])
    rest = ", ".join([given[0], *(f"ng.tensor({name})" for name in given[1:])])
    count = 7 * sum(_parts(values[name]) for name in leaves)
    first = 7 * _parts(values[given[0]])
    call = f"leaf_gradients(lambda: main({tensors}), {', '.join(leaves)})"
    slope = f"np.sum(np.real(ng.func.grad(main)({rest})) ** 2)"
    return [
        (count, call),
        (count, call.replace("main", _jit(draw, "main"))),
        (first * count, f"leaf_gradients(lambda: {slope}, {', '.join(leaves)})"),
    ]


def _parts(value: Any) -> int:
    return np.size(value) * (1 + is_complex(value))


def is_number(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "fc"
