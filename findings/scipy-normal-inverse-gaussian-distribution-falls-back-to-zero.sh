#!/usr/bin/env bash
# The distribution function of SciPy's norminvgauss is 1 up to 50 and then 1e-10.
#
# One would expect: a distribution function increases, so it stays at 1 once it is there, and cdf + sf is 1.
# What happens: norminvgauss(1, 0) has the standard deviation 1. At 30 its cdf is 1, at 50 it is 1.3e-10, and at 200 5e-55; the sf
# is so on the other side. It is the density, integrated by quadrature from minus infinity to x, with points that lie around x,
# not around the peak, so that the peak is missed. The small one of cdf and sf is right. geninvgauss(2.3, 1.5)
# falls from 1 to 0 before 1e5. No warning is given; logcdf and logsf are right.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: this is a model of returns of prices, of turbulence and of dispersion because of its tails; an outlier
# of 50 deviations is what it is taken for. A probability integral transform turns it to the other end, and a test of
# fit or a copula believes it.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import warnings

import numpy as np
from scipy import integrate, stats

warnings.simplefilter("error")
found, right = {}, {}
model = stats.norminvgauss(1, 0)
for x in (5.0, 20.0, 30.0, 50.0, 100.0, 200.0):
    above, _ = integrate.quad(model.pdf, x, x + 50.0, epsabs=0)
    found[x], right[x] = (model.cdf(x), model.sf(-x), model.sf(x)), 1.0 - above
    print(f"x = {x}: cdf {found[x][0]:.6g}, sf at -x {found[x][1]:.6g}, right {right[x]:.6g}; sf {found[x][2]:.6g}, "
          f"right {above:.6g}; logcdf {model.logcdf(x):.6g}")
    assert np.isclose(found[x][2], above, rtol=1e-3, atol=0)
other = stats.geninvgauss(2.3, 1.5)
far = {x: other.cdf(x) for x in (3.0, 30.0, 3e4, 1e5)}
print("geninvgauss(2.3, 1.5), whose mean is", other.mean(), "has the cdf", far)
if not np.isclose(found[20.0][0], right[20.0]) or not np.isclose(far[30.0], 1):
    raise SystemExit("the distribution functions near the peak are others now")
if found[50.0][0] > 1e-5 or found[200.0][1] > 1e-5 or far[1e5] > 1e-5:
    raise SystemExit("the distribution functions far from the peak are others now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
