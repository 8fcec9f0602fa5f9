#!/usr/bin/env bash
# Which of two symbols is replaced first decides whether SymPy's Legendre function of degree 1/2 is 0.34 or 0.70 i.
#
# One would expect: legendre(n, x) at n = 1/2 and x = -3/10 is one number, 0.3398 by mpmath, whatever is put in first;
# SymPy itself evaluates legendre(1/2, -3/10) to that.
# What happens: as soon as the argument shows a minus sign, legendre(n, -x) becomes (-1)^n legendre(n, x), whether n is
# an integer or not. So x first and then n gives i legendre(1/2, 3/10) = 0.7009 i, and n first 0.3398. The functions
# chebyshevt, chebyshevu and hermite do the same. Those of degree 1/2, without a symbol, keep the sign.
#
# Seen with SymPy 1.14.0; the right numbers are by mpmath 1.3.0.
#
# Why it matters: series over degrees that are not whole, as in cones and wedges, are written with a symbol for the
# degree and evaluated at a place, often at -x or cos(pi - theta); what comes out has the size of a right number and is
# imaginary, and its square or modulus looks like one.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet sympy==1.14.0 mpmath==1.3.0

cat > "$folder/seen.py" <<'EOF'
import mpmath
import sympy

n, x, half, at = sympy.Symbol("n"), sympy.Symbol("x"), sympy.Rational(1, 2), sympy.Rational(-3, 10)
seen = []
for function, reference in (
    (sympy.legendre, mpmath.legendre),
    (sympy.chebyshevt, mpmath.chebyt),
    (sympy.chebyshevu, mpmath.chebyu),
    (sympy.hermite, mpmath.hermite),
):
    expression, right = function(n, x), complex(reference(0.5, mpmath.mpf(-3) / 10))
    place_first = complex(expression.subs(x, at).subs(n, half))
    degree_first = complex(expression.subs(n, half).subs(x, at))
    print(f"{function.__name__}: x first {place_first:.6f}, n first {degree_first:.6f}, right {right:.6f};",
          "of -x:", function(n, -x))
    seen.append(abs(degree_first - right) < 1e-12 and abs(place_first - right) > 0.5)
    if complex(expression.subs(x, at).subs(n, 4)) != complex(expression.subs(n, 4).subs(x, at)):
        raise SystemExit("whole degrees depend on the order now")
print("with n = 1/2 from the beginning:", sympy.legendre(half, -x))
if not all(seen):
    raise SystemExit("the order does not matter any more")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
