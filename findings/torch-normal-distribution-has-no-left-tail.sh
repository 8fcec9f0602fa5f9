#!/usr/bin/env bash
# PyTorch's distribution function of the normal distribution is exactly 0 from -5.6 on in float32, where it is 1e-8.
#
# One would expect: torch.special.ndtr is small to the left, and has the digits of its dtype there: float32 goes down
# to 1e-38, which is near -13. SciPy's ndtr of the same name does so.
# What happens: it is computed as (1 + erf(x / sqrt(2))) / 2, a difference of two numbers near 1. At -5 it is 4 % off,
# at -5.6 and beyond it is 0; in float64 it is 2 % off at -8 and 0 from -8.4. Its gradient is right there, so that
# the logarithm has the derivative infinity. torch.special.log_ndtr is right, and torch.distributions.Normal.cdf is as
# bad as ndtr.
#
# Seen with PyTorch 2.14.1; math.erfc gives the right numbers.
#
# Why it matters: the probability of a rare event is read off the left tail, since on the right side it is near 1; in
# the expected improvement, in probit models and truncated normal distributions a quotient by it is a division by
# zero.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1

cat > "$folder/seen.py" <<'EOF'
import math

import torch

errors = {}
for dtype, points in ((torch.float32, (-3.0, -5.0, -5.6, -10.0)), (torch.float64, (-3.0, -7.0, -8.0, -8.4, -20.0))):
    for x in points:
        point = torch.tensor(x, dtype=dtype, requires_grad=True)
        found = torch.special.ndtr(point)
        slope = torch.autograd.grad(found, point)[0].item()
        right = math.erfc(-x / math.sqrt(2)) / 2
        by_log = torch.special.log_ndtr(point).exp().item()
        errors[dtype, x] = abs(found.item() / right - 1)
        print(f"{dtype}, ndtr({x:g}) = {found.item():.6g}, right {right:.6g}, exp(log_ndtr) {by_log:.6g}, gradient {slope:.6g}")
        if abs(by_log / right - 1) > 1e-4:
            raise SystemExit("log_ndtr is another one now")
normal = torch.distributions.Normal(0.0, 1.0).cdf(torch.tensor(-10.0)).item()
print("Normal(0, 1).cdf(-10) =", normal)
lost = [errors[torch.float32, -5.6], errors[torch.float32, -10.0], errors[torch.float64, -8.4], errors[torch.float64, -20.0]]
if min(lost) < 1 or errors[torch.float32, -5.0] < 1e-3 or errors[torch.float64, -8.0] < 1e-3 or normal != 0:
    raise SystemExit("ndtr has a left tail now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
