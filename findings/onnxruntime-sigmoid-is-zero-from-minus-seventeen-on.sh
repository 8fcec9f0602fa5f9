#!/usr/bin/env bash
# ONNX Runtime's sigmoid of single-precision numbers has one digit at -16 and is 0 at -18, where it is 1.5e-8.
#
# One would expect: float32 goes down to 1e-38, so the sigmoid, which is exp(x) for negative x, has its seven digits down to -87,
# as Exp, Softplus and Softmax have in the same library.
# What happens: the function is a rational approximation with an absolute error of 3e-8, kept between 0 and 1. At -12 it is
# wrong by half a per cent, at -16 by a half, at -17 it is 0, at -17.2 it is 3e-8 again. Double precision is so from -36
# on. Swish, x times it, is -0 at -20 instead of -4e-8. A softmax of (0, x) has the same quotient with all digits.
#
# Seen with onnxruntime 1.32.0 on the CPU, onnx 1.23.2 and NumPy 2.4.6. The digits depend on the processor; what is asserted are
# errors from a third on.
#
# Why it matters: a model is exported from a library whose sigmoid has these digits. The logarithm of a probability
# is minus infinity from -17 on, and ranks of rare events, as of anomalies, of clicks, of pairs in retrieval, become ties.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.32.0

cat > "$folder/seen.py" <<'EOF'
import math

import numpy as np
import onnxruntime
from onnx import TensorProto, helper


def run(operator, x, **attributes):
    """One operator as a model."""
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    arrays = [helper.make_tensor_value_info(name, kind, None) for name in "xy"]
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"], **attributes)], "one", arrays[:1], arrays[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


places = np.array([-40, -30, -20, -18, -17, -16, -14, -12, -5, 0], np.float32)
right = np.array([1 / (1 + math.exp(-x)) for x in places.tolist()])
single, double = run("Sigmoid", places), run("Sigmoid", places.astype(np.float64))
pairs = run("Softmax", np.stack([np.zeros_like(places), places], axis=1), axis=1)[:, 1]
for x, *values in zip(places.tolist(), right, single, double, pairs):
    print(f"x = {x:g}: right {values[0]:.6e}, float32 {values[1]:.6e}, float64 {values[2]:.6e}, softmax {values[3]:.6e}")
if not np.allclose(pairs, right, rtol=1e-5, atol=0) or not np.allclose(single[-2:], right[-2:], rtol=1e-4):
    raise SystemExit("other numbers are wrong now")
if single[:4].any() or abs(single[5] / right[5] - 1) < 0.1 or double[0] != 0.0:
    raise SystemExit("the sigmoid has other digits now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
