"""Notice when SciPy's modules are imported, so that those who do not use SciPy do not wait for it.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

NAMESPACES = ("scipy._external.array_api_compat", "scipy._lib.array_api_compat")
"""The modules in which SciPy looks up the library of its arguments, by versions."""

HOMES = ("scipy._lib._array_api_override", "scipy._lib._array_api")
"""The modules in which SciPy's function for the library of arguments is defined, by versions."""

MODULES = frozenset(
    {"scipy.cluster.hierarchy", "scipy.cluster.vq", "scipy.constants", "scipy.differentiate",
     "scipy.fft", "scipy.integrate", "scipy.interpolate", "scipy.linalg", "scipy.ndimage",
     "scipy.optimize", "scipy.optimize.elementwise", "scipy.signal", "scipy.signal.windows",
     "scipy.sparse", "scipy.sparse.linalg", "scipy.spatial.distance",
     "scipy.spatial.transform", "scipy.special", "scipy.stats", *NAMESPACES, *HOMES}
)  # fmt: skip
"""SciPy's modules that have something with a counterpart in numgrad, or compute with arrays of any
library."""


class _Loader:
    """A loader that tells when the code of a module has run."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        loader = self._loader
        module.__loader__ = loader
        if module.__spec__ is not None:
            module.__spec__.loader = loader
        loader.exec_module(module)
        _installation().install([module])


class _Finder:
    """A finder that asks all others, and looks after the modules that are listed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in MODULES:
            return None
        others = (f for f in list(sys.meta_path) if f is not self and hasattr(f, "find_spec"))
        spec = next(filter(None, (f.find_spec(name, path, target) for f in others)), None)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


_finder = _Finder()


def watch() -> None:
    """Let SciPy take tensors, in modules that are imported already and in later ones."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)  # type: ignore[arg-type]
    present = [sys.modules[name] for name in sorted(MODULES) if is_loaded(name)]
    if present:
        _installation().install(present)


def leave() -> None:
    """Put SciPy's modules back, and leave those alone that are still to come."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)  # type: ignore[arg-type]
    installation = sys.modules.get(f"{__package__}.install")
    if installation is not None:
        installation.take_out()


def is_loaded(name: str) -> bool:
    """Whether a module is there as a whole."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    return module is not None and not getattr(spec, "_initializing", False)


def _installation() -> Any:
    return import_module(".install", __package__)
