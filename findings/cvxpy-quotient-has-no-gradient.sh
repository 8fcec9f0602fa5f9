#!/usr/bin/env bash
# CVXPY says that x / y has the derivatives 1 and 0, whatever x and y are.
#
# One would expect: (x / y).grad is 1 / y and -x / y^2, the gradient with regard to each variable as the documentation
# says, or None where there is none. x * y and x * inv_pos(y) have right gradients.
# What happens: with x = 3 and y = 2 the gradient of x / y is 1 in x and 0 in y; for vectors the first entry in x is 1
# and all others are 0. That of 1 / y is 0 everywhere. Through the chain rule the numbers go into the gradients of
# whatever is made of quotients, as exp(x / y) and, of geometric programs, diff_pos(y, x).
#
# Seen with CVXPY 1.9.3.
#
# Why it matters: quotients of positive variables are what geometric programs are made of. Sensitivities, linearisations
# of penalty methods and checks of optimality read grad, and nothing is raised.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 scipy==1.17.1 cvxpy==1.9.3

cat > "$folder/seen.py" <<'EOF'
import cvxpy as cp
import numpy as np


def dense(gradient):
    return np.atleast_2d(gradient.toarray() if hasattr(gradient, "toarray") else gradient)


x, y = cp.Variable(3, pos=True), cp.Variable(3, pos=True)
x.value, y.value = np.array([3.0, 2.0, 1.0]), np.array([2.0, 4.0, 5.0])
right = {"x": np.diag(1 / y.value), "y": np.diag(-x.value / y.value**2)}
is_right = {}
for name, expression in (("x / y", x / y), ("x * inv_pos(y)", cp.multiply(x, cp.inv_pos(y)))):
    found = {"x": dense(expression.grad[x]), "y": dense(expression.grad[y])}
    is_right[name] = all(np.allclose(found[v], right[v]) for v in "xy")
    print(name, "of", expression.value.tolist(), "has in x", found["x"].tolist(), "and in y", found["y"].tolist())
print("right is", right["x"].tolist(), "and", right["y"].tolist())
s, t = cp.Variable(pos=True), cp.Variable(pos=True)
s.value, t.value = 3.0, 2.0
quotient = s / t
print("numbers 3 / 2:", [float(quotient.grad[v]) for v in (s, t)], "is_dgp:", quotient.is_dgp())
exponential = cp.exp(quotient)
print("exp(3 / 2):", [float(exponential.grad[v]) for v in (s, t)], "right:", [np.exp(1.5) / 2, -np.exp(1.5) * 0.75])
print("1 / 2:", float((1 / t).grad[t]), "right: -0.25; inv_pos(2):", float(cp.inv_pos(t).grad[t]))
if is_right != {"x / y": False, "x * inv_pos(y)": True} or float((1 / t).grad[t]) != 0:
    raise SystemExit("quotients have other gradients now")
if [float(quotient.grad[v]) for v in (s, t)] != [1.0, 0.0] or not quotient.is_dgp():
    raise SystemExit("quotients of numbers have other gradients now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
