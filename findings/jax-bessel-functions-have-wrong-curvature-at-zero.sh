#!/usr/bin/env bash
# JAX has two functions i0, and at 0 the second derivative of one is 0, that of the other 3/2: it is 1/2.
#
# One would expect: i0(x) = 1 + x**2/4 + ..., so its second derivative at 0 is 1/2; i1 is odd, so its is 0.
# What happens: that of jnp.i0 is 0 there, that of jax.scipy.special.i0 is 3/2, and that of i1 is 1. At 1e-8 all are
# right. They are computed from the scaled functions, which have abs(x) in them and a corner at 0; the derivative of abs
# at 0 is 0 by convention, so that terms that should cancel or add do not.
#
# Seen with JAX 0.10.2 in double precision, by grad of grad, jax.hessian and jacfwd of jacfwd.
#
# Why it matters: i0 normalises the von Mises distribution and the Rice distribution; at concentration or signal 0, the
# natural start, the Fisher information is wrong, without a NaN to notice.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile jax==0.10.2 numpy==2.4.6

cat > "$folder/seen.py" <<'EOF'
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
special = jax.scipy.special
seen = []
for name, function, right in (("jnp.i0", jnp.i0, 0.5), ("special.i0", special.i0, 0.5), ("special.i1", special.i1, 0.0)):
    twice = jax.grad(jax.grad(function))
    found = float(twice(0.0)), float(jax.hessian(function)(0.0)), float(jax.jacfwd(jax.jacfwd(function))(0.0))
    near = float(twice(1e-8))
    print(f"{name}''(0): grad of grad, hessian, forwards {found}; at 1e-8 {near:.9f}; right {right}")
    assert abs(near - right) < 1e-7
    seen.append(round(found[0], 6))
if seen != [0.0, 1.5, 1.0]:
    raise SystemExit("the second derivatives are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
