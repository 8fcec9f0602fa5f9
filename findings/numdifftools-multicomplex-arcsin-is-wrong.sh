#!/usr/bin/env bash
# Second derivatives of arcsin, arccos and arctan by numdifftools' method "multicomplex" are wrong by 2 %.
#
# One would expect: the multicomplex method has no differences that cancel, and so is accurate to rounding, for each
# function that numdifftools gives to its bicomplex numbers. For tan, tanh, log, sqrt, arcsinh and arctanh it is.
# What happens: at 0.5 the second derivative of arcsin is 0.78125, not 0.7698, that of arctan -0.625, not -0.64. The
# bicomplex versions of these functions are not those functions.
#
# Seen with numdifftools 0.11.2 and NumPy 2.4.6; method "central" of the same class is right.
#
# Why it matters: who checks a Hessian of angles (orientations, phases, projections of a camera) takes the method that
# is praised for its digits, finds 1.5 % and looks for an error elsewhere.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 numdifftools==0.11.2

cat > "$folder/seen.py" <<'EOF'
import numdifftools as nd
import numpy as np

x, errors = 0.5, {}
for name, right in (
    ("arcsin", x / (1 - x * x) ** 1.5),
    ("arccos", -x / (1 - x * x) ** 1.5),
    ("arctan", -2 * x / (1 + x * x) ** 2),
    ("arcsinh", -x / (1 + x * x) ** 1.5),
    ("tan", 2 * np.tan(x) / np.cos(x) ** 2),
):
    function = getattr(np, name)
    found = nd.Derivative(function, n=2, method="multicomplex")(x)
    central = nd.Derivative(function, n=2, method="central")(x)
    errors[name] = abs(float(found) / right - 1)
    print(f"{name}: multicomplex {float(found):.9f}, central {float(central):.9f}, right {right:.9f}")
    assert abs(float(central) / right - 1) < 1e-7
if min(errors[name] for name in ("arcsin", "arccos", "arctan")) < 0.01 or max(errors["arcsinh"], errors["tan"]) > 1e-9:
    raise SystemExit("multicomplex derivatives are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
