#!/usr/bin/env bash
# The sparse tensor that pyarrow makes of an array stored by columns has its elements in other places.
#
# One would expect: SparseCOOTensor.from_dense_numpy(x) has x[i, j] at the coordinates (i, j), however x lies in memory.
# What happens: of an array in Fortran order the values are read in the order of memory, and the coordinates are counted
# up to the size of the other axis: (3, 0) is named in an array of two rows. Only square arrays come out right.
# SparseCSRMatrix, SparseCSCMatrix and SparseCSFTensor of the same array are right, and so is the COO tensor of a copy
# in C order.
#
# Seen with pyarrow 26.0.1, pandas 3.1.1 and NumPy 2.4.6.
#
# Why it matters: DataFrame.to_numpy() of columns of one dtype is such an array, and so is every transpose. With 3 rows
# and 2 columns no error is raised before somebody reads beyond the shape; statistics of the values alone look right.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 pandas==3.1.1 pyarrow==26.0.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import pandas as pd
import pyarrow as pa

frame = pd.DataFrame({"a": [1.0, 0.0, 3.0], "b": [0.0, 5.0, 0.0]})
x = frame.to_numpy()
wrong = pa.SparseCOOTensor.from_dense_numpy(x).to_numpy()[1].tolist()
right = pa.SparseCOOTensor.from_dense_numpy(np.ascontiguousarray(x)).to_numpy()[1].tolist()
rows = pa.SparseCSRMatrix.from_dense_numpy(x).to_tensor().to_numpy()
print("shape", x.shape, "in Fortran order:", x.flags.f_contiguous)
print("coordinates of the elements that are not 0:", np.argwhere(x).tolist())
print("in the COO tensor:", wrong)
print("in the COO tensor of a copy:", right)
print("the CSR matrix is right:", np.array_equal(rows, x))
if wrong != [[0, 0], [0, 1], [0, 2]] or sorted(right) != np.argwhere(x).tolist() or not np.array_equal(rows, x):
    raise SystemExit("the coordinates are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
