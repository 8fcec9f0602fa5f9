#!/usr/bin/env bash
# PyTensor's derivative of gammaincc(k, x) in k is -5e58 at k = 100, x = 90, where that of gammainc(k, x) is right: -0.025.
#
# One would expect: gammainc + gammaincc is 1, so that their derivatives in k are equal but for the sign.
# What happens: that of gammainc has ten digits and more. That of gammaincc is a series that alternates and loses as many
# digits as its terms are large, and ends at 1e-6: it has four to six digits at k = 5, x = 2.3 or k = 2, x = 5, and is
# 42.6 instead of 0.0102 at k = 30, x = 20, all in double precision. Values are right, and the derivative in x is.
#
# Seen with PyTensor 3.0.7, in the mode FAST_COMPILE and in the default one; the right numbers are by mpmath 1.4.1.
#
# Why it matters: gammaincc is the probability to survive of a gamma variable, and its derivative in k that in the shape
# of a fit with censored data. A sampler or a descent is thrown away by one such point, and an exchange of
# 1 - gammainc for gammaincc, which is to gain digits, loses all.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 scipy==1.17.1 pytensor==3.0.7 mpmath==1.4.1

cat > "$folder/seen.py" <<'EOF'
import mpmath
import pytensor
import pytensor.tensor as pt

mpmath.mp.dps = 30
k, x = pt.dscalars("k", "x")
outputs = [*pt.grad(pt.gammainc(k, x), [k, x]), *pt.grad(pt.gammaincc(k, x), [k, x]), pt.gammainc(k, x) + pt.gammaincc(k, x)]
derivatives = pytensor.function([k, x], outputs, mode="FAST_COMPILE")
errors = {}
for at in ((2.3, 2.3), (5.0, 2.3), (2.0, 5.0), (10.0, 10.0), (30.0, 20.0), (100.0, 90.0)):
    right = mpmath.diff(lambda shape: mpmath.gammainc(shape, 0, at[1], regularized=True), at[0])
    lower, lower_in_x, upper, upper_in_x, total = (float(value) for value in derivatives(*at))
    errors[at] = abs(float(lower / right - 1)), abs(float(-upper / right - 1))
    print(f"k, x = {at}: in k {lower:.8g} and {upper:.8g}, right {float(right):.8g} and {float(-right):.8g}")
    if abs(total - 1) > 1e-12 or abs(lower_in_x + upper_in_x) > 1e-12:
        raise SystemExit("values or derivatives in x are wrong now")
if max(lower for lower, _ in errors.values()) > 1e-9:
    raise SystemExit("gammainc has other derivatives now")
if errors[2.0, 5.0][1] < 1e-5 or errors[5.0, 2.3][1] < 1e-6 or errors[30.0, 20.0][1] < 100 or errors[100.0, 90.0][1] < 1e50:
    raise SystemExit("gammaincc has other derivatives now")
EOF
cd "$folder" && "$folder/venv/bin/python" -W ignore seen.py
