#!/usr/bin/env bash
# JAX's Fresnel integral C(x) has the second derivative 0 at odd whole numbers, where it is as large as it gets.
#
# One would expect: C'(x) = cos(pi x**2 / 2), so C''(x) = -pi x sin(pi x**2 / 2): -3.14 at 1, -9.42 at 3, -15.7 at 5.
# What happens: C'' is 0 at 1, 3, 5 and 7, and right at 0.9, 1.1 and the square root of 3. C' is 0 there, as it should be,
# and the derivative of that zero is taken for zero too. S'' is right.
#
# Seen with JAX 0.10.2 in double precision, by grad of grad.
#
# Why it matters: a clothoid, the curve of roads and rails, is (C, S). Where its tangent is upright its curvature comes from
# C'' alone: C' S'' - S' C'' is 0 there by these derivatives, and pi x in truth.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile jax==0.10.2 numpy==2.4.6

cat > "$folder/seen.py" <<'EOF'
import math

import jax

jax.config.update("jax_enable_x64", True)
curvature = jax.grad(jax.grad(lambda x: jax.scipy.special.fresnel(x)[1]))
for x in (0.9, 1.0, 1.1, math.sqrt(3), 3.0, 5.0):
    found, exact = float(curvature(x)), -math.pi * x * math.sin(math.pi * x * x / 2)
    print(f"C''({x:.4g}) = {found:.6g}, exact {exact:.6g}")
    is_odd = x in (1.0, 3.0, 5.0)
    if not math.isclose(found, 0.0 if is_odd else exact, abs_tol=1e-9):
        raise SystemExit("the second derivative is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
