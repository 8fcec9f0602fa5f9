#!/usr/bin/env bash
# A sparse array of float32 divided by a Python number is one of float64.
#
# One would expect: with NumPy 2, a Python number has no precision of its own: float32 / 2.0 stays float32, and so does a sparse
# array times 2.0.
# What happens: `A * 2.0` keeps float32, `A / 2.0` has twice the memory and other bits than `A * 0.5`.
#
# Seen with SciPy 1.17.1, NumPy 2.4.6.
#
# Why it matters: normalising the rows of a large matrix in single precision doubles it without a word, and all that is computed
# with the result is in double precision.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import scipy.sparse

dense = np.eye(2, dtype="f4")
sparse = scipy.sparse.csr_array(dense)
seen = [(dense / 2.0).dtype, (sparse * 2.0).dtype, (sparse / 2.0).dtype]
print("dense / 2.0:", seen[0])
print("sparse * 2.0:", seen[1])
print("sparse / 2.0:", seen[2])
if [dtype.name for dtype in seen] != ["float32", "float32", "float64"]:
    raise SystemExit("a number has no precision of its own")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
