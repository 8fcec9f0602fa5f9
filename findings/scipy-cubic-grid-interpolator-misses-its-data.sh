#!/usr/bin/env bash
# SciPy's cubic interpolator on a grid does not pass through the values that it was given.
#
# One would expect: an interpolating spline has the given values at the points of the grid, to rounding.
# What happens: RegularGridInterpolator(method="cubic") solves for its coefficients with an iterative solver at its default
# tolerance, so that the values at its own grid points are off by about 1e-5 of their size. With solver=spsolve, a direct
# one, they are right to 1e-14.
#
# Seen with SciPy 1.17.1.
#
# Why it matters: differences of such an interpolant with steps below 1e-4 measure the solver's residual, and a comparison with
# another implementation looks as if that one had only five digits.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from scipy.interpolate import RegularGridInterpolator
from scipy.sparse.linalg import spsolve

x, y = np.linspace(0, 1, 7), np.linspace(0, 1, 8)
values = np.random.default_rng(0).normal(size=(7, 8))
grid = np.stack(np.meshgrid(x, y, indexing="ij"), -1)


def miss(**options):
    found = RegularGridInterpolator((x, y), values, method="cubic", **options)(grid)
    return abs(found - values).max()


default, direct = miss(), miss(solver=spsolve)
print(f"largest miss at the grid's points: {default:.1e}, with a direct solver {direct:.1e}")
if not (default > 1e-7 and direct < 1e-12):
    raise SystemExit("the default passes through the data")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
