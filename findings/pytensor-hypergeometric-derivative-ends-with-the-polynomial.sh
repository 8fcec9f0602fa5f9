#!/usr/bin/env bash
# PyTensor's derivative of hyp2f1(a, b, c, z) in a is 0 at a = 0, where it is 0.230, and 14 % too large at a = -1.
#
# One would expect: the function is smooth in a; PyTensor's own derivative at a = 1e-9 is 0.230.
# What happens: for a = 0, -1, -2, ... the series of the function is a polynomial, and the loop over the series of the
# derivative ends with it. But from there on each term of the function has the factor a + k, which is 0, and the term of
# the derivative has none: all of them are left out. The same holds for the derivative in b at b = 0, -1, -2, ...;
# derivatives in c and z are right.
#
# Seen with PyTensor 3.0.7, in the mode FAST_COMPILE and in the default one; the right numbers are by mpmath 1.4.1.
#
# Why it matters: 0 is where one starts, and a = -n is the polynomial (of Jacobi, of Legendre) from which one looks at
# degrees in between. A fit that starts at a = 0 sees no slope, and does not move.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 scipy==1.17.1 pytensor==3.0.7 mpmath==1.4.1

cat > "$folder/seen.py" <<'EOF'
import mpmath
import pytensor
import pytensor.tensor as pt

a, b, c, z = pt.dscalars("a", "b", "c", "z")
gradient = pytensor.function([a, b, c, z], pt.grad(pt.hyp2f1(a, b, c, z), [a, b, c, z]), mode="FAST_COMPILE")
names, errors = "abcz", {}
for at in ((1e-9, 2.3, 3.4, 0.3), (0.0, 2.3, 3.4, 0.3), (-1.0, 2.3, 3.4, 0.3), (-2.0, 2.3, 3.4, 0.3), (1.2, 0.0, 3.4, 0.3)):
    found = [float(slope) for slope in gradient(*at)]
    for i, name in enumerate(names):
        right = float(mpmath.diff(lambda v: mpmath.hyp2f1(*at[:i], v, *at[i + 1 :]), at[i]))
        errors[at[0], name] = abs(found[i] - right)
        if name in "ab":
            print(f"a, b, c, z = {at}: derivative in {name} {found[i]:.9f}, right {right:.9f}")
wrong = sorted(key for key, error in errors.items() if error > 1e-6)
print("wrong by more than 1e-6, as (a, variable):", wrong)
if wrong != [(-2.0, "a"), (-1.0, "a"), (0.0, "a"), (1.2, "b")] or errors[0.0, "a"] < 0.2:
    raise SystemExit("other derivatives are wrong now")
EOF
cd "$folder" && "$folder/venv/bin/python" -W ignore seen.py
