#!/usr/bin/env bash
# One infinite or very large number spoils all later windows of bottleneck's moving mean.
#
# One would expect: move_mean(x, 2) at a place depends on the two numbers there.
# What happens: the window's sum is kept by adding the new number and subtracting the one that leaves. After an infinity
# this is inf - inf: every later mean is NaN. After 1e17 the later means of 3, 4, 5, 6 are 0, 1, 2 instead of 3.5, 4.5,
# 5.5. pandas' rolling mean of the same numbers recovers. move_sum, move_std and move_var do as move_mean does.
#
# Seen with Bottleneck 1.6.0, pandas 3.1.1 and NumPy 2.4.6.
#
# Why it matters: an infinity is a division by an empty denominator, and 1e17 or 9.97e36 a fill value that was not
# masked; one of them at the start of a series makes the rest of it wrong, finite and smooth.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 bottleneck==1.6.0 pandas==3.1.1

cat > "$folder/seen.py" <<'EOF'
import bottleneck
import numpy as np
import pandas as pd

right = [3.5, 4.5, 5.5]
found = {}
for first in (np.inf, 1e17):
    x = np.array([1.0, 2.0, first, 3.0, 4.0, 5.0, 6.0])
    found[first] = bottleneck.move_mean(x, 2)[4:].tolist()
    theirs = pd.Series(x).rolling(2).mean().tolist()[4:]
    windows = np.lib.stride_tricks.sliding_window_view(x, 2).mean(axis=1)[3:].tolist()
    print(f"means of two after {first}: bottleneck {found[first]}, pandas {theirs}, right {windows}")
    assert windows == right
if not np.isnan(found[np.inf]).all() or found[1e17] != [0.0, 1.0, 2.0]:
    raise SystemExit("moving means recover now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
