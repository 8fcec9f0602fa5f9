#!/usr/bin/env bash
# In num_dual the derivative of tanh is negative at 19, NaN or 1 at 400, and tanh itself is NaN at 800.
#
# One would expect: tanh(x) is flat for large x: 1, with derivatives that are positive and vanish, as 1e-16 at 19.
# What happens: the function is the quotient sinh / cosh of dual numbers. At 19 it is above 1, and its derivative is
# -3.8e-16; from 20 on the derivative is 0, but at 355 the second one is -2 and the third one -6. From 356 on, where the
# square of cosh overflows, the first derivative is NaN by first_derivative and by gradient, and 1, as if tanh were the
# straight line, by third_derivative; the value is right there. From 711 on, where cosh overflows, everything is NaN.
#
# Seen with num_dual 0.15.1, the Python package.
#
# Why it matters: tanh is the switch of smoothed steps and saturations, and is taken of large arguments by design, as
# tanh(distance / width). One such element makes the whole gradient NaN, or adds a 1 to it.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 num-dual==0.15.1

cat > "$folder/seen.py" <<'EOF'
import math

import num_dual


def tanh(x):
    return x.tanh()


def sum_of_tanh(x):
    return x[0].tanh() + x[1].tanh()


first, third = {}, {}
for x in (1.0, 19.0, 25.0, 355.0, 400.0, 800.0):
    first[x] = num_dual.first_derivative(tanh, x)
    third[x] = num_dual.third_derivative(tanh, x)
    right = math.cosh(x) ** -2 if x < 350 else 0.0
    print(f"x = {x}: tanh {first[x][0]!r}, derivative {first[x][1]!r} or {third[x][1]!r}, right {right:.3g}")
    print("    derivatives of the second and third order:", third[x][2:])
value, gradient = num_dual.gradient(sum_of_tanh, [0.5, 400.0])
print("gradient of tanh(0.5) + tanh(400):", gradient)
if not math.isclose(first[1.0][1], math.cosh(1) ** -2, rel_tol=1e-14):
    raise SystemExit("tanh is wrong near 0 now")
if not (first[19.0][0] > 1 and first[19.0][1] < 0 and first[25.0][1] == 0):
    raise SystemExit("tanh has other values near 19 now")
if abs(third[355.0][2] + 2) > 1e-9 or tuple(third[400.0]) != (1.0, 1.0, 1.0, 1.0):
    raise SystemExit("higher derivatives of tanh are others now")
if first[400.0][0] != 1 or not math.isnan(first[400.0][1]):
    raise SystemExit("tanh has other derivatives at 400 now")
if not math.isnan(first[800.0][0]) or not math.isnan(gradient[1]):
    raise SystemExit("tanh has other values beyond 711 now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
