#!/usr/bin/env bash
# SymPy's spherical Bessel functions have the wrong sign as soon as a negative argument is a float.
#
# One would expect: jn(2, x) is even, jn(1, x) is odd and jn(0, x) is sin(x)/x, whatever way they are evaluated.
# What happens: jn(0, -0.6).evalf() is -0.94, and sin(-0.6)/(-0.6) is +0.94; every order and yn as well have the wrong
# sign for all negative x. The number comes from sqrt(pi / (2 x)) besselj(n + 1/2, x), whose two branches of the root do
# not fit. Expanded in sines and cosines first, by expand(func=True), the same function is right; so is lambdify with
# SciPy.
#
# Seen with SymPy 1.14.0, mpmath 1.3.0 and SciPy 1.17.1.
#
# Why it matters: waves from -a to a, Fourier transforms of shells and partial waves use both signs; a plot by evalf and
# one by lambdify are each other's mirror image on one half only.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet sympy==1.14.0 mpmath==1.3.0 numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import sympy
from scipy import special

x = sympy.Symbol("x")
wrong = []
for order in (0, 1, 2, 3):
    for function, reference in ((sympy.jn, special.spherical_jn), (sympy.yn, special.spherical_yn)):
        direct = float(function(order, -0.6).evalf())
        expanded = float(function(order, x).expand(func=True).subs(x, -0.6))
        compiled = float(sympy.lambdify(x, function(order, x), "scipy")(-0.6))
        exact = float(reference(order, 0.6)) * (-1) ** order * (1 if function is sympy.jn else -1)
        print(f"{function.__name__}({order}, -0.6): evalf {direct:.9f}, expanded {expanded:.9f}, by SciPy {compiled:.9f}")
        assert abs(expanded - exact) < 1e-9 * abs(exact) and abs(compiled - exact) < 1e-9 * abs(exact)
        wrong.append(abs(direct + exact) < 1e-9 * abs(exact))
if not all(wrong):
    raise SystemExit("some have the right sign now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
