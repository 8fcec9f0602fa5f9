#!/usr/bin/env bash
# In PaddlePaddle the gradient of silu is NaN at -100, that of swish, which is the same function, is right.
#
# One would expect: x / (1 + exp(-x)) is flat for negative x: silu(-100) is -4e-42, which is rounded to -0, and so is its
# derivative. torch.nn.functional.silu, swish and mish of PaddlePaddle have it so.
# What happens: backwards exp(-x) is formed, which overflows. In single precision the derivative of silu is minus
# infinity at -88 and NaN from -89 down, in double precision it is NaN from -710 down. celu does the same on the other
# side, where it is the straight line: its derivative is 1, and NaN from 89 or 710 on; those of elu and selu are right
# there.
#
# Seen with PaddlePaddle 3.3.1 on the CPU.
#
# Why it matters: silu is the activation of most networks of today. Values are right, so the loss is finite, and one
# element of -90 makes all gradients before it NaN.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 paddlepaddle==3.3.1

cat > "$folder/seen.py" <<'EOF'
import math

import numpy as np
import paddle
import paddle.nn.functional as F


def slopes(function, points, dtype):
    x = paddle.to_tensor(points, dtype=dtype, stop_gradient=False)
    y = function(x)
    y.sum().backward()
    return y.numpy().tolist(), x.grad.numpy().tolist()


points = [-800.0, -100.0, -88.0, -20.0, 20.0, 88.0, 100.0, 800.0]
seen = {}
for dtype in ("float32", "float64"):
    for function in (F.silu, F.swish, F.mish, F.celu, F.elu):
        values, found = slopes(function, points, dtype)
        seen[function.__name__, dtype] = found
        print(f"{function.__name__} of {dtype}:", [float(f"{slope:.3g}") for slope in found])
        if not np.isfinite(values).all():
            raise SystemExit("values are not finite now")
silu, celu = seen["silu", "float32"], seen["celu", "float32"]
if not (math.isnan(silu[0]) and math.isnan(silu[1]) and silu[2] == -math.inf and abs(silu[3]) < 1e-6):
    raise SystemExit("silu has other gradients now")
if not math.isnan(seen["silu", "float64"][0]) or abs(seen["silu", "float64"][1]) > 1e-30:
    raise SystemExit("silu has other gradients in double precision now")
if not (celu[5] == 1 and math.isnan(celu[6]) and math.isnan(celu[7]) and math.isnan(seen["celu", "float64"][7])):
    raise SystemExit("celu has other gradients now")
if not all(np.isfinite(seen[name, dtype]).all() for name in ("swish", "mish", "elu") for dtype in ("float32", "float64")):
    raise SystemExit("others have NaN now")
EOF
cd "$folder" && "$folder/venv/bin/python" -W ignore seen.py
