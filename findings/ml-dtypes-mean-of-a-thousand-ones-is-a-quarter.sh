#!/usr/bin/env bash
# The mean of a thousand ones in bfloat16 is 0.256, and ten ones in int4 add up to -6.
#
# One would expect: np.mean of float16 adds in float32, and np.sum of int8 in int64: NumPy does not let small dtypes
# overflow in a reduction.
# What happens: the dtypes of ml_dtypes are no part of that. A bfloat16 sum stops at 256, where adding 1 changes nothing
# any more; float8 stops at 16. Integers of 4 bits wrap. np.dot of bfloat16 is right, since it accumulates in float32,
# and so is sum(dtype="f4").
#
# Seen with ml_dtypes 0.6.0 and NumPy 2.4.6.
#
# Why it matters: np.asarray of a JAX array in bfloat16 has this dtype. A mean loss, an accuracy as the mean of ones and
# zeros, or a count comes out up to several times too small, and plausible.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 ml_dtypes==0.6.0

cat > "$folder/seen.py" <<'EOF'
import ml_dtypes
import numpy as np

ones = np.ones(1000, dtype=ml_dtypes.bfloat16)
seen = {
    "sum of 1000 ones in bfloat16": float(ones.sum()),
    "mean of them": float(ones.mean()),
    "their product with themselves": float(ones @ ones),
    "their sum in float32": float(ones.sum(dtype=np.float32)),
    "mean of 1000 ones in float16": float(np.ones(1000, dtype=np.float16).mean()),
    "sum of 1000 ones in float8_e4m3fn": float(np.ones(1000, dtype=ml_dtypes.float8_e4m3fn).sum()),
    "sum of 10 ones in int4": int(np.ones(10, dtype=ml_dtypes.int4).sum()),
}
for name, value in seen.items():
    print(f"{name}: {value}")
expected = [256.0, 0.255859375, 1000.0, 1000.0, 1.0, 16.0, -6]
if list(seen.values()) != expected:
    raise SystemExit("reductions are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
