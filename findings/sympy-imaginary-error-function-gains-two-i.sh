#!/usr/bin/env bash
# SymPy's erfi(x), rewritten with expint, is larger by 2 i at every number, and airyaiprime with besseli is another function.
#
# One would expect: rewrite gives another form of the same function, perhaps with another branch left of the origin.
# What happens: erfi(x).rewrite(expint) at 0.3 is 0.349 + 2 i. The term that is odd has the wrong sign: that of erf(x), which is
# right. The derivative of the Airy function Ai, rewritten with Bessel functions I, is -0.179 at 0.3 instead of -0.245,
# and -0.209 at 1.7 instead of -0.077, where Ai itself, its sister Bi and the derivative of Bi are right.
#
# Seen with SymPy 1.14.0; the right numbers are by mpmath 1.3.0.
#
# Why it matters: one rewrites to reach a form that a limit, a series or a code generator knows; both are entire functions, and
# these are positive real numbers, so no branch warns. The second form is real and of the right size.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet sympy==1.14.0 mpmath==1.3.0

cat > "$folder/seen.py" <<'EOF'
import mpmath
import sympy

x = sympy.Symbol("x")
rights = {
    "erf with expint": (sympy.erf(x), sympy.expint, mpmath.erf),
    "erfi with expint": (sympy.erfi(x), sympy.expint, mpmath.erfi),
    "airyai with besseli": (sympy.airyai(x), sympy.besseli, mpmath.airyai),
    "airybi with besseli": (sympy.airybi(x), sympy.besseli, mpmath.airybi),
    "airyaiprime with besseli": (sympy.airyaiprime(x), sympy.besseli, lambda v: mpmath.airyai(v, derivative=1)),
    "airybiprime with besseli": (sympy.airybiprime(x), sympy.besseli, lambda v: mpmath.airybi(v, derivative=1)),
}
off = {}
for name, (function, target, right) in rights.items():
    form = function.rewrite(target)
    print(f"{name}: {form}")
    for place in (sympy.Rational(3, 10), sympy.Rational(17, 10)):
        value, exact = complex(form.subs(x, place)), complex(right(mpmath.mpf(place.p) / place.q))
        before = complex(function.subs(x, place))
        off.setdefault(name, []).append(value - exact)
        print(f"    at {place}: {value:.6g}, right {exact:.6g}, before it was rewritten {before:.6g}")
        if abs(before - exact) > 1e-9 or form == function:
            raise SystemExit("the functions themselves are others now")
wrong = [name for name, errors in off.items() if max(map(abs, errors)) > 1e-9]
if wrong != ["erfi with expint", "airyaiprime with besseli"]:
    raise SystemExit(f"wrong are {wrong} now")
if any(abs(error - 2j) > 1e-9 for error in off["erfi with expint"]):
    raise SystemExit("erfi is wrong by another number now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
