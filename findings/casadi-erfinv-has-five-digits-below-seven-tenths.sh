#!/usr/bin/env bash
# CasADi's inverse error function has 16 digits at 0.3 and 0.7, and fewer than six at 0.69 and -0.7.
#
# One would expect: erfinv in double precision has its digits all along, and erfinv(-x) is -erfinv(x), as in SciPy.
# What happens: two steps of Newton's method polish a rational approximation. From 0.4 to 0.7 the approximation is too
# coarse for two: the error grows from 2e-14 to 3e-6, and in between it is 3e-11 at 0.5 and 2e-7 at 0.65. (The
# denominator has its coefficients in the wrong order.) From -0.7 down nothing is polished, so erfinv(-0.8) is off by
# 6e-8 and erfinv(0.8) is right to the last bit. Symbols of both kinds (SX, MX) and numbers (DM) do the same.
#
# Seen with CasADi 3.8.2; the right numbers are by mpmath 1.3.0. A build of CasADi that finds an erfinv in the system's
# library of mathematics takes that.
#
# Why it matters: the normal quantile is sqrt(2) erfinv(2 p - 1), for chance constraints and for normal samples. The
# function jumps at 0.7, and its derivative, exp(erfinv(x)^2) sqrt(pi) / 2, is not the slope of what is computed: a
# solver that is asked for 1e-8 meets a bend.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 casadi==3.8.2 mpmath==1.3.0

cat > "$folder/seen.py" <<'EOF'
import casadi
import mpmath

mpmath.mp.dps = 40
x, errors = casadi.MX.sym("x"), {}
erfinv = casadi.Function("erfinv", [x], [casadi.erfinv(x)])
for p in (0.3, 0.5, 0.6, 0.65, 0.69, 0.7, 0.8, 0.95, 0.999):
    for signed in (p, -p):
        found, right = float(erfinv(signed)), mpmath.erfinv(mpmath.mpf(signed))
        errors[signed] = float(abs(found / right - 1))
        print(f"erfinv({signed}) = {found:.15f}, right {float(right):.15f}: off by {errors[signed]:.1e}")
lower, upper = (float(2**0.5 * casadi.erfinv(casadi.DM(2 * p - 1))) for p in (0.05, 0.95))
print("normal quantiles of 5 % and 95 %:", lower, upper)
if max(errors[p] for p in (0.3, -0.3, 0.7, 0.8, 0.95, 0.999)) > 1e-13:
    raise SystemExit("other numbers have lost digits now")
if min(errors[p] for p in (0.65, -0.65, 0.69, -0.69, -0.7)) < 1e-7 or errors[0.69] < 1e-6 or errors[0.5] < 1e-12:
    raise SystemExit("numbers of a middle size have other digits now")
if min(errors[p] for p in (-0.8, -0.95, -0.999)) < 1e-9 or lower == -upper:
    raise SystemExit("negative numbers have other digits now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
