"""Run every benchmark once in this process: ``python -m asv_benchmarks.once``.

One that raises ends the run. Of parameters that are numbers the first is taken, of names all.
"""

import importlib
import inspect
import itertools
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from . import benchmarks

sys.path.append(benchmarks.__path__[0])
KINDS = ("time_", "track_", "peakmem_", "mem_")
SOURCE = "timeraw_"  # such a benchmark returns a program


def run_module(name: str) -> int:
    """Run the benchmarks of a module; return their number."""
    module = importlib.import_module(f"{benchmarks.__name__}.{name}")
    things = [thing for thing in vars(module).values() if _is_defined_in(module, thing)]
    classes = [thing for thing in things if inspect.isclass(thing)]
    functions = [thing for thing in things if inspect.isfunction(thing)]
    count = sum([_run(function) for function in functions])
    return count + sum([_run_class(made) for made in classes])


def _is_defined_in(module: Any, thing: Any) -> bool:
    return getattr(thing, "__module__", None) == module.__name__


def _run(function: Any, *given: Any) -> int:
    if function.__name__.startswith(SOURCE):
        subprocess.run([sys.executable, "-c", inspect.cleandoc(function())], check=True)
        return 1
    if not function.__name__.startswith(KINDS):
        return 0
    function(*given)
    return 1


def _run_class(made: Any) -> int:
    names = [name for name, _ in inspect.getmembers(made, inspect.isfunction)]
    cached = (made().setup_cache(),) if "setup_cache" in names else ()
    count = 0
    for chosen in _parameters(made):
        given = (*cached, *chosen)
        for name in names:
            if name.startswith((*KINDS, SOURCE)):
                one = made()
                try:
                    getattr(one, "setup", lambda *_: None)(*given)
                except NotImplementedError:  # not on this machine
                    continue
                count += _run(getattr(one, name), *given)
                getattr(one, "teardown", lambda *_: None)(*given)
    return count


def _parameters(made: Any) -> Iterator[tuple[Any, ...]]:
    params = getattr(made, "params", ())
    axes = params if params and isinstance(params[0], list | tuple) else [params] if params else []
    return itertools.product(*[
        [value for n, value in enumerate(axis) if n == 0 or isinstance(value, str)] for axis in axes
    ])  # fmt: skip


def main() -> None:
    """Run all modules."""
    for module in pkgutil.iter_modules(benchmarks.__path__):
        print(f"{module.name}: {run_module(module.name)} benchmarks", flush=True)


if __name__ == "__main__":
    main()
