#!/usr/bin/env bash
# statsmodels' Clayton copula with negative dependence has a density of integral 1.96, and a cdf above its bound.
#
# One would expect: ClaytonCopula(theta) takes theta from -1 on. For negative theta there are no points with u**-theta + v**-theta
# below 1: density and cdf are 0 there, and the density has the integral 1.
# What happens: the formulas are taken there, too. For theta = -0.5 the cdf at (0.05, 0.1) is 0.21, though no more than 0.05 of
# all points have u below 0.05; the density is 7.1 and has the integral 1.96. For theta = -0.3 both are NaN there, as the base
# of their powers is negative, and so are the integral and logpdf. For positive theta all is right.
#
# Seen with statsmodels 0.15.0, SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: theta is found by maximum likelihood, from data of either sign. Points that the copula cannot have get
# the largest densities of all, so a fit to data without dependence is drawn to a model that excludes them.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0

cat > "$folder/seen.py" <<'EOF'
import warnings

import numpy as np
from statsmodels.distributions.copula.api import ClaytonCopula

warnings.simplefilter("ignore")  # of powers that are no numbers
middle = (np.arange(1000) + 0.5) / 1000
u, v = (side.ravel() for side in np.meshgrid(middle, middle))
points = np.stack([u, v], axis=1)
seen = {}
for theta in (2.0, 0.5, -0.5, -0.3):
    copula = ClaytonCopula(theta)
    density = copula.pdf(points)
    is_possible = u**-theta + v**-theta > 1
    seen[theta] = density.mean(), np.where(is_possible, density, 0).mean(), np.exp(copula.logpdf(points)).mean()
    print(f"theta {theta}: integral {seen[theta][0]:.4f}, where points are possible {seen[theta][1]:.4f}, by logpdf {seen[theta][2]:.4f}")
copula, point = ClaytonCopula(-0.5), np.array([0.05, 0.1])
density, below = float(np.ravel(copula.pdf(point))[0]), float(np.ravel(copula.cdf(point))[0])
print("at (0.05, 0.1), theta -0.5: density", density, "and cdf", below, "where both are 0, and no cdf is above 0.05")
if abs(seen[2.0][0] - 1) > 0.01 or abs(seen[0.5][0] - 1) > 0.01 or abs(seen[-0.5][1] - 1) > 0.01:
    raise SystemExit("other densities have changed")
if seen[-0.5][0] < 1.5 or density < 1e-3 or below < 0.05 or not np.isnan(seen[-0.3][0]):
    raise SystemExit("densities with negative dependence are others now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
