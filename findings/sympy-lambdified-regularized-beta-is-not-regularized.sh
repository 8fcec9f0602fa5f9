#!/usr/bin/env bash
# SymPy's regularized incomplete beta function loses its divisor when it is made a function for mpmath.
#
# One would expect: lambdify returns a function with the values of the expression, whichever module it is for.
# What happens: betainc_regularized(a, b, x1, x2) is the integral over beta(a, b). Made for mpmath, the call is passed
# on with its arguments as they are, and mpmath's betainc needs the option regularized=True for that: what comes out is
# the integral alone, 0.0342 instead of 0.1739 for a = 5/2, b = 3/2 from 0 to 0.4. Made for SciPy the number is right,
# and so is evalf, which goes through mpmath too.
#
# Seen with SymPy 1.14.0, mpmath 1.3.0 and SciPy 1.17.1.
#
# Why it matters: Student's t, the F, the beta and the binomial distribution have it as their distribution function, and
# mpmath is the module that is taken to check the others with more digits. The distribution function ends at beta(a, b)
# instead of 1.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet sympy==1.14.0 mpmath==1.3.0 numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import mpmath
import sympy

a, b, x = sympy.symbols("a b x", positive=True)
expression = sympy.betainc_regularized(a, b, 0, x)
functions = {module: sympy.lambdify((a, b, x), expression, module) for module in ("mpmath", "scipy")}
wrong, right_elsewhere = [], []
for point in ((2.5, 1.5, 0.4), (3.0, 2.0, 0.9), (0.5, 0.5, 0.5), (2.5, 1.5, 1.0)):
    right = float(mpmath.betainc(point[0], point[1], 0, point[2], regularized=True))
    values = {module: float(function(*point)) for module, function in functions.items()}
    exact = float(expression.subs(dict(zip((a, b, x), point))).evalf())
    integral = float(mpmath.betainc(point[0], point[1], 0, point[2]))
    print(point, "right", right, "evalf", exact, "scipy", values["scipy"], "mpmath", values["mpmath"])
    wrong.append(abs(values["mpmath"] - integral) < 1e-12 and abs(integral - right) > 1e-3)
    right_elsewhere.append(abs(values["scipy"] - right) < 1e-12 and abs(exact - right) < 1e-12)
if not all(right_elsewhere):
    raise SystemExit("the other ways are wrong now")
if not all(wrong):
    raise SystemExit("the function for mpmath is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
