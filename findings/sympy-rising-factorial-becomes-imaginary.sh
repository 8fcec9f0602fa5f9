#!/usr/bin/env bash
# SymPy's rising factorial of a negative number, written with gamma functions, is imaginary where it is real.
#
# One would expect: RisingFactorial(x, k) is gamma(x + k) / gamma(x), which is how SymPy evaluates it: at -7/10 and 3/2 it is -0.272.
# rewrite(gamma) writes it so, for all x.
# What happens: it is written so for positive x. For the others there is (-1)**k gamma(1 - x) / gamma(1 - k - x) beside it, which is
# the same for whole k alone: for k = 3/2 the factor is -i, and the value -0.198 i. FallingFactorial is so, too, for
# x below 0. For a symbol k nothing is assumed either, and numbers are put in later.
#
# Seen with SymPy 1.14.0; the right numbers are by mpmath 1.3.0.
#
# Why it matters: fractional derivatives of powers, Jacobi polynomials and hypergeometric terms of fractional order are such
# products. gammasimp, limits and sums rewrite them on the way, and the result is imaginary for half of the numbers.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet sympy==1.14.0 mpmath==1.3.0

cat > "$folder/seen.py" <<'EOF'
import mpmath
import sympy

x, k = sympy.symbols("x k", real=True)
wrong = []
for function, right in ((sympy.RisingFactorial, mpmath.rf), (sympy.FallingFactorial, mpmath.ff)):
    expression = function(x, k)
    written = expression.rewrite(sympy.gamma)
    print(f"{expression} written with gamma: {written}")
    for place, order in ((1.3, 1.5), (-0.7, 1.5), (-2.3, 0.5), (-2.3, 3), (-0.7, 2)):
        values = {x: sympy.Rational(str(place)), k: sympy.Rational(str(order))}
        exact, before, after = right(place, order), complex(expression.subs(values).evalf()), complex(written.subs(values).evalf())
        print(f"    at {place} and {order}: {after:.6g}, right {mpmath.nstr(exact, 6)}, before {before:.6g}")
        if abs(before - complex(exact)) > 1e-9:
            raise SystemExit("the functions themselves are others now")
        if abs(after - before) > 1e-9:
            wrong.append((function.__name__, place, order))
            if abs(after.real) > 1e-9:
                raise SystemExit("wrong numbers are not imaginary now")
if wrong != [(name, *at) for name in ("RisingFactorial", "FallingFactorial") for at in ((-0.7, 1.5), (-2.3, 0.5))]:
    raise SystemExit(f"wrong are {wrong} now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
