#!/usr/bin/env bash
# PyTorch has two answers for the second derivative of sinc at 0, and both are wrong: NaN and 0.
#
# One would expect: sinc(x) = sin(pi x) / (pi x) is smooth, with sinc''(0) = -pi**2 / 3 = -3.29; the function and its
# first derivative are defined at 0, so the next one would be.
# What happens: two passes backwards give NaN, torch.func.hessian (forwards over backwards) gives 0. Near 0 the first
# derivative is a difference of two nearly equal numbers: at 1e-9 it is exactly 0 instead of -3.29e-9, at 1e-7 it has
# three digits.
#
# Seen with PyTorch 2.14.1.
#
# Why it matters: band-limited interpolation and kernels of array signal processing have sinc(0) on their diagonal;
# Newton's method, a Laplace approximation or a penalty on the curvature sees NaN or a flat top.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1

cat > "$folder/seen.py" <<'EOF'
import math

import torch

zero = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
(first,) = torch.autograd.grad(torch.sinc(zero), zero, create_graph=True)
(twice,) = torch.autograd.grad(first, zero)
hessian = torch.func.hessian(torch.sinc)(zero.detach())
print(f"sinc''(0) = {-(math.pi**2) / 3:.6f}")
print("backwards twice:", twice.item(), "torch.func.hessian:", hessian.item())
errors = {}
for step in (1e-3, 1e-7, 1e-9):
    x = torch.tensor(step, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.sinc(x), x)
    right = -(math.pi**2) / 3 * step + math.pi**4 / 30 * step**3
    errors[step] = abs(slope.item() / right - 1)
    print(f"sinc'({step:g}) = {slope.item():.6g}, right {right:.6g}")
if not math.isnan(twice.item()) or hessian.item() != 0.0 or errors[1e-7] < 1e-5 or errors[1e-9] != 1.0:
    raise SystemExit("sinc has another derivative now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
