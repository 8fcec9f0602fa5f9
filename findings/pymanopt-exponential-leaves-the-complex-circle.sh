#!/usr/bin/env bash
# In pymanopt the exponential map of the complex circle has real results, and the distance of a point from itself may be NaN.
#
# One would expect: ComplexCircle.exp(z, v) is cos(abs(v)) z + sin(abs(v)) / abs(v) v, a complex number of modulus 1 at the distance
# abs(v) from z, and log takes it back to v.
# What happens: the result is written into an array of real numbers, and its imaginary part is lost. NumPy says so once, in a
# warning. retraction, which solvers take by default, is right. dist(z, z) is NaN for three random points of ten,
# where rounding makes the cosine larger than 1, and so is log(z, z).
#
# Seen with pymanopt 2.2.1 and NumPy 2.4.6.
#
# Why it matters: phases of signals, antennas and images lie on this manifold. Geodesics, means and checks of
# a Hessian use exp, and leave it for the real axis; a test for convergence by the distance is never true of NaN.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 scipy==1.17.1 pymanopt==2.2.1

cat > "$folder/seen.py" <<'EOF'
import warnings

import numpy as np
from pymanopt.manifolds import ComplexCircle

warnings.simplefilter("ignore")  # the one about imaginary parts
np.random.seed(0)
manifold = ComplexCircle(4)
z = manifold.random_point()
v = manifold.random_tangent_vector(z)
right = np.cos(abs(v)) * z + np.sin(abs(v)) / abs(v) * v
found, near = manifold.exp(z, v), manifold.retraction(z, 1e-4 * v)
print("exp", found, "with moduli", abs(found))
print("right", right, "with moduli", abs(right))
print("distance to exp", manifold.dist(z, found), "to the right point", manifold.dist(z, right), "length", manifold.norm(z, v))
print("log of the right point is off by", abs(manifold.log(z, right) - v).max(), "and of exp by", abs(manifold.log(z, found) - v).max())
print("retraction by 1e-4 is off by", abs(near - z - 1e-4 * v).max())
one = ComplexCircle(1)
points = [one.random_point() for _ in range(1000)]
selves = [one.dist(point, point) for point in points]
logs = [abs(one.log(point, point)).max() for point in points]
print("of 1000 points", int(np.isnan(selves).sum()), "have the distance NaN from themselves, and logarithm NaN", int(np.isnan(logs).sum()))
if abs(near - z - 1e-4 * v).max() > 1e-7 or abs(manifold.log(z, right) - v).max() > 1e-9:
    raise SystemExit("retraction and logarithm are others now")
if np.iscomplexobj(found) or not np.allclose(found, right.real) or np.isnan(selves).sum() < 50:
    raise SystemExit("exponential and distance are others now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
