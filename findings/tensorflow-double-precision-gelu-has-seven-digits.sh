#!/usr/bin/env bash
# TensorFlow's GELU of double-precision numbers has seven digits, and so has its derivative.
#
# One would expect: tf.nn.gelu(x, approximate=False) of float64 is x times the normal distribution function to some sixteen
# digits, as tf.math.erf has them. The word "approximate" is about the formula with tanh.
# What happens: the error is 4.4e-7 at -5. The square root of 2 in the formula is a Python number that is made a tensor, of
# float32, before it is cast to float64, and the same happens to the constants of the other formula. In float32 nothing is
# lost.
#
# Seen with TensorFlow 2.21.0 on the CPU.
#
# Why it matters: one takes double precision to check gradients, to compare with another library, or to fit physics, and then
# this is the one layer whose values differ in the seventh digit; a test with a tolerance of 1e-9 fails for no reason
# that is found in one's own code.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 tensorflow-cpu==2.21.0

cat > "$folder/seen.py" <<'EOF'
import math

import tensorflow as tf

places = [-5.0, -2.0, -0.5, 0.5, 2.0]
x = tf.constant(places, tf.float64)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.nn.gelu(x, approximate=False)
slope = tape.gradient(y, x).numpy()
y, errors = y.numpy(), []
with_erf = (0.5 * x * tf.math.erfc(-x / math.sqrt(2.0))).numpy()
for i, place in enumerate(places):
    distribution, density = math.erfc(-place / math.sqrt(2.0)) / 2, math.exp(-place * place / 2) / math.sqrt(2 * math.pi)
    right, right_slope = place * distribution, distribution + place * density
    errors.append([float(abs(a / b - 1)) for a, b in ((y[i], right), (slope[i], right_slope), (with_erf[i], right))])
    print(f"x = {place}: {y[i]:.16g}, right {right:.16g}; slope {slope[i]:.16g}, right {right_slope:.16g}")
print("relative errors of values, slopes, and of the same formula with erfc:", errors)
tanh = tf.nn.gelu(x, approximate=True).numpy()
formula = [v / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))) for v in places]
print("the formula with tanh has the errors", [float(abs(a / b - 1)) for a, b in zip(tanh, formula)])
value, derivative, own = (max(column) for column in zip(*errors))
if value < 1e-8 or derivative < 1e-8 or own > 1e-13:
    raise SystemExit("GELU has other digits now")
EOF
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" -W ignore "$folder/seen.py"
