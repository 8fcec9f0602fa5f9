"""The table of operators: ``python docs/operator_table.py`` writes its page from the registry."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from numgrad._declare import Elementwise, HostOperator, KernelOperator, Operator, registry
from numgrad.testing.scenarios import CHAPTERS, NONDIFFERENTIABLE, Scenario

PAGE = Path(__file__).with_name("operator_table.md")
HEAD = """# Operators

Every function of numgrad is made of the operators on this page, and so are their derivatives: that
is why there are derivatives of any order, batches of them and forward mode for all. The page is
written by `docs/operator_table.py` from the registry and from the scenarios that the tests run.

- *tried on*: the domain of each argument on which values and two derivatives are tested at
  ordinary points; ends of domains, ties and infinities are on [their own page](special_points.md).
- *derivative*: a partial derivative as it is declared (`y` is the value, `x` the arguments), or the
  operators that the derivative is made of.
- *keeps*: what a node keeps until its gradient was taken, by position: `x0` is the first input, `y`
  the output.
- *dtypes*: *real* is float32 and float64, *complex* complex64 and complex128, *half* float16,
  computed in float32. Integers and booleans are taken by all, without a gradient.
"""
NONE = "-"


def _expression(function: Callable[..., Any]) -> str:
    """Return what a function computes, as it is written: its steps, and what it returns."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    found = next(n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda)))
    if isinstance(found, ast.Lambda):
        return _plain(found.body)
    steps = [line for line in found.body if not isinstance(line, ast.Expr)]
    return "; ".join(
        _plain(line.value if isinstance(line, ast.Return) and line.value else line)
        for line in steps
    )


def _plain(node: ast.AST) -> str:
    return ast.unparse(node).replace("math.", "")


def _partials(operator: Elementwise) -> str:
    texts = []
    for position, partial in sorted(operator.partials.items()):
        name = operator.parameters[position]
        shown = getattr(operator, "formulas", {}).get(name) or _expression(partial.function)
        texts.append(f"d{name}: `{shown}`")
    return ", ".join(texts).replace("|", "\\|")


def _named(code: CodeType) -> Iterator[str]:
    """Yield the names in the code of a function and of those within it."""
    yield from (*code.co_names, *code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _named(constant)


def _made_of(pullback: Callable[..., Any]) -> list[str]:
    """Return the operators that a pullback names, itself or in functions of its own module."""
    found: dict[str, None] = {}
    todo, seen = [inspect.unwrap(pullback)], set()
    while todo:
        function = todo.pop(0)
        code = getattr(function, "__code__", None)
        if code is None or code in seen:
            continue
        seen.add(code)
        known = function.__globals__ | inspect.getclosurevars(function).nonlocals
        for name in _named(code):
            value = known.get(name)
            if isinstance(value, Operator):
                found[value.name] = None
            elif getattr(value, "__module__", "").startswith("numgrad.operators"):
                todo.append(value)
    return list(found)


def _derivative(operator: Operator) -> str:
    if operator.name in NONDIFFERENTIABLE:
        return NONE
    if isinstance(operator, Elementwise) and operator.partials:
        return _partials(operator)
    pullback = operator._pullback or type(operator).differentiate
    made = _made_of(pullback)
    return ", ".join(f"`{name}`" for name in made) if made else "a change of shape or place"


def _keeps(operator: Operator, scenarios: Sequence[Scenario]) -> str:
    if operator.name in NONDIFFERENTIABLE:
        return NONE
    saved = list(operator.saves((True,) * _inputs(operator, scenarios)))
    names = [f"x{n}" for n in range(len(saved) - operator.nout)]
    names += ["y"] if operator.nout == 1 else [f"y{n}" for n in range(operator.nout)]
    kept = [name for name, is_kept in zip(names, saved, strict=True) if is_kept]
    return ", ".join(f"`{name}`" for name in kept) or "nothing"


def _inputs(operator: Operator, scenarios: Sequence[Scenario]) -> int:
    if isinstance(operator, Elementwise):
        return len(operator.parameters)
    if isinstance(operator, KernelOperator):
        return len(operator.signature.inputs)
    return len(scenarios[0].points[0])


def _dtypes(scenarios: Sequence[Scenario]) -> str:
    kinds = {dtype.rstrip("0123456789") for s in scenarios for dtype in s.dtypes}
    names = [word for word, kind in (("real", "float"), ("complex", "complex")) if kind in kinds]
    return ", ".join(names + ["half"] * any(s.half for s in scenarios))


def _domain(scenarios: Sequence[Scenario]) -> str:
    for scenario in scenarios:
        if scenario.domains:
            return ", ".join(f"[{low:g}, {high:g}]" for low, high in scenario.domains)
    return "any"


def _signature(operator: Operator) -> str:
    if isinstance(operator, KernelOperator):
        return f"{operator.signature}" + (" (host)" if isinstance(operator, HostOperator) else "")
    return "elementwise" if isinstance(operator, Elementwise) else NONE


def _rows(scenarios: Sequence[Scenario], done: set[str]) -> Iterator[str]:
    for name in sorted({name for s in scenarios for name in s.operators} - done):
        done.add(name)
        own = [s for s in scenarios if name in s.operators]
        operator = registry[name]
        cells = (
            f"`{name}`", _signature(operator), _domain(own), _derivative(operator),
            _keeps(operator, own), _dtypes(own),
        )  # fmt: skip
        yield f"| {' | '.join(cells)} |"


def page() -> str:
    """Return the text of the page."""
    lines, done = [HEAD], set()
    for chapter, scenarios in CHAPTERS.items():
        rows = list(_rows(scenarios, done))
        if rows:
            lines += [f"## {chapter.capitalize()}", ""]
            lines += ["| operator | signature | tried on | derivative | keeps | dtypes |"]
            lines += ["|---|---|---|---|---|---|", *rows, ""]
    assert done == set(registry), f"not in the table: {set(registry) - done}"
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
