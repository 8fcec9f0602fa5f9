#!/usr/bin/env bash
# SymPy takes the degree 5/2 of Gegenbauer, Jacobi and Laguerre functions for 2.
#
# One would expect: gegenbauer(5/2, a, x) stays as it is, as legendre(5/2, x), chebyshevt(5/2, x) and hermite(5/2, x)
# do, or is refused, as laguerre(5/2, x) is. For any degree it is a hypergeometric function.
# What happens: gegenbauer, jacobi and assoc_laguerre return the polynomial of degree int(5/2) = 2, without a word.
# Substituting 5/2 for a symbolic degree does the same, so a formula that was right with symbols becomes another one
# with numbers.
#
# Seen with SymPy 1.14.0; reference values by mpmath 1.3.0.
#
# Why it matters: harmonics in fractional dimension, radial functions with a quantum defect and fractional powers of
# oscillators have such degrees. What comes out is a smooth polynomial and near the right value.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet sympy==1.14.0 mpmath==1.3.0

cat > "$folder/seen.py" <<'EOF'
import mpmath
import sympy

n, x = sympy.symbols("n x")
half, third, quarter, at = sympy.Rational(5, 2), sympy.Rational(1, 3), sympy.Rational(1, 4), sympy.Rational(3, 10)
seen = []
for name, symbolic, right in (
    ("gegenbauer", sympy.gegenbauer(n, third, x), mpmath.gegenbauer(2.5, mpmath.mpf(1) / 3, 0.3)),
    ("jacobi", sympy.jacobi(n, third, quarter, x), mpmath.jacobi(2.5, mpmath.mpf(1) / 3, 0.25, 0.3)),
    ("assoc_laguerre", sympy.assoc_laguerre(n, third, x), mpmath.laguerre(2.5, mpmath.mpf(1) / 3, 0.3)),
):
    put = symbolic.subs(n, half)
    value = float(put.subs(x, at))
    print(f"{name}: n = 5/2 put in gives {put}; at 3/10 {value:.9f}, right {float(right):.9f}")
    seen.append(put == symbolic.subs(n, 2) and put.is_polynomial(x) and abs(value - right) > 1e-3)
print("legendre stays:", sympy.legendre(half, x))
if not all(seen) or sympy.legendre(half, x).is_polynomial(x):
    raise SystemExit("degrees are taken in another way now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
