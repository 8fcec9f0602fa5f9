"""Functions that NumPy computes, now and in programs: of bits, neighbours, places and bins."""

from typing import Any

import numpy as np

from ..._declare import NumPyFunction

gcd = NumPyFunction(np.gcd, "(),()->()")
lcm = NumPyFunction(np.lcm, "(),()->()")
spacing = NumPyFunction(np.spacing, "()->()")
bitwise_count = NumPyFunction(np.bitwise_count, "()->()")
frexp = NumPyFunction(np.frexp, "()->(),()")
nextafter = NumPyFunction(np.nextafter, "(),()->()", differentiable=True)
nextafter.reads(lambda needs: (False, False, False))
nextafter.pullback(lambda context, g: (g, None))

# Places


def _stacked(position: np.ndarray, **options: Any) -> np.ndarray:
    return np.stack(np.unravel_index(position, **options), -1)


unravel_index = NumPyFunction(
    _stacked, "()->(d)", name="unravel_index", results=["int64"],
    sizes=lambda known, shape, order: {"d": len(shape)},
)  # fmt: skip
ravel_multi_index = NumPyFunction(
    lambda index, **options: np.ravel_multi_index(tuple(index), **options), "(d)->()",
    name="ravel_multi_index", results=["int64"],
)  # fmt: skip

# Sums of products of integers: of other numbers they are `convolution.slide`

correlate = NumPyFunction(
    lambda a, v, mode, count: np.correlate(a, v, mode), "(n),(m)->(k)", name="correlate",
    sizes=lambda known, mode, count: {"k": count},
)  # fmt: skip

# Bins

digitize = NumPyFunction(np.digitize, "(n),(b)->(n)", results=["int64"])


class _Edges(NumPyFunction):
    """Edges in the dtype that NumPy finds for some elements."""

    def result_dtypes(self, dtypes: Any) -> list[np.dtype]:
        return [np.histogram_bin_edges(np.ones(1, dtypes[0]), 1).dtype]


equal_bins = _Edges(
    lambda x, bins, limits: np.histogram_bin_edges(x, bins, limits), "(n)->(e)",
    name="equal_bins", sizes=lambda known, bins, limits: {"e": bins + 1},
)  # fmt: skip
ascending = NumPyFunction(
    lambda edges: np.histogram_bin_edges((), edges), "(e)->(e)", name="ascending"
)
