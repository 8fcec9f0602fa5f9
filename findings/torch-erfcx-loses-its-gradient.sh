#!/usr/bin/env bash
# The gradient of PyTorch's erfcx is lost in cancellation just where erfcx is needed.
#
# One would expect: erfcx(x) = exp(x**2) erfc(x) is the form for large x: the plain product has lost all digits by 27.
# Its derivative, about -1 / (sqrt(pi) x**2) there, has the digits of its dtype, as the function has.
# What happens: the derivative is computed as 2 x erfcx(x) - 2 / sqrt(pi), a difference of two numbers near 1.13. In
# float32, which is the default, it is off by 5e-4 at 100, by 5 % at 1000, by 90 % at 3000, and exactly 0 at 10 000; in
# float64 it is 0 from 1e8.
#
# Seen with PyTorch 2.14.1; the asymptotic series gives the right numbers. Asserted are bounds on the errors, since the
# last bits of erfcx may be those of a processor.
#
# Why it matters: tails of exponentially modified Gaussians (chromatography, fluorescence, reaction times) and of
# truncated normal distributions are written with erfcx; a fit that starts in the tail does not move.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1

cat > "$folder/seen.py" <<'EOF'
import math

import torch


def slope(x, dtype):
    point = torch.tensor(x, dtype=dtype, requires_grad=True)
    return torch.autograd.grad(torch.special.erfcx(point), point)[0].item()


def right(x):
    return (-1 + 3 / (2 * x * x)) / (math.sqrt(math.pi) * x * x)


errors = {}
for dtype, points in ((torch.float32, (1e2, 1e3, 1e4)), (torch.float64, (1e2, 1e6, 1e8))):
    for x in points:
        errors[dtype, x] = abs(slope(x, dtype) / right(x) - 1)
        print(f"{dtype}, erfcx'({x:g}) = {slope(x, dtype):.6g}, right {right(x):.6g}")
lost = [errors[torch.float32, 1e4], errors[torch.float64, 1e8]]
if min(lost) < 0.5 or errors[torch.float32, 1e3] < 0.01 or errors[torch.float64, 1e6] < 1e-6:
    raise SystemExit("erfcx has another derivative now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
