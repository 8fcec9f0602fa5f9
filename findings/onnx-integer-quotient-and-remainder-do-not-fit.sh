#!/usr/bin/env bash
# In ONNX, -7 divided by 3 is -2 with the remainder 2, and 3 to the 35th of integers ends with another digit.
#
# One would expect: quotient and remainder of integers belong together, q * b + r = a, as // and % in Python, / and % in C.
# What happens: Div of integers cuts off towards zero, as C does, and Mod has the sign of the divisor, as Python's, unless
# it is asked for C's with fmod=1. So -2 * 3 + 2 = -4. Both follow the standard, and onnx's reference evaluator agrees.
# Pow of int64 goes through double precision in ONNX Runtime: 3**35 is 50031545098999704 instead of ...707, which the
# reference has; products of the same integers are exact.
#
# Seen with onnxruntime 1.32.0, onnx 1.23.2 and NumPy 2.4.6.
#
# Why it matters: an index into a grid, a tile and a place in it, is a quotient and a remainder. A program that is written
# as // and % by hand, or translated operator by operator, is right for all positive coordinates, and takes the
# wrong tile left of the origin.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.32.0

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator


def run(operator, *arrays, **attributes):
    """One operator as a model, by the runtime and by the reference."""
    names = [f"x{i}" for i in range(len(arrays))]
    kind = helper.np_dtype_to_tensor_dtype(arrays[0].dtype)
    infos = [helper.make_tensor_value_info(name, kind, None) for name in (*names, "y")]
    graph = helper.make_graph([helper.make_node(operator, names, ["y"], **attributes)], "one", infos[:-1], infos[-1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = dict(zip(names, arrays))
    return session.run(None, feed)[0].tolist(), np.asarray(ReferenceEvaluator(model).run(None, feed)[0]).tolist()


a, b = np.array([-7, 7, -6, 5, 7]), np.array([3, -3, 4, -5, 3])
quotients, remainders = run("Div", a, b), run("Mod", a, b)
back = [q * n + r for q, n, r in zip(quotients[0], b.tolist(), remainders[0])]
print("dividends", a.tolist(), "divisors", b.tolist())
print("Div", quotients[0], "Mod", remainders[0], "together", back, "Mod with fmod=1", run("Mod", a, b, fmod=1)[0])
power, exact = run("Pow", np.array([3, 3]), np.array([35, 3]))
print("Pow of 3 and 35, 3 and 3:", power, "by the reference", exact)
product = run("Mul", np.array([3**17]), np.array([3**18]))[0]
print("Mul of 3**17 and 3**18:", product)
if quotients[0] != quotients[1] or remainders[0] != remainders[1]:
    raise SystemExit("runtime and reference differ now")
if back != [-4, 4, -2, 5, 7]:
    raise SystemExit("quotients and remainders are others now")
if power[0] == 3**35 or exact[0] != 3**35 or product != [3**35] or power[1] != 27:
    raise SystemExit("powers of integers are others now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
