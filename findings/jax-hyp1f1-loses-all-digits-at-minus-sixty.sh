#!/usr/bin/env bash
# JAX's confluent hypergeometric function is -1.2e7 where it is 0.114, at an argument of -60.
#
# One would expect: hyp1f1(1/2, 3/2, -x**2) is the error function of x over x, up to sqrt(pi) / 2: between 0 and 1, and
# 0.1144 at -60.
# What happens: the digits go one after the other as the argument falls: 9 are right at -20, none at -40 (0.106 for
# 0.140), and at -60 the result is -1.2e7, in double precision. The same function at the positive argument is right, and
# Kummer's transformation exp(z) hyp1f1(1, 3/2, -z) is too. SciPy is right.
#
# Seen with JAX 0.10.2 and SciPy 1.17.1.
#
# Why it matters: such values are moments of a normal distribution, Boys functions of quantum chemistry and solutions of
# diffusion, always for negative arguments. No NaN and no warning tells that nothing of them is right.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile jax==0.10.2 numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import math

import jax
import scipy.special

jax.config.update("jax_enable_x64", True)
function = jax.scipy.special.hyp1f1
for z in (-10.0, -20.0, -40.0, -60.0):
    exact = math.sqrt(math.pi) / 2 * math.erf(math.sqrt(-z)) / math.sqrt(-z)
    found, scipys = float(function(0.5, 1.5, z)), float(scipy.special.hyp1f1(0.5, 1.5, z))
    turned = math.exp(z) * float(function(1.0, 1.5, -z))
    print(f"z = {z}: JAX {found:.10g}, SciPy {scipys:.10g}, by Kummer {turned:.10g}, exact {exact:.10g}")
    if not math.isclose(scipys, exact, rel_tol=1e-12) or not math.isclose(turned, exact, rel_tol=1e-9):
        raise SystemExit("what was right is another number now")
    if z <= -40 and math.isclose(found, exact, rel_tol=0.1):
        raise SystemExit("the function is right now")
if abs(found) < 1e6:
    raise SystemExit("the value at -60 is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
