#!/usr/bin/env bash
# Arrays of NumPy 2 have up to 64 axes, and a part of its functions takes 32.
#
# One would expect: since NumPy 2.0 an array has up to 64 axes, and what works on one of 32 works on one of 33.
# What happens: arithmetic, reductions, products, indexing, cumsum and einsum do. broadcast_shapes, broadcast_arrays, sort,
# argsort, lexsort, partition, median, quantile, choose and ndarray.flat raise a RuntimeError that speaks of "this
# function" and names none; broadcast_shapes raises it for shapes alone, although arrays of these shapes can be added.
#
# Seen with NumPy 2.4.6.
#
# Why it matters: tensor networks and states of many qubits have one axis of size 2 (or 1) for each site; code that counts
# on the limit of 64 fails in the middle, at the first median or explicit broadcast.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6

cat > "$folder/seen.py" <<'EOF'
import numpy as np

x = np.arange(6.0).reshape((1,) * 31 + (2, 3))
tried = {
    "add": lambda: x + np.ones(3),
    "sum": lambda: x.sum(axis=-1),
    "matmul": lambda: x @ x.swapaxes(-1, -2),
    "cumsum": lambda: np.cumsum(x, axis=-1),
    "einsum": lambda: np.einsum("...i->...", x),
    "broadcast_to": lambda: np.broadcast_to(x, (4, *x.shape)),
    "broadcast_shapes": lambda: np.broadcast_shapes(x.shape, (3,)),
    "broadcast_arrays": lambda: np.broadcast_arrays(x, x[..., :1]),
    "sort": lambda: np.sort(x),
    "argsort": lambda: np.argsort(x),
    "median": lambda: np.median(x, axis=-1),
    "quantile": lambda: np.quantile(x, 0.3, axis=-1),
    "flat": lambda: x.flat[0],
}
refused = []
for name, call in tried.items():
    try:
        call()
        print(f"{name}: a result")
    except RuntimeError as error:
        refused.append(name)
        print(f"{name}: RuntimeError: {error}")
if refused != [*tried][6:]:
    raise SystemExit("other functions refuse 33 axes now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
