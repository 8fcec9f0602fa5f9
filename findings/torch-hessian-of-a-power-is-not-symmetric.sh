#!/usr/bin/env bash
# PyTorch's Hessian of x**y is not symmetric where y is 0.
#
# One would expect: d/dy d/dx x**y = x**(y - 1) (1 + y log x), which is 1/x at y = 0, in whichever order the derivatives
# are taken.
# What happens: the rule for the base writes 0 where the exponent is 0, for the sake of x = 0, and this 0 no longer
# depends on the exponent. So the derivative with respect to x and then y is 0, the one with respect to y and then x is
# 1/x. With exp(y log x) both are 1/x; in one variable, the second derivative of (1 + x)**x at 0 is 1, not 2.
#
# Seen with PyTorch 2.14.1, with torch.func.hessian and with torch.autograd.functional.hessian.
#
# Why it matters: powers with an exponent to be found (Box-Cox, gamma corrections, allometry, Freundlich isotherms)
# often start at 0. Newton's method and the Laplace approximation get a wrong matrix there and only there, so that tests
# of other points pass.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1

cat > "$folder/seen.py" <<'EOF'
import torch


def hessian(function, *point):
    return torch.autograd.functional.hessian(function, torch.tensor(point, dtype=torch.float64))


def power(v):
    return v[0] ** v[1]


point = torch.tensor([2.0, 0.0], dtype=torch.float64)
backwards = hessian(power, 2.0, 0.0)
forwards = torch.func.hessian(power)(point)
right = hessian(lambda v: torch.exp(v[1] * torch.log(v[0])), 2.0, 0.0)
diagonal = hessian(lambda v: (1 + v[0]) ** v[0], 0.0).item()
print("x**y at (2, 0), autograd.functional:", backwards.tolist())
print("x**y at (2, 0), func:", forwards.tolist())
print("exp(y log x) at (2, 0):", right.tolist())
print("second derivative of (1 + x)**x at 0, which is 2:", diagonal)
rows = [(matrix[0, 1].item(), matrix[1, 0].item()) for matrix in (backwards, forwards, right)]
if rows != [(0.0, 0.5), (0.0, 0.5), (0.5, 0.5)] or diagonal != 1.0:
    raise SystemExit("the Hessian is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
