#!/usr/bin/env bash
# ONNX Runtime's ReduceMax of (1, NaN, 3) is 3, of (NaN, 1, 3) NaN, and ArgMax and Max have rules of their own.
#
# One would expect: a maximum of numbers with a NaN is NaN, as NumPy, PyTorch and onnx's own reference evaluator have it, or
# the NaN is left out; either way it does not depend on its place.
# What happens: a NaN counts only where the comparisons begin, at the first place (of float64 at the second one, too), and is
# passed over elsewhere. ReduceMin is so, too. Max and Min of two arrays, in the same model, are NaN wherever one is.
#
# Seen with onnxruntime 1.32.0 on the CPU, onnx 1.23.2 and NumPy 2.4.6, for float32 and float64 and the last axis.
#
# Why it matters: maxima are what a model is scaled by, and pooled by. Whether a missing value is noticed depends on
# the order of columns, and a model that was tested with the first column missing passes.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.32.0

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator


def run(operator, *arrays, kind=None, **attributes):
    """One operator as a model, by the runtime and by the reference."""
    names = [f"x{i}" for i in range(len(arrays))]
    kinds = [helper.np_dtype_to_tensor_dtype(a.dtype) for a in arrays]
    inputs = [helper.make_tensor_value_info(*pair, None) for pair in zip(names, kinds)]
    output = helper.make_tensor_value_info("y", kind or kinds[0], None)
    graph = helper.make_graph([helper.make_node(operator, names, ["y"], **attributes)], "one", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = dict(zip(names, arrays))
    return session.run(None, feed)[0].tolist(), np.asarray(ReferenceEvaluator(model).run(None, feed)[0]).tolist()


nan = float("nan")
seen = []
for dtype in (np.float32, np.float64):
    rows, axis = np.array([[nan, 1, 3], [1, nan, 3], [1, 3, nan]], dtype), np.array([1])
    for operator in ("ReduceMax", "ReduceMin"):
        found, reference = run(operator, rows, axis, keepdims=0)
        print(f"{operator} of rows {rows.tolist()}: {found}, by the reference {reference}")
        seen.append(np.isnan(found).tolist())
        if not np.isnan(reference).all():
            raise SystemExit("the reference is another one now")
    print("Max with (2, 2, 2):", run("Max", rows, np.full(3, 2, dtype))[0])
print("ArgMax:", run("ArgMax", rows, kind=TensorProto.INT64, axis=1, keepdims=0))
if not np.isnan(run("Max", rows, np.full(3, 2, dtype))[0])[np.isnan(rows)].all():
    raise SystemExit("Max of two arrays is another one now")
if any(not row[0] or row[2] for row in seen):
    raise SystemExit(f"NaN is seen in other places now: {seen}")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
