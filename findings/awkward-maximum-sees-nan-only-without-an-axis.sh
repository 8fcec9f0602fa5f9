#!/usr/bin/env bash
# In Awkward Array the largest of (1, nan, 2) is nan over the whole array and 2 along an axis.
#
# One would expect: ak.max(x) is the largest of ak.max(x, axis=1), and NaN is left out by ak.nanmax, which is there for
# that; NumPy's max of the same numbers is nan either way.
# What happens: along an axis NaN is skipped, as if it were not there: the maximum of (1, nan, 2) is 2 and that of (nan)
# is -inf, without a warning. Without an axis both are nan. ak.min and np.max of an Awkward array do the same; ak.sum is
# nan both ways. ak.argmax finds the 2 in (1, nan, 2), and the nan in (nan, 1, 2). ak.nanmax of nothing but NaN is None.
#
# Seen with Awkward Array 2.14.0 and NumPy 2.4.6.
#
# Why it matters: whether a row is broken is asked with a maximum, before a loss is scaled or a step is accepted. Here
# a broken row looks sound, and one with nothing but NaN scales with -inf.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 awkward==2.14.0

cat > "$folder/seen.py" <<'EOF'
import awkward as ak
import numpy as np

nan = np.nan
seen = {}
for row in ([1.0, nan, 2.0], [nan, 1.0, 2.0], [nan]):
    array, numbers = ak.Array([row]), np.array([row])
    along, whole = float(ak.max(array, axis=1)[0]), float(ak.max(array))
    seen[tuple(row)] = along, whole
    by_numpy = np.max(numbers, axis=1)[0], np.max(numbers)
    print(row, "ak.max along the axis", along, "and of all", whole, "; NumPy", *by_numpy)
    print("   np.max of it along the axis", np.max(array, axis=1)[0], ", ak.min", ak.min(array, axis=1)[0],
          "and of all", ak.min(array), ", ak.argmax", ak.argmax(array, axis=1)[0])
    print("   ak.nanmax", ak.nanmax(array, axis=1)[0], ", ak.sum", ak.sum(array, axis=1)[0], ak.sum(array))
    if not (np.isnan(whole) and np.isnan(ak.sum(array, axis=1)[0]) and np.isnan(by_numpy).all()):
        raise SystemExit("maxima of all, sums or NumPy's maxima are others now")
if [along for along, _ in seen.values()] != [2.0, 2.0, -np.inf]:
    raise SystemExit("maxima along an axis are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
