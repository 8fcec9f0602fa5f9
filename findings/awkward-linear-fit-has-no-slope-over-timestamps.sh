#!/usr/bin/env bash
# Awkward Array's linear fit of a straight line over Unix time has an infinite slope.
#
# One would expect: ak.linear_fit finds the slope 0.5 of y = 2 + 0.5 t from exact points, wherever t begins, to the
# digits that the times have, as np.polyfit does: seven over Unix time of today.
# What happens: it takes the sum of squares times the number of points minus the square of the sum, which cancels. Four
# points 10 seconds apart have the slope 0.496 where t begins at 1e8, and inf from today on; a minute apart 0.488. The
# stated errors of the slopes are wrong in the same way. ak.covar and ak.var take the mean away first and are right, and
# their quotient is the slope.
#
# Seen with Awkward Array 2.14.0 and NumPy 2.4.6.
#
# Why it matters: rates per track, sensor or run are what fits of ragged rows are for, and time stamps, run numbers and
# frequencies are large and close together. A slope that is off by 2 % looks like one.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 awkward==2.14.0

cat > "$folder/seen.py" <<'EOF'
import warnings

import awkward as ak
import numpy as np

warnings.simplefilter("ignore")
since = np.array([[0.0, 10.0, 20.0, 30.0], [0.0, 60.0, 120.0, 180.0]])
y, slopes = ak.Array(2.0 + 0.5 * since), {}
for begin in (0.0, 1e6, 1e8, 1.76e9):
    t = ak.Array(begin + since)
    fit = ak.linear_fit(t, y, axis=1)
    by_covariance = np.array(ak.covar(t, y, axis=1) / ak.var(t, axis=1))
    by_numpy = np.array([np.polyfit(a, b, 1)[0] for a, b in zip(begin + since, np.array(y))])
    slopes[begin] = fit.slope.tolist()
    print(f"t from {begin:g}: slopes {slopes[begin]} +- {fit.slope_error.tolist()},",
          f"polyfit {by_numpy.round(7).tolist()}, by covariances {by_covariance.round(7).tolist()}")
    if not (np.allclose(by_covariance, 0.5, rtol=1e-6) and np.allclose(by_numpy, 0.5, rtol=1e-6)):
        raise SystemExit("the other ways are wrong now")
if not np.allclose(slopes[0.0] + slopes[1e6], 0.5, rtol=1e-3):
    raise SystemExit("slopes over small times are wrong now")
if not abs(slopes[1e8][0] - 0.5) > 1e-3 or not min(abs(np.array(slopes[1.76e9]) - 0.5)) > 1e-3:
    raise SystemExit("slopes over time stamps are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
