#!/usr/bin/env bash
# In MLX exp, sin and cos of float64 have seven digits, and expm1, tan and log have sixteen.
#
# One would expect: functions of an array of float64, which MLX has on the CPU and for the sake of its digits, have them.
# What happens: exp(1.0) is 2.7182817459106445, a number in single precision, in an array of float64, and exp(89.0), which
# is 4.5e38, is infinite. sin, cos, sigmoid, erf, erfinv, softmax and logaddexp are as coarse; tan(x) and sin(x) / cos(x)
# differ by 6e-8. log, tan, sinh, cosh, tanh, expm1, log1p, power, matrix products and sums have all digits. Gradients
# of log2 and log10, which have right values, are off by 1e-8 and 5e-8.
#
# Seen with MLX 0.32.4 on the CPU (Linux, the package mlx-cpu).
#
# Why it matters: nobody looks for the error in exp. Whoever goes to float64 to check a gradient by differences, or to
# settle whether an error is one of rounding, finds the same error again.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 scipy==1.17.1 mlx==0.32.4 mlx-cpu==0.32.4

cat > "$folder/seen.py" <<'EOF'
import mlx.core as mx
import numpy as np
import scipy.special

mx.set_default_device(mx.cpu)
x = np.linspace(0.1, 0.9, 33)
inputs = mx.array(x, dtype=mx.float64)
others = {"sigmoid": scipy.special.expit, "erf": scipy.special.erf, "erfinv": scipy.special.erfinv, "softmax": scipy.special.softmax}
errors = {}
names = "exp sin cos sigmoid erf erfinv softmax expm1 tan log log2 log1p sinh cosh tanh arcsin arctan sqrt"
for name in names.split():
    found = np.array(getattr(mx, name)(inputs))
    right = (others.get(name) or getattr(np, name))(x)
    errors[name] = float(np.max(np.abs(found / right - 1)))
    print(f"{name} of {found.dtype}: off by {errors[name]:.1e}")
large = mx.array([1.0, 88.0, 89.0, 700.0], dtype=mx.float64)
exponentials, less_one = np.array(mx.exp(large)), np.array(mx.expm1(large))
print("exp:", exponentials.tolist(), "\nexpm1:", less_one.tolist())
slope = float(np.array(mx.grad(lambda v: mx.log2(v).sum())(mx.array([1.0], dtype=mx.float64)))[0])
print(f"derivative of log2 at 1: {slope:.12f}, right {1 / np.log(2):.12f}")
coarse = [name for name, error in errors.items() if error > 1e-9]
if coarse != ["exp", "sin", "cos", "sigmoid", "erf", "erfinv", "softmax"]:
    raise SystemExit("other functions are coarse now")
if exponentials[0] != np.float32(exponentials[0]) or not np.isinf(exponentials[2:]).all() or not np.isfinite(less_one).all():
    raise SystemExit("exp has other values now")
if abs(slope * np.log(2) - 1) < 1e-10:
    raise SystemExit("log2 has its digits now")
EOF
cd "$folder" && "$folder/venv/bin/python" -W ignore seen.py
