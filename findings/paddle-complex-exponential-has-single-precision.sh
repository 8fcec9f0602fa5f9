#!/usr/bin/env bash
# PaddlePaddle's exponential of a complex128 is rounded to complex64, and infinite from 89 on.
#
# One would expect: exp of a number in double precision has its digits, as sin, cosh, expm1 and log have.
# What happens: exp(1 + 0j) is 2.7182817459106445, the nearest number in single precision, in an array of complex128.
# exp(89 + 0j), which is 4.5e38, is inf + nan j. Each digit beyond the seventh is lost, so that differences over steps
# of 1e-6 are off by percents. The sigmoid function of complex numbers is as coarse. expm1 of the same
# numbers, which PaddlePaddle has as well, is right to 16 digits and finite.
#
# Seen with PaddlePaddle 3.3.1 on the CPU.
#
# Why it matters: exp(1j * phase) is in every transform, propagator and filter that is written by hand. The type says
# double, and an iteration, a long product of phases or a check of a gradient has seven digits.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 paddlepaddle==3.3.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import paddle


def error(function, name, z):
    found = function(paddle.to_tensor(z)).numpy()
    right = getattr(np, name)(z)
    return found.dtype, float(np.max(np.abs(found / right - 1)))


rng = np.random.default_rng(0)
z = rng.normal(size=1000) + 1j * rng.normal(size=1000)
errors = {}
for name in ("exp", "expm1", "log", "sin", "cos", "sinh", "tanh", "sqrt"):
    dtype, errors[name] = error(getattr(paddle, name), name, z)
    print(f"{name} of complex128 is {dtype} and off by {errors[name]:.1e}")
found = paddle.exp(paddle.to_tensor(np.array([1.0, 1.0j, 89.0 + 0j, 100j]))).numpy()
print("exp of 1, 1j, 89 and 100j:", found.tolist())
print("in single precision these are:", found.astype(np.complex64).tolist())
real = paddle.exp(paddle.to_tensor(np.array([1.0, 89.0]))).numpy()
print("exp of real numbers, 1 and 89:", real.tolist())
print("expm1 of 89:", paddle.expm1(paddle.to_tensor(np.array([89.0 + 0j]))).numpy().tolist())
if errors["exp"] < 1e-9 or max(error for name, error in errors.items() if name != "exp") > 1e-13:
    raise SystemExit("functions have other digits now")
if not np.array_equal(found[:2], found[:2].astype(np.complex64)) or not np.isinf(found[2].real) or not np.isfinite(real).all():
    raise SystemExit("exp has other values now")
EOF
cd "$folder" && "$folder/venv/bin/python" -W ignore seen.py
