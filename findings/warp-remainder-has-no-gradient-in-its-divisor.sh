#!/usr/bin/env bash
# Warp's derivative of a % b in b is 0 everywhere.
#
# One would expect: a % b is a - b trunc(a / b), so its derivative in b is -trunc(a / b). The reference marks functions
# without derivatives as not differentiable; the remainder of numbers is not marked, and its derivative in a is right.
# What happens: of 7.3 % 2 the derivative in 2 is 0 instead of -3; with wp.mod it is the same, in single and in double
# precision. a - b * wp.trunc(a / b), written out, has the right one. (wp.frac(a), whose description says that it is
# equivalent to a - trunc(a), has the derivative 0 in a as well, but it is marked.)
#
# Seen with Warp 1.19.0 on the CPU. The first run takes a minute, as kernels are compiled.
#
# Why it matters: the divisor is a period: of a lattice, a box with periodic walls, an orbit. Fitted or optimised
# by its gradient, the period does not move, or takes only what comes from elsewhere.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 warp-lang==1.19.0

cat > "$folder/seen.py" <<'EOF'
import sys

import numpy as np
import warp as wp

wp.config.quiet = True
wp.config.kernel_cache_dir = sys.argv[1]


@wp.kernel
def by_operator(a: wp.array(dtype=wp.float64), b: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = a[i] % b[i]


@wp.kernel
def by_name(a: wp.array(dtype=wp.float64), b: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = wp.mod(a[i], b[i])


@wp.kernel
def written_out(a: wp.array(dtype=wp.float64), b: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = a[i] - b[i] * wp.trunc(a[i] / b[i])


def run(kernel, divisors):
    """The remainders of 7.3 and -7.3, and their derivatives in both operands."""
    a = wp.array([7.3, -7.3], dtype=wp.float64, requires_grad=True, device="cpu")
    b = wp.array(divisors, dtype=wp.float64, requires_grad=True, device="cpu")
    y = wp.zeros(2, dtype=wp.float64, requires_grad=True, device="cpu")
    with wp.Tape() as tape:
        wp.launch(kernel, dim=2, inputs=[a, b], outputs=[y], device="cpu")
    tape.backward(grads={y: wp.ones_like(y)})
    return y.numpy(), a.grad.numpy(), b.grad.numpy()


divisors, step, seen = np.array([2.0, 2.0]), 1e-6, {}
for kernel in (by_operator, by_name, written_out):
    values, in_a, in_b = run(kernel, divisors)
    differences = (run(kernel, divisors + step)[0] - run(kernel, divisors - step)[0]) / (2 * step)
    seen[kernel.key] = np.allclose(in_a, 1.0), np.allclose(in_b, differences)
    print(f"{kernel.key}: {values.round(6)}, in a {in_a}, in b {in_b}, by differences {differences.round(6)}")
if seen != {"by_operator": (True, False), "by_name": (True, False), "written_out": (True, True)}:
    raise SystemExit("the remainder has other derivatives now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py "$folder/kernels"
