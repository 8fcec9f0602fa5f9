"""Ask torch for values and derivatives at the scenarios, and store its numbers beside this file.

Run in an environment that has torch and numgrad: ``python -m tests.oracles.generate``.
The files say with which version they were made. Tests read them and need no torch.
"""

import json
import sys

import torch

from numgrad.testing.scenarios import CHAPTERS

from .cases import FOLDER, cases, direction, encode, fingerprint
from .torch_functions import function_of


def ask(function, case):
    """Return value, gradient and, at smooth points, second derivative along fixed directions."""
    inputs = [torch.from_numpy(a.copy()) for a in case.point]
    variables = [x.requires_grad_() for x in inputs if x.is_floating_point() or x.is_complex()]
    result = function(*inputs)
    outputs = result if isinstance(result, tuple) else (result,)
    seeds = [torch.from_numpy(direction(y, n).copy()) for n, y in enumerate(outputs)]
    gradients = torch.autograd.grad(outputs, variables, seeds, create_graph=True, allow_unused=True)
    found = {"value": stored(outputs), "gradient": stored(filled(gradients, variables))}
    if case.smooth:
        found["second"] = stored(filled(second(gradients, variables), variables))
    return found


def second(gradients, variables):
    """Differentiate the gradients along fixed directions."""
    pairs = [
        (g, torch.from_numpy(direction(g, n, 0.53).copy()))
        for n, g in enumerate(gradients)
        if g is not None and g.requires_grad
    ]
    if not pairs:
        return [None] * len(variables)
    return torch.autograd.grad(
        *([p[0] for p in pairs], variables, [p[1] for p in pairs]), allow_unused=True
    )


def filled(gradients, variables):
    return [
        torch.zeros_like(x) if g is None else g for g, x in zip(gradients, variables, strict=True)
    ]


def stored(tensors):
    return [encode(t.detach().numpy(force=True)) for t in tensors]


def chapter_numbers(scenarios):
    """Return the numbers of a chapter, and say where torch has no answer."""
    numbers = {}
    for scenario in scenarios:
        if not (scenario.order and scenario.oracle):
            continue
        numbers[scenario.name] = {}
        for case in cases(scenario):
            try:
                answer = ask(function_of(scenario.name), case)
            except (RuntimeError, NotImplementedError, TypeError) as error:
                print(f"{scenario.name}, {case.key}: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
            numbers[scenario.name][case.key] = {"inputs": fingerprint(case.point), **answer}
    return numbers


def main():
    for chapter, scenarios in CHAPTERS.items():
        numbers = chapter_numbers(scenarios)
        if numbers:
            lines = ",\n".join(
                f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in numbers.items()
            )
            text = f'{{"made with": "torch {torch.__version__}",\n{lines}}}\n'
            (FOLDER / f"{chapter}.json").write_text(text)


if __name__ == "__main__":
    main()
