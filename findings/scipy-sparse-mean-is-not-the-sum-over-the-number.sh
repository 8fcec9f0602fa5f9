#!/usr/bin/env bash
# The mean of the rows of a sparse float32 array is off by a percent, or by half, where the sum of the rows is right.
#
# One would expect: A.mean(axis=1) is A.sum(axis=1) / n, to rounding.
# What happens: for a CSR array the sum adds in pairs, and the mean multiplies by 1/n and adds one by one in float32: of
# a million times 0.1 the mean is 0.0991, of 2**25 ones it is 0.5. A.mean() of all elements is right.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: columns are centred with these means before a principal component analysis of counts or a regression;
# a feature that is the same in a million rows does not become 0.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import scipy.sparse

length = 10**6
rows = scipy.sparse.csr_array(np.full((2, length), 0.1, dtype=np.float32))
mean, total = rows.mean(axis=1), rows.sum(axis=1) / length
print("0.1 a million times: mean of rows", mean.tolist(), "sum of rows over their length", total.tolist())
print("mean of all elements:", float(rows.mean()), "dense mean of rows:", rows.toarray().mean(axis=1).tolist())
length = 2**25
places = np.arange(length, dtype=np.int32)
ones = scipy.sparse.csr_array((np.ones(length, dtype=np.float32), places, [0, length]), shape=(1, length))
half, one = float(ones.mean(axis=1)[0]), float(ones.sum(axis=1)[0] / length)
print("2**25 ones: mean of the row", half, "sum of the row over its length", one)
if abs(mean[0] - 0.1) < 1e-4 or abs(total[0] - 0.1) > 1e-6 or (half, one) != (0.5, 1.0):
    raise SystemExit("the mean is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
