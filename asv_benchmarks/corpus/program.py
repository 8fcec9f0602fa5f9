"""A program of the corpus, and families of programs that compute the same in other words.

A text is a function ``text(np, *variables, *constants)``, where ``np`` has NumPy's names in the
arrays of some library. What the libraries spell differently has one name in all of them
(`libraries.numpy` lists these): ``np.put``, ``np.iterate``, ``np.fold``, ``np.logsumexp``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Text = Callable[..., Any]

GRADIENT, JACOBIAN, HVP, HESSIAN = "gradient", "jacobian", "hvp", "hessian"


@dataclass(frozen=True)
class Program:
    """One text, its inputs, and which derivative is taken.

    Attributes
    ----------
    family, formulation : str
        What is computed, and how it is written.
    text : callable
        ``text(np, *variables, *constants)``. It returns a scalar; an array where ``derivative`` is
        the Jacobian.
    inputs : callable
        ``inputs(rng, n)`` returns a tuple: ``wrt`` float arrays to differentiate, then constants.
    size, tiny : int
        The ``n`` that is measured, and that of the tests.
    derivative : {"gradient", "jacobian", "hvp", "hessian"}
        For a Jacobian ``rows`` random cotangents are pulled back in one call; for a Hessian-vector
        product there is one random direction.
    as_written : bool
        Constants reach numgrad as they are, lists and NumPy scalars included, from the enclosing
        scope. Other programs get them as arguments, arrays of floats as tensors.
    varying : callable, optional
        ``varying(k, n)`` returns the constants of the k-th call, each call with others.
    own : mapping
        A text of its own for a library, where that is how it is written there.
    without : mapping
        Library, or way, to the reason why it has no such program.
    """

    family: str
    formulation: str
    text: Text
    inputs: Callable[[np.random.Generator, int], tuple[Any, ...]]
    size: int
    tiny: int
    wrt: int = 1
    derivative: str = GRADIENT
    rows: int = 0
    as_written: bool = False
    varying: Callable[[int, int], tuple[Any, ...]] | None = None
    own: Mapping[str, Text] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    siblings: bool = True

    @property
    def name(self) -> str:
        return f"{self.family}: {self.formulation}"

    def of(self, library: str) -> Text:
        """Return the text that a library runs."""
        return self.own.get(library, self.text)

    def at(self, n: int) -> "Problem":
        """Return the program with its arrays, always the same ones."""
        rng = np.random.default_rng(7)
        given = self.inputs(rng, n)
        variables = tuple(np.asarray(x) for x in given[: self.wrt])
        directions = tuple(np.asarray(rng.standard_normal(x.shape)) for x in variables)
        return Problem(self, n, variables, given[self.wrt :], directions)


class Problem:
    """A program of one size with its arrays."""

    def __init__(
        self,
        program: Program,
        n: int,
        variables: tuple[np.ndarray, ...],
        constants: tuple[Any, ...],
        directions: tuple[np.ndarray, ...],
    ) -> None:
        self.program, self.n = program, n
        self.variables, self.constants = variables, constants
        self.directions = directions

    def rows(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the cotangents of a result of a shape."""
        return np.random.default_rng(3).standard_normal((self.program.rows, *shape))

    def constants_at(self, k: int) -> tuple[Any, ...]:
        """Return the constants of the k-th call."""
        varying = self.program.varying
        return self.constants if varying is None else varying(k, self.n)


class Family:
    """Programs that compute the same; or, with ``siblings=False``, merely the same kind of thing.

    Only among siblings is the slowest compared with the fastest.
    """

    def __init__(self, name: str, **options: Any) -> None:
        self.programs: list[Program] = []
        self.name, self.options = name, options

    def add(self, formulation: str, text: Text, **options: Any) -> None:
        """Add a formulation by name."""
        own = {**self.options, **options}
        self.programs.append(Program(self.name, formulation, text, **own))

    def program(self, text: Text | None = None, **options: Any) -> Any:
        """Add the decorated function, whose name says how it is written."""
        if text is None:
            return lambda text: self.program(text, **options)
        self.add(text.__name__.replace("_", " "), text, **options)
        return text

    def derived(self, name: str, **options: Any) -> "Family":
        """Return the same texts as another family: with another size or derivative."""
        other = Family(name)
        other.programs = [replace(p, family=name, **options) for p in self.programs]
        return other


def alone(families: list[Family], name: str, **options: Any) -> Callable[[Text], Text]:
    """Return a decorator that adds the only program of a new family to ``families``."""
    families.append(Family(name, siblings=False, **options))
    return families[-1].program
