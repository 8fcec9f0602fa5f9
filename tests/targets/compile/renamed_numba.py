"""A program on a Numba whose private names are others: ``python renamed_numba.py NAME ...``.

Numba's sources are read, the names are replaced in them wherever they stand, and the modules are
made of the result. So Numba works, and who looks for one of the names finds none. The program
computes with kernels of every sort and prints what it found to be wrong.
"""

import importlib.abc
import importlib.machinery
import re
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any


class _Loader(importlib.machinery.SourceFileLoader):
    """A loader of a module in whose source names are replaced."""

    pattern: re.Pattern[str]

    def get_code(self, fullname: str) -> Any:
        text = self.get_source(fullname)
        assert text is not None
        renamed = self.pattern.sub(r"_elsewhere\1", text)
        if renamed == text:
            return super().get_code(fullname)  # Python may have it compiled
        return compile(renamed, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    """A finder of Numba's modules."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> Any:
        if name.partition(".")[0] != "numba":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def rename(names: Sequence[str]) -> None:
    """Give private names of Numba other names, in a process that has not imported Numba."""
    if not names:
        return
    assert "numba" not in sys.modules
    _Loader.pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)")
    sys.meta_path.insert(0, _Finder())


def main() -> None:
    """Compute, and say what is wrong."""
    rename(sys.argv[1:])
    import numba
    import numpy as np

    import numgrad as ng

    def check(what: str, found: Any, expected: Any) -> None:
        numbers = found.detach().numpy() if isinstance(found, ng.Tensor) else found
        if not np.allclose(numbers, expected, rtol=1e-12):
            print(what, numbers, expected)

    x = ng.tensor(np.linspace(0.5, 2.0, 6).reshape(2, 3), requires_grad=True)
    a = x.detach().numpy()
    (g,) = ng.grad((ng.sin(x) * x / (1 + x)).sum(), x)
    check("elementwise", g, np.cos(a) * a / (1 + a) + np.sin(a) / (1 + a) ** 2)
    (g,) = ng.grad(ng.logsumexp(x, 1).sum() + ng.cumsum(x, 0).max() + ng.sort(x, 1)[:, 0].sum(), x)
    weights = np.exp(a) / np.exp(a).sum(1, keepdims=True)
    check("reductions", g, weights + [[1, 0, 1], [1, 0, 1]])
    b = a[:, :2] @ a[:, :2] + np.eye(2)
    y = ng.tensor(b, requires_grad=True)
    (g,) = ng.grad(ng.linalg.inv(y).sum() + ng.linalg.det(y), y)
    inverse = np.linalg.inv(b)
    expected = np.linalg.det(b) * inverse.T - np.outer(inverse.sum(0), inverse.sum(1))
    check("linear algebra", g, expected)
    (g,) = ng.grad(abs(ng.fft.rfft(x[0])[1]) ** 2, x)
    check("transforms", g.sum(), 0)

    @numba.vectorize
    def cubed(u: Any) -> Any:
        return u**3

    @numba.njit
    def ramp(u: Any) -> Any:
        return cubed(u) if u > 1 else u * u * u

    @ng.elementwise
    def ramped(u: Any) -> Any:
        return ramp(u)

    @ramped.partial("u")
    def ramped_slope(u: Any) -> Any:
        return 3 * u * u

    check("an operator of the user", ramped(x), a**3)
    (g,) = ng.grad(ramped(x).sum(), x)
    check("its derivative", g, 3 * a**2)

    @ng.njit
    def walk(u: Any) -> Any:
        total = np.zeros(3)
        for row in u:
            total += row * total + row
        return np.linalg.solve(np.diag(total + 1), total).sum()

    (g,) = ng.grad(walk(x), x)
    total = a[1] * a[0] + a[0] + a[1]
    expected = [(a[1] + 1) / (total + 1) ** 2, (a[0] + 1) / (total + 1) ** 2]
    check("a loop of the user", g, expected)

    captured = ng.jit(ng.func.value_and_grad(lambda u: (ng.exp(u) @ ng.arange(3.0)).sum()))
    for _ in range(3):
        value, g = captured(a)
    check("a captured function", value, (np.exp(a) @ np.arange(3.0)).sum())
    check("its derivative", g, np.exp(a) * np.arange(3.0))
    (rows,) = ng.grad(ng.sin(x).sum(1), x, grad_outputs=np.eye(2), is_grads_batched=True)
    check("a batched pass", rows, np.cos(a) * np.eye(2)[:, :, None])
    single = ng.tensor(a.astype(np.float32), requires_grad=True)
    y = 0.1 * single**2 + 1 / (3 + single)
    assert y.dtype == np.float32
    (g,) = ng.grad(y.sum(), single)
    error = abs(g.numpy() - (0.2 * a - 1 / (3 + a) ** 2)).max()
    assert error < 1e-6, error
    print("computed")


if __name__ == "__main__":
    main()
