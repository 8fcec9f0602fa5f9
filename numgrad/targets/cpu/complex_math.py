"""The ``math`` of complex kernels: what `cmath` offers and the few names that only `math` has.

A name that is missing here has no complex version, and a kernel that uses it is refused.
"""

from cmath import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]
