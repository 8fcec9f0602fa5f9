#!/usr/bin/env bash
# In JAX the third derivative of x**2.0 at 0 is NaN, that of x**2 is 0, and the second one of x**1.0 is NaN.
#
# One would expect: x**2.0 is x**2: the same values, and the same derivatives, 2x, 2, 0 and 0, at 0 as elsewhere.
# What happens: the rule of x**p is p * x**(p - 1), for any p that is not written as an integer. With p whole, the
# exponent arrives at 0 after p derivatives, and the next one multiplies 0 by x**(-1): 0 times infinity at x = 0. So
# derivative p + 1 and all beyond are NaN, forwards and backwards; the exponents 1.0, 2.0 and 3.0 do the same one
# after the other, and so does an exponent in an array.
#
# Seen with JAX 0.10.2.
#
# Why it matters: exponents come as floats from configurations, from arrays and from arithmetic as 4 / 2. A Hessian
# with a column x**1.0 of a table of monomials is NaN as soon as one number of the data is 0; a Taylor expansion of a
# polynomial at 0, where one expands, has no coefficients.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile jax==0.10.2 numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import math

import jax
import jax.numpy as jnp


def derivatives(function, differentiate, x):
    found = []
    for _ in range(4):
        function = differentiate(function)
        found.append(float(function(x)))
    return found


seen = {}
for exponent in (1, 1.0, 2, 2.0, 3, 3.0):
    for differentiate in (jax.grad, jax.jacfwd):
        seen[repr(exponent), differentiate] = derivatives(lambda x, p=exponent: x**p, differentiate, 0.0)
    print(f"x**{exponent!r} at 0: derivatives {seen[repr(exponent), jax.grad]}")
print("x**2.0 at 0.5:", derivatives(lambda x: x**2.0, jax.grad, 0.5))
hessian = jax.hessian(lambda x: jnp.sum(x ** jnp.array([1.0, 2.0])))(jnp.array([0.0, 0.0]))
print("the Hessian of x**1.0 + y**2.0 at 0, the exponents in an array:", hessian.tolist())
for order, exponent in ((1, "1.0"), (2, "2.0"), (3, "3.0")):
    for differentiate in (jax.grad, jax.jacfwd):
        with_point, without = seen[exponent, differentiate], seen[exponent[0], differentiate]
        if with_point[:order] != without[:order] or not all(map(math.isnan, with_point[order:])) or any(without[order:]):
            raise SystemExit("powers have other derivatives at 0 now")
if not math.isnan(hessian[0, 0]) or hessian[1, 1] != 2:
    raise SystemExit("the Hessian is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
