#!/usr/bin/env bash
# The second derivative of PyTorch's logaddexp is NaN as soon as its arguments are 90 apart in float32, 711 in float64.
#
# One would expect: log(exp(x) + exp(y)) exists to be safe where exp would overflow. Its value and its gradient are right
# for any arguments, and its second derivative is a product of two sigmoids, at most 1/4, and practically 0 far apart.
# What happens: with y = -x the value and the gradient are right for all x; the second derivative is right up to x = 44
# in float32 (354 in float64) and NaN from 45 (356) on, since what the gradient is made of overflows.
#
# Seen with PyTorch 2.14.1.
#
# Why it matters: log-likelihoods of mixtures and softplus-like barriers are written with logaddexp. One sample whose
# components are far apart turns a Hessian-vector product, a Fisher matrix or a gradient penalty into NaN, while the
# training loss and its gradient look healthy.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1

cat > "$folder/seen.py" <<'EOF'
import math

import torch


def derivatives(place, dtype):
    x = torch.tensor(place, dtype=dtype, requires_grad=True)
    value = torch.logaddexp(x, -x)
    (first,) = torch.autograd.grad(value, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    return value.item(), first.item(), second.item()


seen = {}
for dtype, places in ((torch.float32, (44.0, 45.0, 100.0)), (torch.float64, (354.0, 356.0, 1000.0))):
    for place in places:
        seen[dtype, place] = derivatives(place, dtype)
        right = math.exp(-2.0 * place) * 4.0
        print(f"{dtype}, x = {place:g}: value, slope, curvature {seen[dtype, place]}, right {place}, 1, {right:.3g}")
finite = [seen[torch.float32, 44.0], seen[torch.float64, 354.0]]
far = [found for key, found in seen.items() if found not in finite]
sound = all(math.isfinite(found[2]) for found in finite) and all(found[1] == 1.0 for found in far)
if not sound or not all(math.isnan(found[2]) for found in far):
    raise SystemExit("logaddexp has another curvature now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
