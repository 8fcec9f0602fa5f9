#!/usr/bin/env bash
# JAX's Hessian of the logarithm of the beta function is wrong wherever both arguments are equal.
#
# One would expect: the second derivatives of betaln(a, b) at a = b = 1 are 1 on the diagonal and -0.6449 beside it, as
# trigamma functions give.
# What happens: all four numbers are 0.1775, their mean, so the Hessian is singular; at b = 1.0000001 they are right, and
# the gradient is right everywhere. The function is computed from the smaller and the larger argument, and where these are
# equal half of each derivative goes to each side: right for the gradient, not for what is differentiated twice.
#
# Seen with JAX 0.10.2 in double precision, by jax.hessian and by grad of grad.
#
# Why it matters: a beta distribution is fitted from a = b = 1, the uniform one. Newton's method begins with a singular
# matrix there, and a Fisher information or Laplace approximation at a symmetric distribution is wrong, without a NaN.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile jax==0.10.2 numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import polygamma

jax.config.update("jax_enable_x64", True)
hessian = jax.hessian(lambda p: jax.scipy.special.betaln(p[0], p[1]))


def exact(a, b):
    joint = polygamma(1, a + b)
    return np.array([[polygamma(1, a) - joint, -joint], [-joint, polygamma(1, b) - joint]])


for a, b in [(1.0, 1.0), (2.0, 2.0), (1.0, 1.0000001)]:
    found = np.asarray(hessian(jnp.array([a, b])))
    print(f"a = {a}, b = {b}: {found.round(4).tolist()}, exact {exact(a, b).round(4).tolist()}")
    if a == b and not np.allclose(found, exact(a, b).mean(), rtol=1e-6):
        raise SystemExit("the Hessian for equal arguments is another one now")
    if a != b and not np.allclose(found, exact(a, b), rtol=1e-6):
        raise SystemExit("the Hessian for different arguments is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
