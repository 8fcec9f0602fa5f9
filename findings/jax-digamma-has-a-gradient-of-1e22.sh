#!/usr/bin/env bash
# The derivative of JAX's digamma is 2.6e22 at -10.2, where it is 28.5.
#
# One would expect: lgamma and digamma take negative arguments in JAX, and are right there; so then is the trigamma
# function that jax.grad(digamma) returns, which is positive everywhere.
# What happens: it is right to ten digits down to -3.3, to six at -7.5, and then -2.9e12 at -9.5, 2.6e22 at -10.2, -0.03
# at -30.7. It is a Hurwitz zeta function, of which a fixed number of terms is added before a series in the rest, and
# the rest must be positive by then. The second derivative of gammaln is the same; SciPy's polygamma is right.
#
# Seen with JAX 0.10.2 in double precision and SciPy 1.17.1.
#
# Why it matters: analytic continuations and generalised binomial coefficients have gammas of negative numbers, and
# Newton's method for the extrema of 1 / gamma needs this derivative. A finite number, not a NaN, comes out.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile jax==0.10.2 numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import jax
from scipy import special

jax.config.update("jax_enable_x64", True)
trigamma = jax.grad(jax.scipy.special.digamma)
curvature = jax.grad(jax.grad(jax.scipy.special.gammaln))
errors = {}
for x in (-1.5, -7.5, -9.5, -10.2, -30.7):
    found, right = float(trigamma(x)), float(special.polygamma(1, x))
    difference = (special.digamma(x + 1e-6) - special.digamma(x - 1e-6)) / 2e-6
    assert abs(difference / right - 1) < 1e-6
    errors[x] = abs(found / right - 1)
    print(f"x = {x}: grad of digamma {found:.9g}, twice grad of gammaln {float(curvature(x)):.9g}, right {right:.9g}")
if errors[-1.5] > 1e-12 or not 1e-8 < errors[-7.5] < 1e-5 or errors[-9.5] < 1e9 or errors[-10.2] < 1e18 or errors[-30.7] < 1:
    raise SystemExit("digamma has other derivatives now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
