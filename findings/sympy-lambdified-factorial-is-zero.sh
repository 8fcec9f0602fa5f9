#!/usr/bin/env bash
# The factorial of -1/2 is sqrt(pi) in SymPy and 0 in the function that SymPy makes of it for SciPy.
#
# One would expect: lambdify returns a function with the values of the expression.
# What happens: SymPy's factorial(x) is gamma(x + 1) for any number. lambdify translates it to scipy.special.factorial,
# which is made for counts: it is 0 for every negative number. With gamma(x + 1) written out, both agree.
#
# Seen with SymPy 1.14.0 and SciPy 1.17.1.
#
# Why it matters: series solutions, volumes of balls and fractional derivatives have factorials of half-integers; the
# terms with negative ones vanish without a word or a NaN, and the sum looks plausible.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet sympy==1.14.0 numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import math

import sympy

x = sympy.Symbol("x")
by_factorial = sympy.lambdify(x, sympy.factorial(x), "scipy")
by_gamma = sympy.lambdify(x, sympy.gamma(x + 1), "scipy")
seen = {}
for value in (2.5, 0.5, -0.5, -1.5):
    exact = float(sympy.factorial(value).evalf())
    seen[value] = float(by_factorial(value)), float(by_gamma(value))
    print(f"{value}: evalf {exact:.9f}, factorial lambdified {seen[value][0]:.9f}, gamma lambdified {seen[value][1]:.9f}")
    assert math.isclose(seen[value][1], exact, rel_tol=1e-12)
if seen[-0.5][0] != 0.0 or seen[-1.5][0] != 0.0 or not math.isclose(*seen[2.5], rel_tol=1e-12):
    raise SystemExit("the factorial is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
