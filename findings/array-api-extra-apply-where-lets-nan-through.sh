#!/usr/bin/env bash
# array_api_extra.apply_where, which calls a function only where a condition holds, has a NaN in its gradient with JAX.
#
# One would expect: apply_where(x > 0, x, log, fill_value=0.0) evaluates the logarithm for positive elements alone; its
# documentation sets it apart from xp.where in just this. So the gradient is 1/x there and 0 elsewhere, and no NaN of
# log(0) comes in.
# What happens: for arrays of JAX, in eager code as well as under jit, it is xp.where with all elements. The value is
# right; the gradient of an element for which the condition is false is NaN, 0 times infinity. An index written out in
# eager JAX has the right one.
#
# Seen with array-api-extra 0.11.5, array-api-compat 1.16.0 and JAX 0.10.2.
#
# Why it matters: SciPy's array-API functions call apply_where. Code that was written with it to keep undefined values
# out is differentiable with NumPy-like libraries that index, and gives NaN for one element at 0 with JAX.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile jax==0.10.2 numpy==2.4.6 array-api-extra==0.11.5 array-api-compat==1.16.0

cat > "$folder/seen.py" <<'EOF'
import array_api_extra as xpx
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
x = jnp.array([0.0, 2.0])


def chosen(x):
    return xpx.apply_where(x > 0, x, jnp.log, fill_value=0.0).sum()


def indexed(x):
    positive = x > 0
    return jnp.zeros_like(x).at[positive].set(jnp.log(x[positive])).sum()


print("values:", float(chosen(x)), float(indexed(x)))
first, second = jax.grad(chosen)(x).tolist(), jax.grad(indexed)(x).tolist()
print("gradient of apply_where:", first)
print("gradient with the elements taken by an index:", second)
if first[0] == first[0] or first[1] != 0.5 or second != [0.0, 0.5] or float(chosen(x)) != float(indexed(x)):
    raise SystemExit("the gradient is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
