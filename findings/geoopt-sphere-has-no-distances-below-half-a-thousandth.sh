#!/usr/bin/env bash
# On geoopt's sphere a point is 4.5e-4 away from itself, and so is every point that is nearer.
#
# One would expect: the distance of two points on a sphere is the angle between them, in double precision to about 1e-8, which is
# what an arc cosine leaves, and expmap(x, v) is at the distance of the norm of v.
# What happens: the cosine is kept below 1 - 1e-7, in double as in single precision, so that the derivative of its arc cosine
# is finite. All angles below sqrt(2e-7) are 4.472e-4, and the gradient of the distance is 0 there. Opposite points
# are that much less than pi apart. logmap has the same distance in it, and is right to nine digits at 1e-3 again.
#
# Seen with geoopt 0.5.1, PyTorch 2.14.1 and NumPy 2.4.6.
#
# Why it matters: the sum of squared distances is minimised for means on spheres. Half a thousandth of a radian is 100 seconds
# of arc, 3 km on the Earth; within it nothing is resolved, a loss ends at 2e-7 for each exact pair, and the optimizer stops.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1 geoopt==0.5.1

cat > "$folder/seen.py" <<'EOF'
import math

import geoopt
import torch

torch.set_default_dtype(torch.float64)
sphere = geoopt.Sphere()
x = torch.tensor([1.0, 0.0, 0.0])
seen = {}
for angle in (0.0, 1e-6, 1e-4, 4e-4, 1e-3, 0.1, math.pi):
    y = torch.tensor([math.cos(angle), math.sin(angle), 0.0], requires_grad=True)
    distance = sphere.dist(x, y)
    (gradient,) = torch.autograd.grad(distance, y)
    by_half = 2 * math.asin(min(1.0, (x - y).norm().item() / 2))  # the same angle, from the chord
    seen[angle] = distance.item(), (gradient @ torch.tensor([-math.sin(angle), math.cos(angle), 0.0])).item()
    print(f"angle {angle:g}: distance {seen[angle][0]:.9g}, from the chord {by_half:.9g}, slope of the distance {seen[angle][1]:.6g}")
    if abs(by_half - angle) > 1e-9:
        raise SystemExit("the chord is another one")
if abs(seen[0.1][0] - 0.1) > 1e-9 or abs(seen[1e-3][0] - 1e-3) > 1e-9 or abs(seen[0.1][1]) < 0.99:
    raise SystemExit("larger distances are others now")
if any(abs(seen[angle][0] - math.sqrt(2e-7)) > 1e-7 or seen[angle][1] != 0 for angle in (0.0, 1e-6, 1e-4, 4e-4)):
    raise SystemExit("small distances are others now")
EOF
"$folder/venv/bin/python" -W ignore "$folder/seen.py"
