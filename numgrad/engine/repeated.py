"""Values that several kernels would compute again, and of which storing is cheaper."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

from .expand import Step
from .storing import AGAIN, LOAD, Root, Values, cost_of


def computed_twice(values: Values, groups: Sequence[Sequence[int]]) -> set[int]:
    """Return the instructions that several kernels would compute, where storing is cheaper; but not
    those that only go into others that the same kernels compute."""
    kernels = [[values.roots[number] for number in group] for group in groups]
    contents = [_contents(kernel) for kernel in kernels]
    counts = Counter(chain.from_iterable(contents))
    several = {key for key, count in counts.items() if count > 1}
    steps: dict[int, Step] = {}  # by their keys; of several the first
    for root in reversed([*chain.from_iterable(kernels)]):
        steps.update(root.steps)
    dear = {key for key in several if values.prices[steps[key].number] * (counts[key] - 1) > AGAIN}
    costly = [steps[key] for key in dear - _inner(dear, [steps[key] for key in several], contents)]
    uses = _uses(kernels, contents, costly)
    numbers = {step.number for step in costly}
    return {
        step.number
        for step in costly
        if _rest_price(values, step, numbers) * (uses[step.key] - 1) > AGAIN
    }


def _contents(kernel: Sequence[Root]) -> Collection[int]:
    """Return the keys of the steps of a kernel."""
    if len(kernel) == 1:
        return kernel[0].steps.keys()
    return set[int]().union(*[root.steps for root in kernel])


def _inner(
    dear: set[int], users: Sequence[Step], contents: Sequence[Collection[int]]
) -> set[int]:
    """Return those of some steps that go into one of their users in all kernels that compute
    them."""
    pairs = [
        (arg.key, user.key)
        for user in users
        for arg in user.args
        if type(arg) is Step and arg.key in dear
    ]
    owners: dict[int, set[int]] = {key: set() for pair in pairs for key in pair}
    for place, keys in enumerate(contents):
        for key in owners.keys() & keys:
            owners[key].add(place)
    return {arg for arg, user in pairs if owners[user] >= owners[arg]}


def _uses(
    kernels: Sequence[Sequence[Root]], contents: Sequence[Collection[int]], costly: Sequence[Step]
) -> Counter[int]:
    """Return how many kernels would read each of some steps if all of them were stored."""
    uses: Counter[int] = Counter()
    keys = {step.key for step in costly}
    terms: list[list[Any]] = [
        [root.term for root in kernel]
        for kernel, content in zip(kernels, contents, strict=True)
        if not keys.isdisjoint(content)
    ]
    for todo in (*terms, *[[*step.args] for step in costly]):
        seen: set[int] = set()
        while todo:
            term = todo.pop()
            if type(term) is not Step or term.key in seen:
                continue
            seen.add(term.key)
            if term.key in keys:
                uses[term.key] += 1
            else:
                todo += term.args
    return uses


def _rest_price(values: Values, step: Step, stored: Collection[int]) -> int:
    """Return the price of a step if the instructions in ``stored`` were stored, but not its own."""
    cost, loads = cost_of(step.spec), set()
    seen: set[int] = set()
    todo = [*step.args]
    while todo:
        arg = todo.pop()
        if type(arg) is not Step:
            if not arg.is_number:
                loads.add(arg.buffer)
        elif arg.number in stored:
            loads.add(-1 - arg.number)
        elif arg.key not in seen:
            seen.add(arg.key)
            cost += cost_of(arg.spec)
            todo += arg.args
    return cost + LOAD * max(0, len(loads) - 1)
