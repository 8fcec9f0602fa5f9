#!/usr/bin/env bash
# The rolling correlation of polars is 1.145 for five numbers near 1e8, and 0 for others that correlate.
#
# One would expect: rolling_corr with windows of 3 is pl.corr of each three numbers, and lies between -1 and 1.
# What happens: for 1e8 + (1, 2, 3, 4, 7) and 1e8 + (1, 5, 2, 4, 7) it is 0, 0 and 1.145, where pl.corr has 0.240,
# -0.327 and 0.986. It is computed from the mean of the products less the product of the means, of sixteen digits
# each, which are the same for numbers of this size. rolling_cov does so too. pl.corr and
# pl.cov are right.
#
# Seen with polars 2.1.0 and NumPy 2.4.6.
#
# Why it matters: pressures in pascal, times in seconds, prices in cents, coordinates in metres and counters are of
# this size or have its ratio of level to change; a correlation that is 0 reads as a result, and one above 1 breaks
# what takes its arc cosine or root.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 polars==2.1.0

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import polars as pl

seen = {}
for level in (0.0, 1e6, 1e8):
    a, b = level + np.array([1.0, 2, 3, 4, 7]), level + np.array([1.0, 5, 2, 4, 7])
    frame = pl.DataFrame({"a": a, "b": b})
    rolling = frame.select(r=pl.rolling_corr("a", "b", window_size=3), c=pl.rolling_cov("a", "b", window_size=3))[2:]
    windows = [frame[i : i + 3].select(r=pl.corr("a", "b"), c=pl.cov("a", "b")) for i in range(3)]
    single = [window["r"][0] for window in windows]
    seen[level] = rolling["r"].to_list(), single
    print(f"at {level:g}: rolling_corr {rolling['r'].to_list()}, corr of each window {single}")
    print(f"{' ' * 8}rolling_cov {rolling['c'].to_list()}, cov of each window {[window['c'][0] for window in windows]}")
    right = [np.corrcoef(a[i : i + 3], b[i : i + 3])[0, 1] for i in range(3)]
    if not np.allclose(single, right, atol=1e-6):
        raise SystemExit("corr is another one now")
if not np.allclose(*seen[0.0]):
    raise SystemExit("rolling_corr of small numbers is another one now")
if seen[1e8][0][:2] != [0, 0] or seen[1e8][0][2] < 1.1:
    raise SystemExit("rolling_corr of large numbers is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
