#!/usr/bin/env bash
# The second derivative of PyTorch's log_ndtr drifts from -1 to -1.5 at -10 000 and to -7 403 at -100 000.
#
# One would expect: the logarithm of the normal distribution is close to -x**2 / 2 far to the left, so its second
# derivative goes to -1. Value and first derivative are right there, to all digits and to nine of them.
# What happens: the second derivative is 1 - 3e-5 times too small at -1 000, half too large at -10 000, and 7 403 times too
# large at -100 000: two terms of the size of x**2 that cancel are differentiated one by one.
#
# Seen with PyTorch 2.14.1.
#
# Why it matters: probit models, censored data and expected improvement use log_ndtr because of its tail. Newton's step is
# the slope over the curvature: here it becomes 7 403 times too short, where it should be exact in one step.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1 mpmath==1.3.0

cat > "$folder/seen.py" <<'EOF'
import mpmath
import torch

mpmath.mp.dps = 60


def right(place, order):
    """The derivatives of the logarithm, from the ratio of density and distribution."""
    x = mpmath.mpf(place)
    ratio = mpmath.npdf(x) / mpmath.ncdf(x)
    return float(ratio if order == 1 else -ratio * (x + ratio))


errors = {}
for place in (-10.0, -1e3, -1e4, -1e5):
    x = torch.tensor(place, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(torch.special.log_ndtr(x), x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    errors[place] = abs(second.item() / right(place, 2) - 1.0)
    print(f"x = {place:g}: slope {first.item():.12g}, right {right(place, 1):.12g}; "
          f"curvature {second.item():.6g}, right {right(place, 2):.6g}")
if errors[-10.0] > 1e-6 or errors[-1e4] < 0.1 or errors[-1e5] < 1000.0:
    raise SystemExit("log_ndtr has another curvature now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
