#!/usr/bin/env bash
# The same size and the same axes mean one window for uniform_filter and maximum_filter, and another for median_filter.
#
# One would expect: with axes=(1, 0) the first entry of size, of a footprint or of weights belongs to axis 1 for all
# filters of scipy.ndimage; the documentation describes `axes` in the same words for each.
# What happens: uniform_filter, gaussian_filter, minimum_filter and maximum_filter do that. median_filter (with all rank
# filters), correlate and convolve sort the axes first: size, footprint, weights and origin are taken in the order of the
# array's axes. Nothing is raised: the window is transposed.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: replacing a mean by a median to be safe against outliers turns a window of 3 rows and 5 columns into one
# of 5 rows and 3 columns; a smoothing written as weights differs from the same one written as a size.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from scipy import ndimage

x = np.random.default_rng(0).normal(size=(7, 8))
weights, footprint = np.ones((3, 5)) / 15.0, np.ones((3, 5), bool)
calls = {
    "uniform_filter(size=(3, 5))": lambda **k: ndimage.uniform_filter(x, size=(3, 5), **k),
    "maximum_filter(size=(3, 5))": lambda **k: ndimage.maximum_filter(x, size=(3, 5), **k),
    "maximum_filter(footprint)": lambda **k: ndimage.maximum_filter(x, footprint=footprint, **k),
    "median_filter(size=(3, 5))": lambda **k: ndimage.median_filter(x, size=(3, 5), **k),
    "median_filter(footprint)": lambda **k: ndimage.median_filter(x, footprint=footprint, **k),
    "percentile_filter(size=(3, 5))": lambda **k: ndimage.percentile_filter(x, 30, size=(3, 5), **k),
    "correlate(weights)": lambda **k: ndimage.correlate(x, weights, **k),
    "convolve(weights)": lambda **k: ndimage.convolve(x, weights, **k),
}
ignores = []
for name, call in calls.items():
    ignores.append(np.allclose(call(axes=(1, 0)), call()))
    print(f"{name:32} axes=(1, 0) {'changes nothing' if ignores[-1] else 'exchanges the sizes'}")
print("mean by size and by weights agree with axes=(1, 0):",
      np.allclose(calls["uniform_filter(size=(3, 5))"](axes=(1, 0)), calls["correlate(weights)"](axes=(1, 0))))
if ignores != [False] * 3 + [True] * 5:
    raise SystemExit("the filters agree on the order of axes now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
