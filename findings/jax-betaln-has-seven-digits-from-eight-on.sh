#!/usr/bin/env bash
# JAX's logarithm of the beta function has seven digits in double precision as soon as one argument is 8 or more.
#
# One would expect: with jax_enable_x64, betaln(a, b) has the digits of a double, as gammaln has; for arguments of 8
# and more a formula of its own is there to keep digits that the sum of three gammaln loses.
# What happens: betaln(3, 7.99) is right to the last digit, and betaln(3, 8) is off by 1.3e-6, betaln(3, 9) by 9e-7,
# betaln(20, 30) by 2e-8. In the terms of the series stands a / (a + b) where the algorithm that is named as the
# source has b / (a + b), so that only a = b and very large arguments come out right. The beta-binomial distribution
# is made of it: the probabilities of 10 trials add up to 1 - 7e-8. In float32 the error can just be seen.
#
# Seen with JAX 0.10.2 in double precision; the right numbers are by mpmath 1.4.1.
#
# Why it matters: the likelihood of the beta-binomial and the beta distribution jumps where an argument passes 8, and
# differences of it, as a line search or a comparison of models takes them, have no digits below 1e-6.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile jax==0.10.2 numpy==2.4.6 scipy==1.17.1 mpmath==1.4.1

cat > "$folder/seen.py" <<'EOF'
import jax
import mpmath
from jax.scipy.special import betaln
from jax.scipy.stats import betabinom

jax.config.update("jax_enable_x64", True)
mpmath.mp.dps = 40
errors = {}
for a, b in ((3.0, 7.99), (3.0, 8.0), (3.0, 9.0), (20.0, 30.0), (100.0, 3.0), (8.0, 8.0), (3.0, 1e6)):
    found, right = float(betaln(a, b)), float(mpmath.log(mpmath.beta(a, b)))
    errors[a, b] = abs(found - right)
    print(f"betaln({a:g}, {b:g}) = {found:.12f}, right {right:.12f}: off by {errors[a, b]:.1e}")
total = sum(float(betabinom.pmf(k, 10, 2.0, 3.0)) for k in range(11))
print("the probabilities of a beta-binomial distribution of 10 trials add up to 1 -", 1 - total)
is_right = max(errors[3.0, 7.99], errors[8.0, 8.0], errors[3.0, 1e6]) < 1e-13
if errors[3.0, 8.0] < 1e-7 or errors[3.0, 9.0] < 1e-7 or abs(total - 1) < 1e-9 or not is_right:
    raise SystemExit("betaln has other digits now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
