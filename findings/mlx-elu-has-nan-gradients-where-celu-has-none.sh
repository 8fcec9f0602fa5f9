#!/usr/bin/env bash
# In MLX the gradient of elu and selu is NaN from 89 on, where they are straight lines; that of celu is 1.
#
# One would expect: elu(x) and celu(x) with their default parameter are the same function, x for positive x, and have
# the same derivative, 1.
# What happens: elu is where(x > 0, x, exp(x) - 1). The exponential that is not taken overflows, and its derivative,
# infinity times 0, is NaN. selu is a multiple of elu. In float64 it is from 89 on as well. The values are right.
# Against that, celu, which is right for large numbers, has the slope 0 at 0, where it is 1 from both sides.
#
# Seen with MLX 0.32.4 on the CPU (Linux, the package mlx-cpu).
#
# Why it matters: selu is made for deep networks without normalisation, and is taken of sums over many inputs. One
# element above 89 in one sample makes the gradients of all weights NaN, and nothing in the loss shows it. And biases that
# start at 0 with inputs that are 0 do not learn through celu.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 mlx==0.32.4 mlx-cpu==0.32.4

cat > "$folder/seen.py" <<'EOF'
import mlx.core as mx
import mlx.nn as nn
import numpy as np

mx.set_default_device(mx.cpu)
points, seen = [-100.0, -1.0, 0.0, 1.0, 88.0, 89.0, 1000.0], {}
for dtype in (mx.float32, mx.float64):
    x = mx.array(points, dtype=dtype)
    for function in (nn.elu, nn.selu, nn.celu, nn.silu, nn.softplus):
        values = np.array(function(x))
        seen[function.__name__, dtype] = slopes = np.array(mx.grad(lambda v: function(v).sum())(x))
        print(f"{function.__name__} of {str(dtype).split('.')[-1]}: values {values.round(4).tolist()}, slopes {slopes.round(4).tolist()}")
        if not np.isfinite(values).all():
            raise SystemExit("values are not finite now")
with_nan = {name for (name, _), slopes in seen.items() if np.isnan(slopes).any()}
if with_nan != {"elu", "selu"} or not np.array_equal(np.isnan(seen["elu", mx.float32]), np.array(points) > 88):
    raise SystemExit("other functions or numbers have NaN gradients now")
if not np.array_equal(np.isnan(seen["selu", mx.float64]), np.array(points) > 88):
    raise SystemExit("double precision has other gradients now")
if seen["celu", mx.float32][2] != 0.0 or seen["elu", mx.float32][2] != 1.0:
    raise SystemExit("celu has another slope at 0 now")
EOF
cd "$folder" && "$folder/venv/bin/python" -W ignore seen.py
