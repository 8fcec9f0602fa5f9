"""Which files of numgrad a call passes, in order: ``python docs/engine/walk.py sin [--cold]``.

The walks are ``sin``, ``grad``, ``batched``, ``create_graph`` and ``jit``. Each runs in a process
of its own with a kernel cache of its own, which an earlier process has filled; with ``--cold`` it
is empty. A file counts where one of its Python functions is called; what runs when a module is
imported does not, nor does compiled code. With ``--brief`` only numbers and files are printed.
"""

import argparse
import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

Called = list[tuple[str, str]]
"""Functions: the file of each, below ``numgrad/``, and its qualified name."""

_FUNCTION = 1  # CO_OPTIMIZED, which the bodies of modules and classes have not
_IMPORTING = "find_spec"  # Python asks for each module that is imported


def called(call: Callable[[], Any]) -> Called:
    """Return the functions of numgrad that a call enters, in order of their first calls."""
    import numgrad

    root = os.path.dirname(numgrad.__file__) + os.sep
    found: dict[tuple[str, str], None] = {}
    imports = 0

    def look(frame: Any, event: str, arg: Any) -> None:
        nonlocal imports
        code = frame.f_code
        if code.co_name == "<module>":
            imports += (event == "call") - (event == "return")
        elif event == "call" and not imports and code.co_flags & _FUNCTION:
            path = code.co_filename
            if path.startswith(root) and code.co_name != _IMPORTING:
                file = path[len(root) :].replace(os.sep, "/")
                found[file, code.co_qualname.split(".<locals>")[0]] = None

    gc.disable()  # the collector calls `gc_pause._note` whenever it happens to run
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    return list(found)


def by_file(functions: Called) -> dict[str, list[str]]:
    """Return the files of functions, each with its functions, in order of the first calls."""
    files: dict[str, list[str]] = {}
    for file, name in functions:
        files.setdefault(file, []).append(name)
    return files


def walks(name: str) -> Iterator[tuple[str, Called]]:
    """Yield the functions that each of several calls in a row enters."""
    import numpy as np

    import numgrad as ng
    from numgrad.engine.fusion import policy

    ng.set_flags(numpy="never")  # NumPy's constructors are no steps of numgrad
    policy._INSTRUCTION = 1.0  # on a busy machine nothing is fused meanwhile
    x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    if name == "sin":
        for number in range(1, 104):
            found = called(lambda: ng.sin(x))
            if number in (1, 2, 101, 102):
                yield f"call {number}", found
    elif name == "jit":
        f = ng.jit(lambda x: ng.sin(x) * x + ng.exp(x))
        pair = ng.jit(lambda pair: ng.sin(pair[0]) * pair[1])
        array = np.array([1.0, 2.0, 3.0])
        for kind, call in [
            ("array", lambda: f(array)),
            ("tensor", lambda: f(x)),
            ("tuple", lambda: pair((array, array))),
        ]:
            for number in (1, 2):
                yield f"{kind}, call {number}", called(call)
    else:
        options: dict[str, Any] = {"create_graph": name == "create_graph"}
        if name == "batched":
            options = {"grad_outputs": np.eye(3), "is_grads_batched": True}
        for number in range(1, 6):
            y = ng.sin(x) * x + ng.exp(x)
            yield f"pass {number}", called(lambda y=y: ng.grad(y, x, **options))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=["sin", "grad", "batched", "create_graph", "jit"])
    parser.add_argument("--cold", action="store_true", help="with an empty kernel cache")
    parser.add_argument("--brief", action="store_true", help="no functions")
    parser.add_argument("--here", action="store_true", help="in this process")
    options = parser.parse_args()
    if not options.here:
        with tempfile.TemporaryDirectory() as directory:
            settings = {k: v for k, v in os.environ.items() if not k.startswith("NUMGRAD_")}
            settings["NUMGRAD_CACHE_DIR"] = directory
            command = [sys.executable, __file__, "--here", *sys.argv[1:]]
            if not options.cold:
                subprocess.run(command, env=settings, check=True, stdout=subprocess.DEVNULL)
            subprocess.run(command, env=settings, check=True)
        return
    for title, functions in walks(options.name):
        files = by_file(functions)
        print(f"{title}: {len(files)} files")
        for number, (path, names) in enumerate(files.items(), 1):
            print(f"{number:4} {path}" + ("" if options.brief else f": {', '.join(names)}"))


if __name__ == "__main__":
    main()
