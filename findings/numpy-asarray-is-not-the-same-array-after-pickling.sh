#!/usr/bin/env bash
# np.asarray(x, dtype=float) returns x itself, unless x has been in another process: then it returns another object.
#
# One would expect: for an array of float64 np.asarray(x, dtype=float) is x, wherever the array comes from.
# What happens: an array that was pickled (by multiprocessing, joblib, Dask, a cache) has a dtype object of its own, equal
# to NumPy's float64 and not the same. np.asarray and np.require with a dtype then make a view, while astype(copy=False)
# and np.ascontiguousarray return x itself. Copies, slices and zeros_like hand the strange dtype on, and so does a sum of
# two such arrays; a sum over one does not. copy.deepcopy and np.load keep NumPy's own dtype.
#
# Seen with NumPy 2.4.6.
#
# Why it matters: `np.asarray(x, float) is x` is how libraries ask whether they own a copy that they may overwrite, and
# dtypes are compared by identity where a call must take less than a microsecond: both work in tests and fail in workers.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6

cat > "$folder/seen.py" <<'EOF'
import copy
import io
import pickle

import numpy as np

x = np.ones(4)
stored = io.BytesIO()
np.save(stored, x)
stored.seek(0)
arrays = {
    "made here": x,
    "by copy.deepcopy": copy.deepcopy(x),
    "by np.load": np.load(stored),
    "by pickle": pickle.loads(pickle.dumps(x)),
}
seen = {}
for name, a in arrays.items():
    seen[name] = [
        np.asarray(a, dtype=float) is a, np.require(a, float) is a, a.astype(float, copy=False) is a,
        a.dtype is x.dtype, a.copy().dtype is x.dtype, (a + a).dtype is x.dtype, a.sum().dtype is x.dtype,
    ]
    print(f"{name:17} asarray {seen[name][0]!s:5} require {seen[name][1]!s:5} astype {seen[name][2]!s:5} "
          f"dtype {seen[name][3]!s:5} of copy {seen[name][4]!s:5} of a + a {seen[name][5]!s:5} "
          f"of a.sum() {seen[name][6]}")
pickled = seen.pop("by pickle")
if pickled != [False, False, True, False, False, False, True] or not all(map(all, seen.values())):
    raise SystemExit("arrays that were pickled have NumPy's own dtype now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
