#!/usr/bin/env bash
# A dtype of NumPy is equal to None, if it is that of float64.
#
# One would expect: a dtype is equal to other dtypes and to what names one; None is nothing of the kind.
# What happens: np.dtype(None) is float64, and == converts its other side, so np.dtype("f8") == None is True, and for all
# other dtypes False. So `None in dtypes` finds float64 in a list, but not in a set, whose hash differs.
#
# Seen with NumPy 2.4.6.
#
# Why it matters: "dtype not given" is written as None everywhere. `if dtype == None`, `dtypes.index(None)`, a match or an
# lru_cache by equality takes a double-precision dtype for a missing one, and only this one: the code works in tests with
# float32 and int.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6

cat > "$folder/seen.py" <<'EOF'
import numpy as np

double, single = np.dtype("f8"), np.dtype("f4")
seen = [double == None, single == None, None in [double], None in {double}, (None, 1) == (double, 1)]  # noqa: E711
print("float64 == None:", seen[0])
print("float32 == None:", seen[1])
print("None in [float64]:", seen[2])
print("None in {float64}:", seen[3])
print("(None, 1) == (float64, 1):", seen[4])
if seen != [True, False, True, False, True]:
    raise SystemExit("None is no dtype any more")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
