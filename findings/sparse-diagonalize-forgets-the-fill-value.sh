#!/usr/bin/env bash
# sparse.diagonalize puts zeros on the diagonal for elements that are not stored, whatever their value is.
#
# One would expect: diagonalize is the inverse of diagonal, as its documentation says; an array of `sparse` whose
# fill_value is not 0 gets its own numbers back, or an error, as sparse.tril and sparse.dot raise for a fill value
# other than 0.
# What happens: only stored elements are put on the diagonal, and the result has the fill value 0. Of exp of
# (0, 1, 0), which is (1, 2.718, 1) with the fill value 1, the diagonal is (0, 2.718, 0).
#
# Seen with sparse 0.19.3 and NumPy 2.4.6.
#
# Why it matters: cos, exp and x + 1 of a sparse array have the fill value 1, and so weights and scalings are such
# arrays: exp(x) for a sparse x, made a diagonal matrix to multiply with, sets to 0 every row that it should leave as
# it is.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 sparse==0.19.3

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import sparse

weights = np.exp(sparse.COO.from_numpy(np.array([0.0, 1.0, 0.0])))
matrix = sparse.diagonalize(weights)
print("weights:", weights.todense().tolist(), "fill value", weights.fill_value)
print("diagonalize:", matrix.todense().tolist(), "fill value", matrix.fill_value)
back = sparse.diagonal(matrix).todense().tolist()
print("its diagonal:", back)
scaled = sparse.dot(matrix, sparse.COO.from_numpy(np.array([3.0, 3.0, 3.0]))).todense().tolist()
print("times (3, 3, 3):", scaled, "and right is", (3 * weights.todense()).tolist())
try:
    sparse.tril(weights[:, None])
    refused = False
except ValueError as error:
    refused = True
    print("tril of the same numbers raises:", error)
if back != [0.0, np.e, 0.0] or not refused:
    raise SystemExit("diagonalize is another one now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
