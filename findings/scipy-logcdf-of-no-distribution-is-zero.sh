#!/usr/bin/env bash
# The logarithm of the distribution function of a discrete distribution with impossible parameters is 0 at its top.
#
# One would expect: a probability of 1.5, a negative shape or half a trial make no distribution, and every function of
# SciPy's families is NaN then: pmf, logpmf, cdf, sf, logsf are.
# What happens: logcdf is 0.0, a probability of 1, at the largest number of the support and above, and NaN below. So
# scipy.stats.binom.logcdf(5, 5, 1.5) is 0.0, and log(binom.cdf(5, 5, 1.5)) is NaN. Families with a bounded support are
# hit (binom, bernoulli, betabinom, hypergeom, randint, ...); continuous ones are not.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: an optimizer or a sampler that leaves the range of a parameter is stopped by NaN; a likelihood of
# censored counts, which is a sum of logcdf, takes the impossible parameter for a perfect fit instead.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import scipy
from scipy import stats

print("SciPy", scipy.__version__)
CASES = {
    "binom(5, 1.5)": (stats.binom(5, 1.5), 5),
    "binom(4.5, 0.5)": (stats.binom(4.5, 0.5), 5),
    "bernoulli(-0.2)": (stats.bernoulli(-0.2), 1),
    "betabinom(5, -1, 2)": (stats.betabinom(5, -1.0, 2.0), 5),
}
as_seen = True
for name, (family, top) in CASES.items():
    found = {f: [float(getattr(family, f)(top + d)) for d in (-1, 0, 3)]
             for f in ("logpmf", "cdf", "logcdf", "logsf")}
    print(name, found)
    others = np.isnan([v for f, values in found.items() if f != "logcdf" for v in values])
    below, *above = found["logcdf"]
    as_seen &= bool(others.all() and np.isnan(below) and above == [0.0, 0.0])
continuous = stats.beta(-1.0, 2.0).logcdf([0.5, 1.0, 3.0])
print("beta(-1, 2)", continuous)
if not (as_seen and np.isnan(continuous).all()):
    raise SystemExit("logcdf of impossible parameters is another one now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
