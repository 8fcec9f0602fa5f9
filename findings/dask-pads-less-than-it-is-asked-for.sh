#!/usr/bin/env bash
# dask pads an array by less than it is asked for where the margin is longer than the array.
#
# One would expect: pad([1, 2, 3], (7, 5), mode="wrap") has 3 + 7 + 5 numbers: NumPy goes around as often as it takes,
# and the documentation of dask.array.pad is NumPy's.
# What happens: in the modes "wrap", "reflect" and "symmetric" the margin is one slice of the array, and a slice ends
# where the array ends. The result has 9, 7 or 8 numbers, says so in its shape, and there is no error. With "wrap" the
# first number of the array then is at place 3, not 7. Along an axis of length 1 "reflect" pads nothing at all. The
# other modes are right.
#
# Seen with dask 2026.8.0 and NumPy 2.4.6.
#
# Why it matters: periodic and mirrored margins of filters and stencils are cut off again by their width. Of an axis
# that is short (levels, channels, an ensemble of one) data are cut off instead, or the result is shifted.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet "dask[array]==2026.8.0" numpy==2.4.6

cat > "$folder/seen.py" <<'EOF'
import dask.array as da
import numpy as np

x = np.array([1, 2, 3])
sizes = {}
for mode in ("wrap", "reflect", "symmetric", "edge", "linear_ramp", "constant"):
    right = np.pad(x, (7, 5), mode=mode)
    lazy = da.pad(da.from_array(x), (7, 5), mode=mode)
    found = lazy.compute()
    sizes[mode] = found.size
    print(f"{mode}: dask says {lazy.shape} and has {found.tolist()}")
    print(f"{' ' * len(mode)}  NumPy has {right.tolist()}")
one = da.pad(da.from_array(x[:1]), 2, mode="reflect").compute()
print("[1] padded by 2 on both sides, mode reflect:", one.tolist(), "and NumPy", np.pad(x[:1], 2, mode="reflect").tolist())
fits = da.pad(da.from_array(x), (2, 2), mode="wrap").compute()
print("a margin that fits:", fits.tolist())
if (sizes["wrap"], sizes["reflect"], sizes["symmetric"], one.size) != (9, 7, 8, 1) or sizes["edge"] != 15:
    raise SystemExit("dask pads otherwise now")
if not np.array_equal(fits, np.pad(x, 2, mode="wrap")):
    raise SystemExit("margins that fit are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
