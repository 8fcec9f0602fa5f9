#!/usr/bin/env bash
# CasADi's gradient of the largest of ten equal numbers is 1/2 for the last and 1/512 for the first.
#
# One would expect: where several elements are the largest, each has an equal share of the gradient, as fmax has for two, or one of
# them has all of it; a function that does not depend on the order of elements has a gradient that does not, either.
# What happens: mmax of symbols (SX) is made of nine fmax one in another, each of which halves what comes from the right: the shares
# are 1/2, 1/4, ... from the last to the first. mmin is so, too. Of the same function of matrix symbols (MX) each element
# has its equal share. The sum of the shares is 1 in both.
#
# Seen with CasADi 3.8.2 and NumPy 2.4.6.
#
# Why it matters: the largest error or stress of a symmetric problem is the same at several places. Descent follows one of them
# and breaks the symmetry, and an expanded function (.expand(), which makes SX of MX to be faster) has another gradient.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 casadi==3.8.2

cat > "$folder/seen.py" <<'EOF'
import casadi
import numpy as np

n, ones = 10, np.ones(10)
seen = {}
for name in ("mmax", "mmin"):
    for kind in ("SX", "MX"):
        x = getattr(casadi, kind).sym("x", n)
        gradient = casadi.Function("gradient", [x], [casadi.gradient(getattr(casadi, name)(x), x)])
        seen[name, kind] = np.asarray(gradient(ones)).ravel()
        print(f"{name} of {kind}: {seen[name, kind].tolist()}")
x = casadi.MX.sym("x", n)
largest = casadi.Function("largest", [x], [casadi.mmax(x)])
expanded = largest.expand()
slopes = [np.asarray(f.jacobian()(ones, 0)).ravel() for f in (largest, expanded)]
print("a function of MX", slopes[0].tolist(), "and expanded", slopes[1].tolist())
y = casadi.SX.sym("y", 2)
pair = casadi.Function("pair", [y], [casadi.gradient(casadi.fmax(y[0], y[1]), y)])
print("fmax of two:", np.asarray(pair(np.ones(2))).ravel().tolist())
if any(abs(shares.sum() - 1) > 1e-12 for shares in seen.values()):
    raise SystemExit("the shares have another sum now")
halves = 0.5 ** np.arange(n, 0, -1)
halves[0] *= 2
if not all(np.allclose(seen[name, "SX"], halves) and np.allclose(seen[name, "MX"], 1 / n) for name in ("mmax", "mmin")):
    raise SystemExit("the shares are others now")
if np.allclose(*slopes):
    raise SystemExit("an expanded function has the same gradient now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
